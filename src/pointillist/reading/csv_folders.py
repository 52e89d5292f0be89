"""CSV folders: one table in several CSV files, of this machine or of a bucket, which all name the same columns."""

import itertools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, Self

import duckdb
import pyarrow as pa

from pointillist.errors import DataError
from pointillist.reading import decimal_commas
from pointillist.reading.base import SOURCES, Report, Source
from pointillist.reading.csv_files import CsvFile
from pointillist.reading.parquet_files import FILE_KINDS, MOST_FILES
from pointillist.schema import Schema
from pointillist.schema.csv_form import CsvForm


@SOURCES.register("csv folder", place=29)
class CsvFolder(Source):
    """The rows of all files, one file after the other."""

    whole = True
    untyped = True

    def __init__(self, parts: Sequence[CsvFile], name: str):
        self._parts, self.name = tuple(parts), name

    @classmethod
    def suits(cls, table: Any) -> bool:
        if not (isinstance(table, Path) and table.is_dir()):
            return False
        return any(CsvFile.suits_name(path) and not is_hidden(path.relative_to(table)) for path in table.iterdir())

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "CsvFolder":
        files = sorted(itertools.islice(_files(table), MOST_FILES + 1))
        parts = csv_names(files, str(table))
        return cls([CsvFile.opened(path, delimiter) for path in parts], str(table))

    def partitions(self, most: int) -> Sequence[Source]:
        """File by file, or as many files in each as it takes."""
        self.require([])  # here, where all first lines are seen
        if len(self._parts) <= most:
            return self._parts
        cuts = [round(len(self._parts) * part / most) for part in range(most + 1)]
        return tuple(type(self)(self._parts[start:end], self.name) for start, end in itertools.pairwise(cuts))

    def address(self) -> dict[str, Any] | None:
        files = [part.address() for part in self._parts]
        return None if None in files else {"source": "csv folder", "name": self.name, "files": files}

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        return cls([CsvFile.from_address(each) for each in facts["files"]], facts["name"])

    def with_decimal(self, decimal: str) -> "CsvFolder":
        return type(self)([part.with_decimal(decimal) for part in self._parts], self.name)

    def with_encoding(self, encoding: str) -> "CsvFolder":
        return type(self)([part.with_encoding(encoding) for part in self._parts], self.name)

    def csv_form(self, db: duckdb.DuckDBPyConnection | None) -> CsvForm | None:
        return self._parts[0].csv_form(db)

    def stamp(self) -> Hashable:
        return tuple(part.stamp() for part in self._parts)

    def hint(self) -> str:
        return self._parts[0].hint()

    def column_names(self) -> list[str]:
        first, *others = (part.column_names() for part in self._parts)
        if any(each != first for each in others):
            raise DataError(f"{self.name}: its files name different columns in their first lines. Make them alike.")
        return first

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        for number, part in enumerate(self._parts, 1):
            yield from part.batches(columns, schema, lambda fraction: None)  # by itself: a message names the file
            report(number / len(self._parts))

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        return db.from_arrow(self._texts(self.column_names())).query("source", sql)

    def numbered(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        names = [f"c{number}" for number in range(len(self.column_names()))]
        db.from_arrow(self._texts(names)).create("_texts")
        rows, first = db.table("_texts"), self._parts[0]
        return rows.project(decimal_commas.in_sql(rows, names, grouped=first.decimal == ",")) if first.commas else rows

    def _texts(self, names: list[str]) -> pa.RecordBatchReader:
        kinds = pa.schema([(name, pa.string()) for name in names])
        batches = (batch for part in self._parts for batch in part.text_stream(names))
        return pa.RecordBatchReader.from_batches(kinds, batches)


def is_hidden(path: PurePath) -> bool:
    """Whether a path below a folder is no part of its table: copies of editors and unfinished writers hold rows again."""
    return any(part.startswith((".", "_")) for part in path.parts)


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and not is_hidden(path.relative_to(folder)))


def csv_names(files: Sequence[Path], name: str) -> list[Path]:
    """Those of a folder's files that are CSV; a folder that holds tables of another kind, too, is refused."""
    if len(files) > MOST_FILES:
        raise DataError(f"{name}: holds more than {MOST_FILES:,} files. Name the folder of the table itself.")
    found = [path for path in files if CsvFile.suits_name(path) and path.suffix.lower() != ".zip"]
    if any(path.suffix.lower() in FILE_KINDS for path in files):
        raise DataError(
            f"{name}: a folder must hold CSV files, or Parquet files, or Arrow files, and not several of them."
        )
    return found
