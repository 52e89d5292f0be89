"""Reading: any table as a stream of record batches that can be started again.

A source is read once for each round of a plan, so it must be something that can be read twice: a file, a folder, a
frame, a query.
"""

import datetime as dt
import decimal
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from pointillist.errors import DataError, UsageError
from pointillist.files.paths import checked
from pointillist.reading.arrow_types import odd_family, unknown_to_duckdb
from pointillist.reading.csv_files import PACKED, CsvFile
from pointillist.reading.database import confine, connect
from pointillist.reading.images import ArrayFile, Arrays, Folder, holds_images, rows_at_once, rows_within
from pointillist.reading.rowwise import RowWise, built_in
from pointillist.reading.source import BATCH_ROWS, Report, Source, quote
from pointillist.schema import MISSING_TEXTS, Image, Integer, Real, Schema

_MOST_FILES = 200_000
"""In the folder of one table."""


class Files(Source):
    """Parquet or Arrow files: one, or a folder of them; or a dataset of the caller's, which may be a part of some."""

    def __init__(self, dataset: ds.Dataset, name: str, *, whole: bool = False):
        self.dataset, self.name, self.whole = dataset, name, whole
        self._sound = False

    @classmethod
    def at(cls, path: Path, kind: str) -> "Files":
        try:
            return cls(ds.dataset(path, format=kind), str(path), whole=True)
        except FileNotFoundError:
            raise DataError(f"{path}: no such file.") from None
        except (pa.ArrowException, OSError):
            raise DataError(f"{path}: cannot be read as {kind}. Is it whole?") from None

    def column_names(self) -> list[str]:
        return list(self.dataset.schema.names)

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self.dataset.schema}

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        batches = self._parquet(columns, schema) if self._is_parquet() else self._scan(columns, schema)
        total, seen = max(1, self.dataset.count_rows()), 0
        for batch in batches:
            seen += batch.num_rows
            yield batch
            report(seen / total)

    def _is_parquet(self) -> bool:
        """Whether the files can be read one by one: not if the dataset is in memory, filtered or of another format."""
        try:
            return isinstance(getattr(self.dataset, "format", None), ds.ParquetFileFormat) and any(
                True for _ in self.dataset.get_fragments()
            )
        except ValueError:
            return False

    def _scan(self, columns: list[str], schema: Schema) -> Iterator[pa.RecordBatch]:
        yield from self.dataset.to_batches(
            columns=columns, batch_size=rows_at_once(schema, BATCH_ROWS), batch_readahead=2, fragment_readahead=1
        )

    def _parquet(self, columns: list[str], schema: Schema) -> Iterator[pa.RecordBatch]:
        """File by file, with a small buffer: a dataset's scanner would hold many row groups at a time.

        Texts stay in the dictionary that Parquet keeps them in: each distinct one is looked up once per batch.
        """
        texts = [name for name in columns if hasattr(schema.columns.get(name), "categories")]
        for fragment in self.dataset.get_fragments():
            folders = ds.get_partition_keys(fragment.partition_expression)
            present = fragment.physical_schema.names
            wanted = [name for name in columns if name not in folders]
            absent = [name for name in wanted if name not in present]
            if absent:
                raise DataError(f"{fragment.path}: column {absent[0]!r} is not in this file of {self.name}.")
            kinds = fragment.physical_schema
            coded = [name for name in texts if name in present and odd_family(kinds.field(name).type) is None]
            with self.dataset.filesystem.open_input_file(fragment.path) as stream:
                file = pq.ParquetFile(stream, read_dictionary=coded, pre_buffer=False, buffer_size=1 << 20)
                groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
                sizes = [(group.num_rows, group.total_byte_size) for group in groups]
                for batch in file.iter_batches(
                    rows_within(rows_at_once(schema, BATCH_ROWS), schema, sizes), columns=wanted
                ):
                    part = batch
                    for name in set(columns) & set(folders):
                        part = part.append_column(name, pa.repeat(pa.scalar(folders[name]), batch.num_rows))
                    yield part

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        if not self._sound:  # DuckDB trusts the buffers that it is given: look at all of them first, once
            for batch in self.dataset.to_batches(batch_readahead=2, fragment_readahead=1):
                batch.validate(full=True)
            self._sound = True
        return _taken(db, self.dataset, self.name).query("source", sql)


