"""Tables: the same rows in every kind of source that a release reads."""

import csv
import datetime as dt
import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
from pyarrow import feather

import pointillist as pt

Row = dict[str, Any]

KEPT = "kept"
"""A column outside the schema: selections keep the rows in which it is true."""


@dataclass(frozen=True)
class Table:
    """Rows of Python values, and which columns are written as texts: that is settled before there are rows."""

    columns: tuple[str, ...]
    texts: frozenset[str]
    """Columns that any source gets as texts."""
    mixed: frozenset[str]
    """Columns of values of different types: as they are in pandas, as texts elsewhere."""
    rows: tuple[Row, ...]

    def values(self, name: str, *, mixed: bool = False) -> list[Any]:
        found = [row[name] for row in self.rows]
        return (
            [as_text(value) for value in found] if name in self.texts or (name in self.mixed and not mixed) else found
        )

    def arrow(self) -> pa.Table:
        """With the types that Arrow finds in the values, so that neighbours may differ in them."""
        return pa.table({name: pa.array(self.values(name)) for name in self.columns})

    def pandas(self) -> pd.DataFrame:
        return pd.DataFrame({name: self.values(name, mixed=True) for name in self.columns})

    def polars(self) -> pl.DataFrame:
        return pl.DataFrame([pl.Series(name, self.values(name), strict=False) for name in self.columns])


def as_text(value: Any) -> str | None:
    """A value as a file of texts has it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, dt.date) else repr(value)


Writer = Callable[[Table, Path], Any]


def _csv(table: Table, path: Path) -> Path:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "wt", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(table.columns)
        for row in table.rows:
            writer.writerow(["" if (text := as_text(row[name])) is None else text for name in table.columns])
    return path


def _parquet(table: Table, path: Path) -> Path:
    pq.write_table(table.arrow(), path)
    return path


def _folder(table: Table, path: Path) -> Path:
    path.mkdir()
    whole = table.arrow()
    half = whole.num_rows // 2
    for number, part in enumerate((whole.slice(0, half), whole.slice(half))):
        pq.write_table(part, path / f"{number}.parquet")
    return path


def _arrow(table: Table, path: Path) -> Path:
    feather.write_feather(table.arrow(), path)
    return path


def _relation(table: Table, where: str = "TRUE") -> duckdb.DuckDBPyRelation:
    rows = _known(table.arrow())
    return duckdb.connect().from_arrow(rows).filter(where)


def _known(table: pa.Table) -> pa.Table:
    """A database has no columns without a type."""
    columns = [column.cast(pa.string()) if pa.types.is_null(column.type) else column for column in table.columns]
    columns = [
        column.cast(pa.bool_()) if name == KEPT else column
        for name, column in zip(table.column_names, columns, strict=True)
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


WHOLE: dict[str, Writer] = {
    "csv": lambda table, folder: _csv(table, folder / "table.csv"),
    "csv.gz": lambda table, folder: _csv(table, folder / "table.csv.gz"),
    "parquet": lambda table, folder: _parquet(table, folder / "table.parquet"),
    "parquet folder": lambda table, folder: _folder(table, folder / "table"),
    "arrow": lambda table, folder: _arrow(table, folder / "table.arrow"),
    "pandas": lambda table, folder: table.pandas(),
    "polars": lambda table, folder: table.polars(),
    "polars, lazy": lambda table, folder: table.polars().lazy(),
    "pyarrow table": lambda table, folder: table.arrow(),
    "pyarrow dataset": lambda table, folder: ds.dataset(table.arrow()),
    "duckdb relation": lambda table, folder: _relation(table),
    "query on csv": lambda table, folder: pt.sql("SELECT * FROM source", _csv(table, folder / "table.csv")),
    "query on parquet": lambda table, folder: pt.sql("SELECT * FROM source", _parquet(table, folder / "table.parquet")),
}
"""All rows, by kind of source."""

SELECTED: dict[str, Writer] = {
    "polars, filtered": lambda table, folder: (
        table.polars().with_columns(pl.col(KEPT).cast(pl.Boolean)).lazy().filter(pl.col(KEPT))
    ),
    "dataset, filtered": lambda table, folder: ds.dataset(_known(table.arrow())).filter(ds.field(KEPT)),
    "relation, filtered": lambda table, folder: _relation(table, KEPT),
    "query with where": lambda table, folder: pt.sql(
        f"SELECT * FROM source WHERE {KEPT} = 'true'", _csv(table, folder / "table.csv")
    ),
}
"""A selection of them: its size is nobody's to know."""

SOURCES = WHOLE | SELECTED


def inserted(rest: Sequence[Row], own: Sequence[Row], place: int) -> tuple[Row, ...]:
    """One person's rows among the others'."""
    return (*rest[:place], *own, *rest[place:])
