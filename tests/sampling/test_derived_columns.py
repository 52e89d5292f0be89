"""Derived columns of samples are exact, and cost nothing."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.sampling.derived_columns import with_derived
from pointillist.schema import Derived, Ignore, Integer, Schema

SCHEMA = Schema(
    name="s",
    columns={
        "hour": Derived(derived="t // 100", decimals=0),
        "t": Integer(min=0, max=2359, clock=True, missing=False),
        "skip": Ignore(),
    },
)


def test_columns_come_in_the_schemas_order() -> None:
    assert with_derived(pa.table({"t": [1359]}), SCHEMA).to_pylist() == [{"hour": 13, "t": 1359}]


@pytest.mark.filterwarnings("ignore::pointillist.FactsFromDataWarning")
def test_a_release_does_not_measure_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    times = 100 * rng.integers(0, 24, 500) + rng.integers(0, 60, 500)
    made = pt.release(pa.table({"t": times, "hour": times // 100}), SCHEMA, epsilon=3, ledger=tmp_path / "l.sqlite")
    rows = pt.fit(made).sample(200, seed=0, frame="pyarrow")
    assert rows.column_names == ["hour", "t"]
    found = rows["t"].to_numpy()
    assert (rows["hour"].to_numpy() == found // 100).all()
    assert (found % 100 < 60).all()
