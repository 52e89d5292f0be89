"""The fit of mosaic's tables to a mixture."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.methods.mosaic_fit import fitted_mixture
from pointillist.progress import silent
from pointillist.schema.levels import levels_of


def test_ends_that_noise_explains_are_cut_only_where_that_is_asked_for(tmp_path: Path) -> None:
    schema = pt.Schema(name="s", columns={"n": pt.Integer(min=0, max=99, missing=False)})
    table = pa.table({"n": np.arange(3000) % 20})
    release = pt.release(table, schema, epsilon=0.05, ledger=tmp_path / "l.db")
    above = {}
    for ends in (False, True):
        rows, mixture = fitted_mixture(release, levels_of(schema), pt.Mosaic(), seed=0, progress=silent, ends=ends)
        assert rows == pytest.approx(3000, rel=0.5)
        levels = (mixture.weights @ mixture.tables["n"])[mixture.tiles["n"].table] * mixture.within["n"]
        above[ends] = float(levels[40:].sum())
    assert above[True] <= above[False]
