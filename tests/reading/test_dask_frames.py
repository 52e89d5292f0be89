"""Dask frames as sources: their rows as those of pandas, here and without a cluster."""

from typing import Any

import numpy as np
import pytest
from tests.fixtures.passes import SCHEMA, passes, table

import pointillist as pt
from pointillist.errors import DataError
from pointillist.reading.dask_frames import DaskFrame, translated
from pointillist.reading.opening import open_source

dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")


@pytest.fixture
def frame() -> Any:
    return dd.from_pandas(table(50).to_pandas(), npartitions=3)


def test_its_rows_can_be_read_here_too(frame: Any) -> None:
    source = open_source(frame)
    assert isinstance(source, DaskFrame)
    assert (source.engine, source.frame, source.whole) == ("dask", "pandas", False)
    assert source.column_names() == table(1).column_names
    assert set(source.types()) == set(table(1).column_names)
    told: list[float] = []
    batches = list(source.batches(["age"], SCHEMA, told.append))
    assert np.concatenate([batch["age"].to_numpy() for batch in batches]).tolist() == table(50)["age"].to_pylist()
    assert told[-1] == 1.0
    (each, *_) = passes("hermite", SCHEMA, table(50))
    assert each.agrees(frame, "local")
    assert each.agrees(frame)  # on Dask's own threads


def test_a_draft_can_be_made_of_it(frame: Any) -> None:
    assert set(pt.draft(frame, name="t").columns) == set(table(1).column_names)


def test_a_column_that_is_not_there(frame: Any) -> None:
    with pytest.raises(DataError, match="the Dask frame: column 'age' of the schema is not in the table"):
        pt.release(frame.drop(columns=["age"]), SCHEMA, epsilon=1)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModuleNotFoundError("No module named 'pointillist'"), "Install pointillist"),
        (RuntimeError("Error during deserialization of the task graph"), "Install pointillist"),
        (type("KilledWorker", (Exception,), {})("SECRETVALUE"), "too many Dask workers died"),
        (KeyError("SECRETVALUE"), r"\(KeyError\)"),
    ],
)
def test_what_dask_says_is_said_in_our_words(error: Exception, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught, translated("t"):
        raise error
    assert "SECRETVALUE" not in str(caught.value)
