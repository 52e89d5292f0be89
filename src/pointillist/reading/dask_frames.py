"""Dask frames: tables that are cut into pandas frames, perhaps on other machines. There they stay."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa

from pointillist.errors import DataError, PointillistError
from pointillist.reading.base import SOURCES, Report, Source
from pointillist.reading.frames import Frame
from pointillist.schema import Schema


@SOURCES.register("dask", place=51)
class DaskFrame(Source):
    """A data frame of Dask's."""

    engine = "dask"
    frame = "pandas"

    def __init__(self, table: Any, name: str = "the Dask frame"):
        self.table, self.name = table, name
        self._names = {str(name): name for name in table.columns}
        self._collected: Frame | None = None

    @classmethod
    def suits(cls, table: Any) -> bool:
        return any(each.__module__.startswith("dask.dataframe") for each in type(table).__mro__) and hasattr(
            table, "to_delayed"
        )

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "DaskFrame":
        return cls(table)

    def column_names(self) -> list[str]:
        return [str(name) for name in self.table.columns]

    def types(self) -> dict[str, pa.DataType]:
        return Frame(self.table._meta).types()

    def pieces(self, columns: list[str]) -> list[Any]:
        """Some columns, as Dask's promises of pandas frames."""
        self.require(columns)
        with translated(self.name):
            return list(self.table[[self._names[name] for name in columns]].to_delayed())

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        """Here, piece by piece: whatever asks for rows and is not a pass."""
        pieces = self.pieces(columns)
        for number, piece in enumerate(pieces, start=1):
            with translated(self.name):
                rows = piece.compute()
            yield from part(rows, self.name).read(columns, schema, lambda fraction: None)
            report(number / len(pieces))

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        if self._collected is None:
            with translated(self.name):
                self._collected = part(self.table.compute(), self.name)
        return self._collected.query(db, sql)


def part(rows: Any, name: str) -> Frame:
    """A piece of it, wherever it is."""
    found = Frame(rows)
    found.name = name
    return found


@contextmanager
def translated(name: str) -> Iterator[None]:
    """Replace Dask's errors, which may quote values, by our own."""
    try:
        yield
    except PointillistError:
        raise
    except Exception as error:
        raise DataError(f"{name}: {_explained(error)}") from None


def _explained(error: BaseException) -> str:
    chain, each = [], error
    while each is not None and each not in chain:
        chain.append(each)
        each = each.__cause__ or each.__context__  # type: ignore[assignment]
    if any(isinstance(each, ImportError) or "deserializ" in str(each).lower() for each in chain):
        return (
            "a Dask worker or the scheduler cannot load the task. Install pointillist, in the version that is here, on all "
            "of them."
        )
    kind = type(error).__name__
    if kind == "KilledWorker":
        return "a task was given up, since too many Dask workers died in it. Have they memory enough?"
    return f"Dask could not read it, or lost its workers ({kind}). Its own log says more."
