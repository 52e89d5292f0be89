"""Synthetic dates, times and numbers leave as the private ones came: from draft to file."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from pyarrow import parquet

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.files.table_output import write_table

TIMES = [dt.datetime(2020, 1, 1, 0, 0, 5) + dt.timedelta(hours=7 * n, seconds=n) for n in range(400)]
TEXTS = {
    "%Y-%m-%d": r"\d{4}-\d\d-\d\d",
    "%Y-%m-%d %H:%M": r"\d{4}-\d\d-\d\d \d\d:\d\d",
    "%Y-%m-%d %H:%M:%S": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d",
    "%Y-%m-%dT%H:%M:%S": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d",
    "%Y-%m-%dT%H:%M:%S.123+01:00": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+00:00",
    "%Y-%m-%d %H:%M:%S+00": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+00",
    "%Y-%m-%dT%H:%M:%SZ": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "%d.%m.%Y": r"\d\d\.\d\d\.2020",
    "%d.%m.%Y %H:%M": r"\d\d\.\d\d\.2020 \d\d:\d\d",
    "%-m/%-d/%Y %-I:%M %p": r"[1-9]\d?/[1-9]\d?/2020 [1-9]\d?:\d\d [AP]M",
}


def model_of(table: Any, folder: Path) -> pt.Model:
    """A model of a drafted schema."""
    schema = draft(table, name="t").model_copy(update={"reviewed": True})
    assert pt.Schema.parse(schema.to_json()) == schema
    with pytest.warns(pt.FactsFromDataWarning):
        return pt.fit(pt.release(table, schema, epsilon=10.0, delta=1e-5, ledger=folder / "ledger"))


def test_a_csv_file_keeps_its_formats(tmp_path: Path) -> None:
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    columns = {form: [time.strftime(form) for time in TIMES] for form in TEXTS}
    pacsv.write_csv(pa.table({f"c{n}": texts for n, texts in enumerate(columns.values())}), path)
    model = model_of(path, tmp_path)
    write_table(model.sample_table(50, seed=1), out, model.schema)
    written = pacsv.read_csv(
        out, convert_options=pacsv.ConvertOptions(column_types={f"c{n}": pa.string() for n in range(len(TEXTS))})
    )
    for number, (form, pattern) in enumerate(TEXTS.items()):
        for text in written.column(number).to_pylist():
            assert re.fullmatch(pattern, text), (form, text)
    again = draft(out, name="t").columns
    assert [column.format for column in again.values()] == [column.format for column in model.schema.columns.values()]


STORED = [
    pa.date32(), pa.date64(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"),
    pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Paris"), pa.timestamp("ms", "+02:00"),
]  # fmt: skip


def test_arrow_types_are_kept(tmp_path: Path) -> None:
    times = pa.array(TIMES, pa.timestamp("s"))
    dates = {str(kind): times.cast(pa.date32()).cast(kind) for kind in STORED[:2]}
    moments = {str(kind): times.cast(pa.timestamp(kind.unit)).cast(pa.int64()).cast(kind) for kind in STORED[2:]}
    table, path = pa.table(dates | moments), tmp_path / "t.parquet"
    model = model_of(table, tmp_path)
    made = model.sample_table(50, seed=1)
    assert made.schema.types == table.schema.types
    for name in made.column_names:
        assert {time.year for time in made[name].to_pylist()} == {2020}
    write_table(made, path)
    nearest = {pa.date64(): pa.date32(), pa.timestamp("s"): pa.timestamp("ms")}  # Parquet has neither of the former
    assert parquet.read_schema(path).types == [nearest.get(kind, kind) for kind in STORED]


@pytest.mark.parametrize("unit", ["s", "ns"])
def test_frames_keep_their_types(unit: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"t": pd.Series(TIMES).astype(f"datetime64[{unit}]"), "x": [0.5, 1.5] * 200})
    frame["z"] = frame["t"].dt.tz_localize("UTC").dt.tz_convert("Europe/Paris")
    assert list(model_of(frame, tmp_path).sample(20).dtypes) == list(frame.dtypes)


def test_polars_frames_keep_their_types(tmp_path: Path) -> None:
    frame = pl.DataFrame({"t": TIMES, "x": [0.5, 1.5] * 200}).with_columns(
        pl.col("t").cast(pl.Datetime("ms", "Europe/Paris")).alias("z"), pl.col("t").cast(pl.Date).alias("d")
    )
    assert model_of(frame, tmp_path).sample(20).schema == frame.schema
