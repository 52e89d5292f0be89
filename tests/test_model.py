"""A model: what it says of itself, which frames it fills, what it refuses; all of it after a file, too."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.model import MOST_ROWS


@pytest.fixture
def model(schema: pt.Schema, random_model: Callable[..., pt.Model]) -> pt.Model:
    return random_model(schema, rows=40.4)


def test_what_it_says_of_itself(model: pt.Model) -> None:
    assert repr(model) == "<Model of 'people': 6 columns, ε = 1>"
    assert model.default_count == 40
    assert len(model.sample(seed=1)) == 40
    assert model.summary()["kind"] == "model"


@pytest.mark.parametrize(("frame", "kind"), [("pyarrow", pa.Table), ("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_every_kind_of_frame_holds_the_same_rows(model: pt.Model, frame: str, kind: type) -> None:
    found = model.sample(30, seed=3, frame=frame)
    assert isinstance(found, kind)
    table = found if frame == "pyarrow" else found.to_arrow() if frame == "polars" else pa.Table.from_pandas(found)
    assert table["age"].to_pylist() == model.sample_table(30, seed=3)["age"].to_pylist()


def test_types_of_a_pandas_frame_do_not_depend_on_missing_values(model: pt.Model) -> None:
    few, many = model.sample(1, seed=0, frame="pandas"), model.sample(500, seed=0, frame="pandas")
    assert dict(few.dtypes) == dict(many.dtypes)
    assert str(many["member"].dtype) == "boolean"


def test_a_file_gives_the_same_rows(model: pt.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "people.model")
    again = pt.Model.load(tmp_path / "people.model")
    assert again.to_bytes() == model.to_bytes()
    assert again.sample(20, seed=5).equals(model.sample(20, seed=5))


def test_more_constraints_make_another_model(model: pt.Model) -> None:
    strict = model.constrained({"impossible": {"sex": "male", "grade": "high"}})
    assert len(strict.schema.constraints) == 1
    assert model.schema.constraints == ()
    rows = strict.sample(300, seed=1).to_pylist()
    assert not [row for row in rows if row["sex"] == "male" and row["grade"] == "high"]


def test_what_makes_no_sense_is_refused(model: pt.Model, tmp_path: Path) -> None:
    for words, options in (
        ("must not be negative", {"count": -1}),
        ("too many at a time", {"count": MOST_ROWS + 1}),
        ("frame 'excel' is not known", {"count": 1, "frame": "excel"}),
        ("balance: 'height' is not a column", {"count": 1, "balance": "height"}),
    ):
        with pytest.raises(UsageError, match=words):
            model.sample(**options)
    (tmp_path / "no.model").write_bytes(model.to_bytes()[:100])
    with pytest.raises(ArtefactError):
        pt.Model.load(tmp_path / "no.model")
