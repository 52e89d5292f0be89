"""Undersampling as the papers do it."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pointillist.errors import SchemaError, UsageError
from pointillist.evaluate.research.undersampling import RATES, TRAIN_SHARES, undersample


def table(many: int = 1_000, few: int = 50) -> pa.Table:
    return pa.table({"x": np.arange(many + few), "kind": ["no"] * many + ["yes"] * few})


def test_only_the_largest_class_is_thinned() -> None:
    found = undersample(table(), "kind", 0.4)
    kinds = found["kind"].to_pylist()
    assert (kinds.count("no"), kinds.count("yes")) == (400, 50)
    assert found["x"].to_pylist() == sorted(found["x"].to_pylist())
    assert undersample(table(), "kind", 0.4, seed=1)["x"].to_pylist() != found["x"].to_pylist()


def test_rates_go_by_the_papers_names() -> None:
    assert RATES.keys() == TRAIN_SHARES.keys()
    assert undersample(table(), "kind", "credit")["kind"].to_pylist().count("no") == 5
    assert undersample(table(), "kind", "isolet").num_rows == 1_050


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_come_back_in_kind(kind: type) -> None:
    found = undersample(kind(table().to_pydict()), "kind", 0.1)
    assert isinstance(found, kind)
    assert len(found) == 150


def test_mistakes_are_named() -> None:
    with pytest.raises(UsageError, match="not a data set of the papers"):
        undersample(table(), "kind", "iris")
    for rate in (0.0, 1.5):
        with pytest.raises(UsageError, match="rate must lie"):
            undersample(table(), "kind", rate)
    with pytest.raises(SchemaError, match="target 'sort' is not a column"):
        undersample(table(), "sort", 0.5)
    with pytest.raises(UsageError, match="takes a pandas, polars or pyarrow table"):
        undersample([1, 2], "kind", 0.5)