class Frame(Source):
    """A data frame in memory: pandas, polars, pyarrow or anything that narwhals knows."""

    def __init__(self, frame: Any):
        self.name = "the frame"
        try:
            native = nw.from_native(frame)
            self.whole = not isinstance(native, nw.LazyFrame)  # that one may select as it is collected
            self.table = native.collect() if isinstance(native, nw.LazyFrame) else native
        except nw.exceptions.DuplicateError:
            raise DataError(f"{self.name}: a column is there more than once. Rename one of them.") from None
        except TypeError:
            raise UsageError(
                f"a table of type {type(frame).__name__} is not known. Pass a path, a pandas, polars or pyarrow table, "
                "a DuckDB relation, or pointillist.sql(...)."
            ) from None
        except Exception as error:  # a lazy frame runs here, and its message may quote a value
            raise DataError(f"{self.name}: could not be collected ({type(error).__name__}).") from None
        self.frame = str(self.table.implementation)
        self._names = {str(name): name for name in self.table.columns}  # pandas columns may be named by numbers

    def column_names(self) -> list[str]:
        return [str(name) for name in self.table.columns]

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self._batch(self.table[:0], self.column_names(), None).schema}

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        rows = rows_at_once(schema, BATCH_ROWS)
        for start in range(0, max(1, len(self.table)), rows):
            part = self.table[start : start + rows]
            yield self._batch(part, columns, schema)
            report(min(1.0, (start + rows) / max(1, len(self.table))))

    def _batch(self, part: Any, columns: list[str], schema: Schema | None) -> pa.RecordBatch:
        arrays = []
        for name in columns:
            values = part.get_column(self._names[name])
            try:
                if values.dtype == nw.Object and schema is not None:
                    array = _one_by_one(values.to_list(), schema.columns.get(name))
                else:
                    array = values.to_arrow()
            except Exception:  # pandas columns of objects can hold anything, and the message would quote it
                raise DataError(
                    f"{self.name}: column {name!r} mixes values of different types. Make it all text, or all numbers."
                ) from None
            arrays.append(array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array)
        return pa.RecordBatch.from_arrays(arrays, names=columns)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        table = pa.Table.from_batches([self._batch(self.table, self.column_names(), None)])
        table.validate(full=True)
        return _taken(db, table, self.name).query("source", sql)


def _taken(db: duckdb.DuckDBPyConnection, table: Any, name: str) -> duckdb.DuckDBPyRelation:
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


def _one_by_one(values: list[Any], column: Any) -> pa.Array:
    """A column of Python objects by what the schema says it is: nothing is inferred from the values together.

    Arrow would choose one type for all of them, so that one odd value changes how the others are read.
    """
    if isinstance(column, Integer | Real):
        return pa.array([None if _absent(value) else _number(value) for value in values], pa.float64())
    if isinstance(column, Image):  # as Hugging Face has them, or the bytes alone
        return pa.array([v["bytes"] if isinstance(v, dict) else v for v in values], pa.large_binary())
    return pa.array([None if _absent(value) else _text(value) for value in values], pa.string())


def _absent(value: Any) -> bool:
    """None, NaN, NaT (not equal to themselves) and pandas' NA (neither equal nor unequal)."""
    if value is None:
        return True
    unequal = value != value  # noqa: PLR0124
    return not isinstance(unequal, bool | np.bool_) or bool(unequal)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return None if value.strip() in MISSING_TEXTS else float(value)
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, float | decimal.Decimal) and value == int(value):
        return str(int(value))  # 7.0 and 7.00 are 7, whatever the other values are
    return value.isoformat() if isinstance(value, dt.date) else str(value)


class Relation(Source):
    """A DuckDB relation."""

    def __init__(self, relation: duckdb.DuckDBPyRelation, name: str = "the relation"):
        self.relation, self.name = relation, name

    def column_names(self) -> list[str]:
        return list(self.relation.columns)

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        yield from self.relation.project(", ".join(quote(name) for name in columns)).to_arrow_reader(
            rows_at_once(schema, BATCH_ROWS)
        )
        report(1.0)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        return self.relation.query("source", sql)


