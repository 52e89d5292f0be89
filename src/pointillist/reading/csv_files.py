"""CSV files: read by what the schema says a column is, never by what its values look like."""

import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self, TextIO

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from pointillist.errors import DataError
from pointillist.reading import decimal_commas
from pointillist.reading.base import SOURCES, Report, Source, taken_over
from pointillist.reading.connection import pattern
from pointillist.reading.csv_quotes import BROKEN, FIELD_START, QUOTED, follow_quotes
from pointillist.reading.recoded import UTF8, Recoded, known
from pointillist.schema import MISSING_TEXTS, Schema
from pointillist.schema.csv_form import CsvForm


class _Watched:
    """A binary file, perhaps compressed, that says how far it has been read and whether its quotes are in order.

    A value whose quote is never closed swallows the rows after it, and those are other people's rows. So a file must be
    strict CSV: then its records are what its lines say, and none of them can change how another is read.
    """

    closed = False

    def __init__(self, file: BinaryIO, size: int, source: "CsvFile", report: Report):
        self._file, self._size, self._report, self._source = file, max(size, 1), report, source
        self._stream = source.decoded(file)
        self._state, self._first = FIELD_START, True

    def read(self, size: int = -1) -> bytes:
        block = bytes(self._stream.read(size))
        watched = block.removeprefix(_BYTE_ORDER_MARK) if self._first else block
        self._first = self._first and not block
        if self._state != BROKEN:
            self._state = follow_quotes(
                np.frombuffer(watched, dtype=np.uint8), self._state, ord(self._source.delimiter)
            )
        self._report(min(1.0, self._file.tell() / self._size))
        return block

    def check(self, *, whole: bool) -> None:
        """Refuse a file that is not strict CSV, as far as it was read."""
        if self._state == BROKEN or (whole and self._state == QUOTED):
            raise DataError(
                f"{self._source.name}: a double quote is opened and not closed, or stands inside a value. Put values that "
                "contain double quotes in double quotes, and double those inside."
            )

    def close(self) -> None:
        self._file.close()


_ENDINGS, _PACKED = (".csv", ".tsv", ".txt"), (".gz", ".zst", ".zip")
"""Endings of files, and second endings of those that are compressed."""
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_LOOKED_AT = 20_000
"""Rows in which decimal commas are looked for, so as to write others like them."""


