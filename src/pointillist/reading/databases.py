"""Databases: what DuckDB holds, as relations of the caller's or as the result of SQL."""

import copy
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pointillist.errors import DataError
from pointillist.files.paths import checked
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Report, Source, quote
from pointillist.reading.batches import rows_at_once
from pointillist.reading.connection import confine, connect
from pointillist.reading.opening import open_source
from pointillist.reading.rowwise import RowWise, built_in
from pointillist.schema import Schema


@SOURCES.register("relation", place=40)
class Relation(Source):
    """A DuckDB relation."""

    foreign = True

    def __init__(self, relation: duckdb.DuckDBPyRelation, name: str = "the relation"):
        self.relation, self.name = relation, name

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, duckdb.DuckDBPyRelation)

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "Relation":
        return cls(table)

    def column_names(self) -> list[str]:
        return list(self.relation.columns)

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        yield from self.relation.project(", ".join(quote(name) for name in columns)).to_arrow_reader(
            rows_at_once(schema)
        )
        report(1.0)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        return self.relation.query("source", sql)


class Query(Source):
    """The result of SQL, run by DuckDB on a table of a database file, or on a file or folder that SQL calls `source`.

    The promise is for rows of the result, so the query must work row by row: others are refused. While it runs, DuckDB may
    read this table and write to its own temporary folder, and nothing else.
    """

    def __init__(self, sql: str, over: str | Path | Url | None = None, delimiter: str = ","):
        self.delimiter = delimiter
        self.over = over if over is None or isinstance(over, Url) else Path(over)
        self._opened: Source | None = None
        self.name = "the query" if over is None else f"the query on {over}"
        with self.guard(None):
            self._query = RowWise(sql)

    def stamp(self) -> Hashable:
        if self.over is None:
            return None
        if isinstance(self.over, Path) and _is_database(self.over):
            facts = checked(self.over, DataError).stat()
            return facts.st_ino, facts.st_size, facts.st_mtime_ns
        return self._source(self.over).stamp()

    @contextmanager
    def held(self) -> Iterator[Source]:
        now = copy.copy(self)
        if self.over is not None and not _is_database(self.over):
            now._opened = self._source(self.over)  # of a table with several states, one
            now.version = now._opened.version
        with Source.held(now) as held:
            yield held

    def _source(self, over: Path | Url) -> Source:
        return self._opened or open_source(over, delimiter=self.delimiter)

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
        if isinstance(self.over, Path) and not checked(self.over, DataError).exists():
            raise DataError(f"{self.over}: no such file.")
        if self.over is not None and _is_database(self.over):
            return self._of_database(db, table)
        if table is None:
            confine(db)
            return db.sql(self._query.sql)
        over = self.over or Path(table[2])
        if any(table[:2]) or not (Path(table[2]).exists() if self.over is None else _same(table[2], "source")):
            known = "It must be a file or a folder" if self.over is None else "Call the table source"
            raise DataError(f"{self.name}: there is no {_dotted(table)!r} to read. {known}.")
        rows = self._source(over).query(db, "SELECT * FROM source")
        confine(db, *(each for each in (over,) if isinstance(each, Path)))
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


def sql(query: str, over: str | Path | None = None) -> Source:
    """A DuckDB query as a table; `over` is a DuckDB database, or a file, folder or address that the query calls `source`.

    The promise is for rows of the result: the query must make each of them from one private row. Joins, aggregates,
    DISTINCT, LIMIT, windows and the like let one row change or multiply others, no noise is calibrated for that, and they
    are refused. Without `over` the query names a file or folder itself (FROM 'people.parquet').
    """
    return open_source(over, query=query)


def _dotted(names: tuple[str, ...]) -> str:
    return ".".join(filter(None, names))


def _same(name: str, other: str) -> bool:
    return name.lower() == other.lower()


def _is_database(path: Path | Url) -> bool:
    return isinstance(path, Path) and path.suffix in (".duckdb", ".db", ".ddb")