class Query(Source):
    """The result of SQL, run by DuckDB on a table of a database file, or on a file or folder that SQL calls `source`.

    The promise is for rows of the result, so the query must work row by row: others are refused. While it runs, DuckDB may
    read this table and write to its own temporary folder, and nothing else.
    """

    def __init__(self, sql: str, over: str | Path | None = None, delimiter: str = ","):
        self.over, self.delimiter = None if over is None else Path(over), delimiter
        self.name = "the query" if over is None else f"the query on {over}"
        with self.guard(None):
            self._query = RowWise(sql)

    def column_names(self) -> list[str]:
        with connect() as db:
            return list(self._result(db).columns)

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        with connect() as db:
            yield from Relation(self._result(db)).read(columns, schema, report)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        return self._result(db).query("source", sql)

    def _result(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        table = self._query.table
        if self.over is not None and not checked(self.over, DataError).exists():
            raise DataError(f"{self.over}: no such file.")
        if self.over is not None and _is_database(self.over):
            return self._of_database(db, table)
        if table is None:
            confine(db)
            return db.sql(self._query.sql)
        over = self.over or Path(table[2])
        if any(table[:2]) or not (over.exists() if self.over is None else _same(table[2], "source")):
            known = "It must be a file or a folder" if self.over is None else "Call the table source"
            raise DataError(f"{self.name}: there is no {_dotted(table)!r} to read. {known}.")
        rows = open_source(over, delimiter=self.delimiter).query(db, "SELECT * FROM source")
        confine(db, over)
        return rows.query(table[2], self._query.sql)

    def _of_database(
        self, db: duckdb.DuckDBPyConnection, table: tuple[str, str, str] | None
    ) -> duckdb.DuckDBPyRelation:
        """Tables, and neither views nor functions of the database's own: these are queries, too, that nobody checked.

        The query runs beside the database, over a view of the one table: so names mean what they mean to DuckDB.
        """
        db.execute(f"ATTACH '{str(self.over).replace(chr(39), chr(39) * 2)}' AS _over (READ_ONLY)")
        confine(db)
        own = db.execute("SELECT lower(function_name) FROM duckdb_functions() WHERE NOT internal").fetchall()
        if hidden := sorted({name for (name,) in own} & built_in().keys()):
            raise DataError(
                f"{self.name}: the database has a function of its own that is called as one of DuckDB's, {hidden[0]}. "
                "Drop it in a copy of the database, and write out in the query what it does."
            )
        if table is not None:
            self._show(db, table)
        return db.sql(self._query.sql)

    def _show(self, db: duckdb.DuckDBPyConnection, table: tuple[str, str, str]) -> None:
        """Let a query see one table of the database, by the name that it has there."""
        tables = db.execute(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = '_over' AND NOT internal"
        ).fetchall()
        found = [each for each in tables if _same(table[1] or "main", each[0]) and _same(table[2], each[1])]
        if table[0] or not found:
            raise DataError(
                f"{self.name}: {_dotted(table)!r} is no table of the database. (A view is a query of its own: write it out, "
                "or make a table of it.)"
            )
        computed = db.execute(
            "SELECT generation_expression FROM information_schema.columns WHERE is_generated = 'ALWAYS' "
            "AND table_catalog = '_over' AND table_schema = ? AND table_name = ?",
            found[0],
        ).fetchall()
        for (expression,) in computed:
            RowWise(f"SELECT {expression} FROM source")  # it is worked out as the table is read: a part of the query
        name = ".".join(map(quote, found[0]))
        db.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(found[0][0])}; CREATE VIEW {name} AS FROM _over.{name}")

    def explain(self, error: Exception, schema: Schema | None) -> str:
        text = " Columns of a CSV file are texts here: use CAST." if self.over and ".csv" in self.over.name else ""
        return f"{self.name} failed ({type(error).__name__}). Run it in DuckDB to see why.{text}"


def _dotted(names: tuple[str, ...]) -> str:
    return ".".join(filter(None, names))


def _same(name: str, other: str) -> bool:
    return name.lower() == other.lower()


def _is_database(path: Path) -> bool:
    return path.suffix in (".duckdb", ".db", ".ddb")


