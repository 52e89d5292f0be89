"""CSV files: read by what the schema says a column is, never by what its values look like."""

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import duckdb
import pyarrow as pa
import pyarrow.csv as pacsv

from pointillist.curator.source import Report, Source
from pointillist.errors import DataError
from pointillist.schema import MISSING_TEXTS, Integer, Real, Schema


class _Watched:
    """A binary file, perhaps gzipped, that says how far it has been read and how many double quotes it held."""

    closed = False

    def __init__(self, file: BinaryIO, size: int, zipped: bool, report: Report):
        self._file, self._size, self._report = file, max(size, 1), report
        self._stream: Any = gzip.GzipFile(fileobj=file) if zipped else file
        self.quotes = 0

    def read(self, size: int = -1) -> bytes:
        block = bytes(self._stream.read(size))
        self.quotes += block.count(b'"')
        self._report(min(1.0, self._file.tell() / self._size))
        return block

    def close(self) -> None:
        self._file.close()


class CsvFile(Source):
    """A CSV file with a header, perhaps gzipped."""

    untyped = True

    def __init__(self, path: Path, delimiter: str = ","):
        self.path, self.name, self.delimiter = path, str(path), delimiter

    def column_names(self) -> list[str]:
        with self._open() as stream:
            return next(csv.reader(stream, delimiter=self.delimiter), [])

    def hint(self) -> str:
        try:
            names = self.column_names()
        except (OSError, UnicodeError):
            names = []
        if not names:
            return "The file is empty: its first line must name the columns."
        for other, word in ((";", "a semicolon"), ("\t", "a tab"), ("|", "a bar"), (",", "a comma")):
            if len(names) == 1 and other != self.delimiter and other in names[0]:
                return f"The first line has {word} in it: if that separates the columns, pass --delimiter '{other}'."
        return "Its first line must name the columns. Correct the schema, or rename the column."

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        if not self._has_lines():
            return
        kinds = {name: _csv_kind(schema.columns.get(name)) for name in columns}
        with open(self.path, "rb") as file:
            watched = _Watched(file, self.path.stat().st_size, self.path.suffix == ".gz", report)
            yield from pacsv.open_csv(
                pa.PythonFile(watched, "r"),
                read_options=pacsv.ReadOptions(block_size=4 << 20),
                parse_options=pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(
                    column_types=kinds,
                    include_columns=columns,
                    null_values=list(MISSING_TEXTS),
                    strings_can_be_null=False,
                ),
            )
        if watched.quotes % 2:
            # A value whose quote is never closed swallows the rows after it: other people's rows.
            raise DataError(
                f"{self.name}: a double quote is opened and not closed. Put values that contain double quotes in double "
                "quotes, and double those inside."
            )

    def _has_lines(self) -> bool:
        """Whether anything follows the first line."""
        with self._open() as stream:
            reader = csv.reader(stream, delimiter=self.delimiter)
            return next(reader, None) is not None and next(reader, None) is not None

    def _open(self) -> Any:
        opener = gzip.open if self.path.suffix == ".gz" else open
        return opener(self.path, "rt", encoding="utf-8-sig", newline="")

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        # Nothing is guessed from the values: one odd row must not change how the others are read.
        return self._texts(db, self.column_names()).query("source", sql)

    def numbered(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        self._texts(db, [f"c{i}" for i in range(len(self.column_names()))]).create("_texts")
        return db.table("_texts")  # parsed once: a draft asks many questions

    def _texts(self, db: duckdb.DuckDBPyConnection, names: list[str]) -> duckdb.DuckDBPyRelation:
        dialect = {
            "header": True, "delimiter": self.delimiter, "quotechar": '"', "escapechar": '"', "comment": "",
            "auto_detect": False, "strict_mode": True, "null_padding": False, "encoding": "utf-8",
        }  # fmt: skip
        return db.read_csv(str(self.path), columns=dict.fromkeys(names, "VARCHAR"), **dialect)

    def explain(self, error: Exception, schema: Schema | None) -> str:
        text = str(error)
        if isinstance(error, UnicodeError) or "UTF" in text.upper() or "unicode" in text.lower():
            return f"{self.name}: is not UTF-8 text. Convert it, for example with iconv."
        number = re.search(r"In CSV column #(\d+)", text)
        if number and schema is not None:
            name = self.column_names()[int(number[1])]
            if name in schema.columns:
                kind = schema.columns[name].kind
                return (
                    f"{self.name}: column {name!r} holds a value that cannot be read as {kind}. "
                    "Correct the data, or change the column's kind in the schema."
                )
        if ("parse error" in text and "columns" in text) or "Expected Number of Columns" in text:
            return (
                f"{self.name}: some line has more or fewer values than the first line. Put values that contain the "
                "delimiter in double quotes, or pass the right --delimiter."
            )
        return f"{self.name}: cannot be read as CSV."


def _csv_kind(column: Any) -> pa.DataType:
    """How a column is read: by what the schema says it is, never by what its values look like."""
    if isinstance(column, Integer | Real):
        return pa.float64()
    return pa.dictionary(pa.int32(), pa.string()) if hasattr(column, "categories") else pa.string()
