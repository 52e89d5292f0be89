"""Source: a private table that can be read as a stream of record batches, and read again.

A release may read a table several times, so a source is something that can be: a file, a folder, a frame, a query. Readers'
own error messages may quote values, so they are never passed on.

A new kind of source is a file of this room with a class that is entered in `SOURCES`: it says which tables it `suits`, and
how it is `opened`.
"""

import copy
import csv
import difflib
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import duckdb
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.reading.arrow_types import unknown_to_duckdb
from pointillist.registry import Registry
from pointillist.schema import Schema
from pointillist.schema.csv_form import CsvForm

Report = Callable[[float], None]
"""Told how much of the stream has passed, from 0 to 1."""


class Source(ABC):
    """A private table."""

    name: str
    """How messages call the table."""
    frame: str = "pyarrow"
    """The kind of frame in which synthetic data should be handed back."""
    endings: ClassVar[tuple[str, ...]] = ()
    """Of its files, as messages list them."""
    holds_images: ClassVar[bool] = False
    """Whether it is a set of images, and no table."""

    engine: ClassVar[str | None] = None
    """The name of the engine whose workers have its rows; none if it is no cluster's."""

    @classmethod
    def suits(cls, table: Any) -> bool:
        """Whether it can open this: a `Path` that exists, or any value that callers may pass for a table."""
        return False

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Source":
        """The table as a source, where it suits; `delimiter` is for files of text."""
        raise NotImplementedError

    def partitions(self, most: int) -> Sequence["Source"]:
        """The table in at most so many parts, each a source of some of its rows; all rows are in one of them."""
        return (self,)

    def with_decimal(self, decimal: str) -> "Source":
        """The same table, whose numbers are written with this decimal sign."""
        raise UsageError(f"{self.name}: has numbers of its own, and no decimal sign. Leave --decimal away.")

    def with_encoding(self, encoding: str) -> "Source":
        """The same table, whose texts are encoded so."""
        raise UsageError(
            f"{self.name}: is no CSV file, and says itself how its texts are encoded. Leave --encoding away."
        )

    def with_points(self, text: str) -> str:
        """SQL for a text of this table, with a decimal point if it is a number with another decimal sign."""
        return text

    def address(self) -> dict[str, Any] | None:
        """Where another process finds it, as JSON values; none if it is in this one's memory alone."""
        return None

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        """The inverse of `address`."""
        raise NotImplementedError

    @abstractmethod
    def column_names(self) -> list[str]:
        """The table's columns."""

    @abstractmethod
    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        """Some columns as a stream of batches."""

    @abstractmethod
    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        """Run SQL in which the table is called `source`."""

    @contextmanager
    def held(self) -> Iterator["Source"]:
        """The table as it is now, for all passes of a release: a snapshot, or a source that `require_unchanged` knows of."""
        now = copy.copy(self)
        with self.guard(None):
            now._stamp = self.stamp()
        yield now

    def stamp(self) -> Hashable:
        """What differs once the table has been written to; none if nothing says so, or if it cannot be."""
        return None

    version: str | None = None
    """Which state of the table is read, in a word for the ledger, where it has several."""
    _stamp: Hashable = None

    def require_unchanged(self) -> None:
        """Refuse a table that was written to since it is held: rows that moved may have been read twice."""
        if self._stamp is None:
            return
        with self.guard(None):
            now = self.stamp()
        if now != self._stamp:
            raise DataError(
                f"{self.name}: was changed while it was read. Release a copy of it, or wait until nobody writes to it."
            )

    def types(self) -> dict[str, pa.DataType]:
        """The Arrow types of the columns, where the table says so."""
        return {}

    whole: bool = False
    """Whether the rows are known to be all there are: of what may be a selection, the number is never public."""
    untyped: bool = False
    """Whether all values come as texts, whatever they are."""
    foreign: bool = False
    """Whether DuckDB is asked over the caller's own connection: no table may be made there."""

    def csv_form(self, db: duckdb.DuckDBPyConnection | None) -> CsvForm | None:
        """How it is written, where it is a CSV file of a form of its own; `db` has its rows, if they may be looked at."""
        return None

    def numbered(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        """The whole table with columns named c0, c1, …: SQL does not tell apart names that differ in case."""
        rows = self.query(db, "SELECT * FROM source")
        return rows.project(", ".join(f"{quote(name)} AS c{i}" for i, name in enumerate(rows.columns)))

    def batches(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        """Some columns as a stream of batches, checked first; `report` is told how much of it has passed."""
        self.require(columns)
        with self.guard(schema):
            for batch in self.read(columns, schema, report):
                batch.validate(full=True)  # a damaged buffer points outside of itself: whoever reads it would crash
                yield batch

    def require(self, columns: list[str]) -> None:
        """Refuse a table that lacks a column. Only the schema's names are shown: a file without a header has none."""
        with self.guard(None):
            present = self.column_names()
        absent = [name for name in columns if name not in present]
        if absent:
            names = ", ".join(repr(name) for name in absent[:5]) + (", …" if len(absent) > 5 else "")
            # A name of the table's is shown only if it is nearly one of the schema's: a first line may be a row.
            near = [match for name in absent[:5] for match in difflib.get_close_matches(name, present, 1, 0.75)]
            meant = f" Did you mean {', '.join(repr(name) for name in near)}?" if near and len(present) > 1 else ""
            some, are = ("columns", "are") if len(absent) > 1 else ("column", "is")
            raise DataError(
                f"{self.name}: {some} {names} of the schema {are} not in the table, which has {len(present)} "
                f"column{'s' * (len(present) != 1)}.{meant} {self.hint()}"
            )
        twice = next((name for name in columns if present.count(name) > 1), None)
        if twice is not None:  # told by place, since a draft asks for the table's own names
            first, second, *_ = (place for place, name in enumerate(present, 1) if name == twice)
            raise DataError(f"{self.name}: columns {first} and {second} have the same name. Rename one of them.")

    def hint(self) -> str:
        return "Correct the schema, or rename the column."

    @contextmanager
    def guard(self, schema: Schema | None) -> Iterator[None]:
        """Replace the readers' errors, which may quote private values, by our own."""
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.name}: no such file.") from None
        except PermissionError:
            raise DataError(f"{self.name}: may not be read. Check its permissions.") from None
        except (pa.ArrowException, duckdb.Error, UnicodeError, csv.Error, EOFError, zlib.error, OSError) as error:
            raise DataError(self.explain(error, schema)) from None

    def explain(self, error: Exception, schema: Schema | None) -> str:
        return f"{self.name}: cannot be read. Is it whole, and of the kind that its name says?"


SOURCES: Registry[type[Source]] = Registry("source", "pointillist.reading")
"""The kinds of sources. The first that suits a table opens it."""


def quote(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def taken_over(db: duckdb.DuckDBPyConnection, table: Any, name: str) -> duckdb.DuckDBPyRelation:
    """An Arrow table as DuckDB sees it; columns that it cannot take over are named."""
    try:
        return db.from_arrow(table)
    except duckdb.Error:
        unknown = unknown_to_duckdb(table.schema)
        if not unknown:
            raise
        kind = str(table.schema.field(unknown[0]).type).partition("<")[0]
        raise DataError(
            f"{name}: column {unknown[0]!r} is of a type that SQL does not know ({kind}). "
            "Store it as another type, or leave it out of the table."
        ) from None