@SOURCES.register("csv", place=20)
class CsvFile(Source):
    """A CSV file with a header, perhaps compressed by gzip or zstd."""

    whole = True
    untyped = True
    endings = (".csv", ".tsv", ".csv.gz", ".csv.zst")

    def __init__(self, path: Path, delimiter: str = ",", decimal: str | None = None, encoding: str = UTF8):
        self.path, self.name, self.delimiter, self.decimal, self.encoding = (
            path,
            str(path),
            delimiter,
            decimal,
            encoding,
        )

    @property
    def commas(self) -> bool:
        """Whether numbers may have a decimal comma: by default where semicolons separate the columns."""
        return self.decimal == "," or (self.decimal is None and self.delimiter == ";")

    @classmethod
    def suits(cls, table: Any) -> bool:
        if not isinstance(table, Path) or table.is_dir():
            return False
        return _member(table) is not None if table.suffix.lower() == ".zip" else cls.suits_name(table)

    @staticmethod
    def suits_name(path: Path) -> bool:
        """Whether the name is one of a file of text, perhaps compressed."""
        packed = path.suffix.lower() in _PACKED
        return (path.with_suffix("") if packed else path).suffix.lower() in _ENDINGS

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "CsvFile":
        return cls(table, delimiter).settled()

    def settled(self) -> "CsvFile":
        """The same file with the delimiter that its name or its first line shows, where none was stated."""
        if self.delimiter != ",":
            return self
        packed = _member(self.path) or "" if self.path.suffix.lower() == ".zip" else ""
        found = "\t" if ".tsv" in (self.path.name + packed).lower() else self._other_delimiter()
        return self if found is None else self.told(found, self.decimal, self.encoding)

    def told(self, delimiter: str, decimal: str | None, encoding: str) -> "CsvFile":
        """The same file with another delimiter, decimal sign or encoding."""
        return type(self)(self.path, delimiter, decimal, encoding)

    def raw(self) -> BinaryIO:
        """Its bytes, as they are stored."""
        return open(self.path, "rb")

    def size(self) -> int:
        """How many bytes these are."""
        return self.path.stat().st_size

    def _other_delimiter(self) -> str | None:
        """A semicolon or a tab, if the names of the columns have it between them and no comma."""
        with suppress(OSError, UnicodeError, csv.Error, EOFError, zlib.error, pa.ArrowException):
            names = self.column_names()
            return next((each for each in (";", "\t") if len(names) == 1 and each in names[0]), None)
        return None

    def with_decimal(self, decimal: str) -> "CsvFile":
        return self.told(self.delimiter, decimal, self.encoding)

    def with_encoding(self, encoding: str) -> "CsvFile":
        return self.told(self.delimiter, self.decimal, known(encoding)).settled()  # now the first line can be read

    def csv_form(self, db: duckdb.DuckDBPyConnection | None) -> CsvForm | None:
        """Tabs go with a file's ending, and are not kept. Beside semicolons the rows show which decimal sign is used."""
        commas = self.decimal == ","
        if self.commas and not commas and db is not None:
            rows = db.table("_texts").limit(_LOOKED_AT)
            commas = any(decimal_commas.with_commas(rows, rows.columns, grouped=False))
        delimiter = "," if self.delimiter == "\t" else self.delimiter
        return CsvForm(delimiter=delimiter, decimal="," if commas else ".") if commas or delimiter != "," else None

    def with_points(self, text: str) -> str:
        return decimal_commas.one_in_sql(text, grouped=self.decimal == ",") if self.commas else text

    def address(self) -> dict[str, Any]:
        facts = {"source": "csv", "path": str(self.path.absolute()), "delimiter": self.delimiter}
        facts |= {} if self.decimal is None else {"decimal": self.decimal}
        return facts if self.encoding == UTF8 else {**facts, "encoding": self.encoding}

    @classmethod
    def from_address(cls, facts: Mapping[str, Any]) -> Self:
        return cls(Path(facts["path"]), facts["delimiter"], facts.get("decimal"), facts.get("encoding", UTF8))

    def stamp(self) -> Hashable:
        facts = self.path.stat()
        return facts.st_ino, facts.st_size, facts.st_mtime_ns

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
        kinds = {name: schema.column(name).read_as for name in columns}
        numbers = [name for name, kind in kinds.items() if self.commas and pa.types.is_floating(kind)]
        kinds |= dict.fromkeys(numbers, pa.string())
        with self.raw() as file:
            watched = _Watched(file, self.size(), self, report)
            batches = pacsv.open_csv(
                pa.PythonFile(watched, "r"),
                read_options=pacsv.ReadOptions(block_size=4 << 20),
                parse_options=pacsv.ParseOptions(
                    delimiter=self.delimiter,
                    newlines_in_values=True,
                    ignore_empty_lines=len(self.column_names()) > 1,  # in one column a blank line is a missing value
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=kinds,
                    include_columns=columns,
                    null_values=list(MISSING_TEXTS),
                    strings_can_be_null=False,
                ),
            )
            for batch in batches:
                watched.check(whole=False)
                yield decimal_commas.read(batch, numbers, grouped=self.decimal == ",") if numbers else batch
            watched.check(whole=True)

    def _has_lines(self) -> bool:
        """Whether anything follows the first line."""
        with self._open() as stream:
            reader = csv.reader(stream, delimiter=self.delimiter)
            return next(reader, None) is not None and next(reader, None) is not None

    @contextmanager
    def _open(self) -> Iterator[TextIO]:
        with self.raw() as file:
            encoding = "utf-8-sig" if self.encoding == UTF8 else self.encoding
            yield io.TextIOWrapper(_unpacked(file, self.path), encoding=encoding, newline="")

    def decoded(self, file: BinaryIO) -> Any:
        """The bytes of the text in UTF-8."""
        unpacked = _unpacked(file, self.path)
        return unpacked if self.encoding == UTF8 else Recoded(unpacked, self.encoding)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        # Nothing is guessed from the values: one odd row must not change how the others are read.
        return self._texts(db, self.column_names()).query("source", sql)

    def numbered(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        names = [f"c{i}" for i in range(len(self.column_names()))]
        self._texts(db, names).create("_texts")
        rows = db.table("_texts")  # parsed once: a draft asks many questions
        return rows.project(decimal_commas.in_sql(rows, names, grouped=self.decimal == ",")) if self.commas else rows

    def _texts(self, db: duckdb.DuckDBPyConnection, names: list[str]) -> duckdb.DuckDBPyRelation:
        dialect = {
            "header": True, "delimiter": self.delimiter, "quotechar": '"', "escapechar": '"', "comment": "",
            "auto_detect": False, "strict_mode": True, "null_padding": False, "encoding": "utf-8",
            "hive_partitioning": False,  # folders called k=v are no columns
            "parallel": False,  # threads start in the midst of a file, and would refuse long values of several lines
        }  # fmt: skip
        if self.path.suffix.lower() == ".zip" or self.encoding != UTF8:
            return taken_over(db, self._all_texts(names), self.name)
        return db.read_csv(pattern(self.path), columns=dict.fromkeys(names, "VARCHAR"), **dialect)

    def _all_texts(self, names: list[str]) -> pa.Table:
        """The whole file as texts, where DuckDB cannot open it by itself."""
        with open(self.path, "rb") as file:
            return pacsv.read_csv(
                pa.PythonFile(self.decoded(file), "r"),
                read_options=pacsv.ReadOptions(column_names=names, skip_rows=1),
                parse_options=pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
            )

    def text_stream(self, names: list[str]) -> pa.RecordBatchReader:
        """The whole file as texts, to be read once."""
        kinds = pa.schema([(name, pa.string()) for name in names])

        def batches() -> Iterator[pa.RecordBatch]:
            with self.raw() as file:
                watched = _Watched(file, self.size(), self, lambda fraction: None)
                yield from pacsv.open_csv(
                    pa.PythonFile(watched, "r"),
                    read_options=pacsv.ReadOptions(column_names=names, skip_rows=1, block_size=4 << 20),
                    parse_options=pacsv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                    convert_options=pacsv.ConvertOptions(column_types=dict.fromkeys(names, pa.string())),
                )
                watched.check(whole=True)

        return pa.RecordBatchReader.from_batches(kinds, batches())

    def explain(self, error: Exception, schema: Schema | None) -> str:
        text = str(error)
        if isinstance(error, UnicodeError) or "UTF" in text.upper() or "unicode" in text.lower():
            if self.encoding != UTF8:
                return f"{self.name}: is not text in {self.encoding}. Pass another --encoding, or convert it to UTF-8."
            return (
                f"{self.name}: is not UTF-8 text. If it comes from Windows or Excel, pass --encoding cp1252 (in Python "
                'pt.csv(path, encoding="cp1252")); else the encoding that it has, or convert it to UTF-8.'
            )
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


def _unpacked(file: BinaryIO, path: Path) -> Any:
    """A file's bytes, as they were before they were compressed."""
    match path.suffix.lower():
        case ".gz":
            return gzip.GzipFile(fileobj=file)
        case ".zst":
            return pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd")
        case ".zip":
            return zipfile.ZipFile(file).open(_member(path) or "")
    return file


def _member(path: Path) -> str | None:
    """The one file of text in an archive; none if there is none, or something else beside it."""
    with suppress(OSError, zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
        names = [each for each in archive.namelist() if not each.endswith("/") and not each.startswith("__MACOSX/")]
        if len(names) == 1 and Path(names[0]).suffix.lower() in _ENDINGS:
            return names[0]
    return None