def csv(path: str | Path, *, delimiter: str = ",") -> Source:
    """A CSV file as a table, with the delimiter that it uses."""
    return open_source(Path(path), delimiter=delimiter)


def sql(query: str, over: str | Path | None = None) -> Source:
    """A DuckDB query as a table; `over` is a DuckDB database, or a file or folder that the query calls `source`.

    The promise is for rows of the result: the query must make each of them from one private row. Joins, aggregates,
    DISTINCT, LIMIT, windows and the like let one row change or multiply others, no noise is calibrated for that, and they
    are refused. Without `over` the query names a file or folder itself (FROM 'people.parquet').
    """
    return Query(query, over)


def open_source(table: Any, *, delimiter: str = ",", query: str | None = None) -> Source:
    """Whatever the caller has, as a source."""
    if query is not None:
        return Query(query, table, delimiter)
    if isinstance(table, Source):
        return table
    if isinstance(table, str | os.PathLike):
        return _open_path(Path(table), delimiter)
    if isinstance(table, duckdb.DuckDBPyRelation):
        return Relation(table)
    if isinstance(table, ds.Dataset):
        return Files(table, "the dataset")
    if isinstance(table, pa.RecordBatch):
        return Frame(pa.Table.from_batches([table]))
    if isinstance(table, pa.RecordBatchReader | Iterator):
        raise UsageError(
            "a stream can be read only once, and a release may need to read the rows again. Pass a file, a frame, a "
            "dataset or a relation."
        )
    return Frame(table)


def open_schema(schema: Schema | str | Path) -> Schema:
    """A schema as callers pass it: itself, or the path of its TOML file."""
    if isinstance(schema, str | Path):
        return Schema.load(schema)
    if not isinstance(schema, Schema):
        raise UsageError(f"schema must be a Schema or the path of one, not {type(schema).__name__}.")
    return schema


def _open_path(path: Path, delimiter: str) -> Source:
    if not checked(path, DataError).exists():
        raise DataError(f"{path}: no such file.")
    if (
        len(delimiter) != 1
        or not (delimiter == "\t" or (delimiter.isascii() and delimiter.isprintable()))
        or delimiter == '"'
    ):
        raise UsageError(f"delimiter must be one character, such as ; or a tab ($'\\t'), not {delimiter!r}.")
    kinds = {".csv": "csv", ".tsv": "csv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet"}
    kinds |= {".arrow": "ipc", ".feather": "ipc", ".ipc": "ipc"}
    packed = path.suffix.lower() in PACKED and path.with_suffix("").suffix.lower() in (".csv", ".tsv", ".txt")
    kind = "csv" if packed else kinds.get(path.suffix.lower())
    if path.is_dir() and _images_inside(path):
        return Folder(path)
    if path.is_dir():
        inside = _kinds_inside(path, kinds)
        if len(inside) != 1:
            raise DataError(
                f"{path}: a folder must hold Parquet files, or Arrow files, and not both; or a folder of images for each "
                "class."
            )
        return Files.at(path, inside.pop())
    if kind == "csv":
        if ".tsv" in path.name.lower() and delimiter == ",":
            delimiter = "\t"
        return CsvFile(path, delimiter)
    if path.suffix.lower() in (".npz", ".npy"):
        return ArrayFile(path) if path.suffix.lower() == ".npz" else Arrays.at(path)
    if kind is None:
        raise DataError(
            f"{path}: the ending is not known. Known are .csv, .tsv, .csv.gz, .csv.zst, .parquet, .arrow and .feather; "
            "for images .npz and .npy, too."
        )
    return Files.at(path, kind)


def _kinds_inside(path: Path, kinds: Mapping[str, str]) -> set[str]:
    """The kinds of tables in a folder and in those below it, up to a number of files that no table has."""
    found: set[str] = set()
    seen = 0
    for _, _, files in os.walk(path):
        seen += len(files)
        if seen > _MOST_FILES:
            raise DataError(f"{path}: holds more than {_MOST_FILES:,} files. Name the folder of the table itself.")
        found |= {kinds.get(os.path.splitext(name)[1], "") for name in files}
    return found & {"parquet", "ipc"}


def _images_inside(path: Path) -> bool:
    try:
        return holds_images(path)
    except PermissionError:
        raise DataError(f"{path}: may not be read. Check its permissions.") from None
