"""All rows of a table at once: what every reader of a whole table gets."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError
from pointillist.reading.rows import read_records

SCHEMA = pt.Schema(
    name="t",
    columns={
        "town": pt.Categorical(categories=("Ay", "Bee"), missing=False),
        "age": pt.Integer(min=0, max=99, missing=False),
        "name": pt.Ignore(),
    },
)
TABLE = pa.table({"age": [0, 50, 99], "town": ["Bee", "Ay", "Bee"], "name": ["x", "y", "z"]})


def test_levels_of_every_measured_column_and_positions_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,town,name\n0,Bee,x\n50,Ay,y\n99,Bee,z\n")
    for table in (TABLE, path, str(path), pt.csv(path)):
        records = read_records(table, SCHEMA)
        assert records.rows == 3
        assert list(records.codes) == ["town", "age"]
        assert records.codes["town"].tolist() == [1, 0, 1]
        assert list(records.units) == ["age"]
        assert records.units["age"][0] < records.units["age"][1] < records.units["age"][2]
        assert not records.images


def test_images_come_with_their_labels() -> None:
    schema = pt.Schema(
        name="faces",
        columns={
            "image": pt.Image(height=2, width=2, colour=False),
            "label": pt.Categorical(categories=("a", "b"), missing=False, out_of_domain="error"),
        },
    )
    pixels = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    records = read_records(pt.images(pixels, ["b", "a", "b"]), schema)
    assert np.array_equal(records.images["image"], pixels[..., None])
    assert records.codes["label"].tolist() == [1, 0, 1]
    none = read_records(pt.images(pixels[:0], np.array([], dtype=str)), schema)
    assert none.rows == 0
    assert none.images["image"].shape == (0, 2, 2, 1)


def test_a_table_without_rows_has_the_same_form(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("age,town\n")
    records = read_records(path, SCHEMA)
    assert records.rows == 0
    assert {name: codes.dtype for name, codes in records.codes.items()} == {"town": np.uint16, "age": np.uint16}
    assert records.units["age"].dtype == np.float64


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(DataError, match="column 'town' of the schema is not in the table"):
        read_records(TABLE.drop_columns(["town"]), SCHEMA)


def test_the_stream_is_reported() -> None:
    told: list[float] = []
    read_records(TABLE, SCHEMA, report=told.append)
    assert told[-1] == 1.0


def test_every_batch_is_shown_as_it_came_and_as_it_was_read() -> None:
    shown: list[tuple[list[int], list[int]]] = []
    read_records(
        pa.table({"age": [0, 500], "town": ["Bee", "Ay"], "name": ["x", "y"]}),
        SCHEMA,
        watch=lambda batch, records: shown.append((batch["age"].to_pylist(), records.codes["age"].tolist())),
    )
    assert shown == [([0, 500], [0, 99])]
