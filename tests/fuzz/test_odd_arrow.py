"""Arrow as it comes from elsewhere: damaged buffers and types that no column kind can hold."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from benchmarks.fuzz.odd_columns import odd_columns
from benchmarks.fuzz.reading import read

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError
from pointillist.schema import Column

KINDS = {
    "categorical": pt.Categorical(categories=("a", "b")),
    "numbered": pt.Categorical(categories=(1, 2)),
    "ordinal": pt.Ordinal(categories=("a", "b")),
    "boolean": pt.Boolean(),
    "integer": pt.Integer(min=0, max=9),
    "real": pt.Real(min=1, max=9, scale="log"),
    "day": pt.Datetime(min="1970-01-01", max="2030-01-01"),
    "second": pt.Datetime(min="1970-01-01", max="2030-01-01", resolution="second"),
    "image": pt.Image(height=2, width=2, colour=False),
}


def encode(table: object, column: Column) -> int:
    """Read column x as a release would; how many rows there were."""
    return read(table, pt.Schema(name="t", columns={"x": column}))


def written(table: pa.Table, path: Path) -> Path | None:
    """The table as a file, unless the format has no such type."""
    try:
        if path.suffix == ".parquet":
            pq.write_table(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
    except (pa.ArrowException, NotImplementedError, OSError):
        return None
    return path


@pytest.mark.parametrize("form", ["frame", "arrow", "parquet"])
def test_every_type_is_read_or_refused_for_every_kind(form: str, tmp_path: Path) -> None:
    read, refusals = 0, []
    for name, array in odd_columns().items():
        table = pa.table({"x": array})
        given = table if form == "frame" else written(table, tmp_path / f"{name}.{form}")
        if given is None:
            continue
        for kind, column in KINDS.items():
            try:
                assert encode(given, column) == 4, (name, kind)
                read += 1
            except DataError as error:
                refusals.append(str(error))
    assert read > 60
    assert len(refusals) > 200
    unnamed = [each for each in refusals if "column 'x'" not in each]
    assert all(
        "dictionary of codes.arrow: cannot be read" in each for each in unnamed
    )  # no file of Arrow's own has any


UNKNOWN = ("decimal256", "decimal of hundreds", "float16", "dictionary of codes", "dense union")
"""To DuckDB."""


def test_every_type_is_drafted_or_refused() -> None:
    known = {name: array for name, array in odd_columns().items() if name not in UNKNOWN}
    assert list(draft(pa.table(known), name="t").columns) == list(known)
    for name in UNKNOWN:
        with pytest.raises(DataError):
            draft(pa.table({"x": odd_columns()[name], "y": [1, 2, 3, 4]}), name="t")


def test_a_list_in_a_categorical_column_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"x": [["a"], ["b"]]}), path)
    with pytest.raises(DataError, match=r"column 'x' is stored as lists, and categorical columns need texts"):
        encode(path, KINDS["categorical"])


def test_runs_are_read_as_the_values_that_they_stand_for() -> None:
    assert encode(pa.table({"x": odd_columns()["runs of texts"]}), KINDS["categorical"]) == 4


def test_a_type_that_sql_does_not_know_is_named() -> None:
    with pytest.raises(DataError, match=r"column 'x' is of a type that SQL does not know \(decimal256"):
        draft(pa.table({"x": odd_columns()["decimal256"], "y": [1, 2, 3, 4]}), name="t")


def damaged(folder: Path) -> Path:
    """An Arrow file in which one bit of an offset is flipped, so that a text begins far outside of its buffer."""
    texts = pa.array(["north", "south", "east", "west"] * 50)
    offsets = texts.buffers()[1].to_pybytes()
    with pa.ipc.new_file(folder / "t.arrow", pa.schema([("x", pa.string()), ("n", pa.int64())])) as writer:
        writer.write_table(pa.table({"x": texts, "n": np.arange(200)}))
    content = bytearray((folder / "t.arrow").read_bytes())
    place = bytes(content).index(offsets)
    content[place + 4 * 100 + 3] ^= 0x40
    (folder / "t.arrow").write_bytes(content)
    return folder / "t.arrow"


def test_one_flipped_bit_is_a_data_error(tmp_path: Path) -> None:
    path = damaged(tmp_path)
    code = f"""
import sys, pointillist as pt
from pathlib import Path
from pointillist.errors import DataError
from pointillist.curator.table_drafting import draft
from pointillist.reading.opening import open_source
column = pt.Categorical(categories=("north", "south"))
schema = pt.Schema(name="t", columns={{"x": column}})
for read in (
    lambda: draft(Path({str(path)!r}), name="t"),
    lambda: list(open_source({str(path)!r}).batches(["x"], schema, lambda fraction: None)),
    lambda: list(pt.sql("SELECT x FROM source", {str(path)!r}).batches(["x"], schema, lambda fraction: None)),
):
    try:
        read()
    except DataError:
        continue
    sys.exit(1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)  # it may crash
    assert done.returncode == 0, done.stderr[-500:]
