"""Server tables: tables of PostgreSQL, Snowflake and BigQuery, streamed as Arrow; and queries on them.

A pass must see each row once, and all passes of a release see the same rows: what is written to the table meanwhile is kept
out by the server, in a snapshot that is held from before the first pass until after the last.

A query is not sent to the server. It is checked like any other (`rowwise`) and run here, by DuckDB, over the columns that it
needs: so it means what was checked, whatever functions of its own a database has. Of its WHERE the server is told what it
cannot take in another sense (`where`), to send fewer rows.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import duckdb
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.files.dialects import DIALECTS, OWN, Found
from pointillist.files.servers import Server, server
from pointillist.files.urls import Url
from pointillist.reading.base import SOURCES, Report, Source, quote
from pointillist.reading.batches import BATCH_ROWS, rows_at_once
from pointillist.reading.connection import confine, connect, noted
from pointillist.reading.rowwise import RowWise
from pointillist.reading.where import Condition
from pointillist.schema import Schema


class _Snapshot:
    """A table as it is at one moment, over one connection."""

    def __init__(self, connection: Server, url: Url, schema: str | None, table: str, name: str):
        self._server = connection
        self._clause = connection.dialect.snapshot(connection.rows, connection.run)
        found = connection.dialect.find(connection.rows, url, schema, table)
        if found is None:
            raise DataError(
                f"{name}: there is no such table, or this user may not see it. Is the schema the right one?"
            )
        if found.odd is not None:
            raise DataError(
                f"{name}: is {found.odd}, and what that makes of private rows nobody has checked. Make a table of it, in "
                "which every row belongs to one person, and release that."
            )
        connection.dialect.settle(connection.run)
        self._table: Found = found

    @property
    def columns(self) -> list[str]:
        return list(self._table.columns)

    def _select(self, columns: list[str]) -> str:
        asked = ", ".join(f"{self._table.columns[name]} AS {self._server.dialect.quote(name)}" for name in columns)
        return f"SELECT {asked} FROM {self._table.name}{self._clause}"

    def _where(self, met: Sequence[Condition]) -> str:
        """Those conditions whose column is one of this table's, and holds what it is compared with."""
        dialect, told = self._server.dialect, []
        for each in met:
            names = [name for name in self._table.columns if name.lower() == each.column]
            if len(names) == 1 and self._table.comparable.get(names[0]) == each.kind:
                # Values are whole numbers, or texts without quotes and backslashes: they stand for themselves.
                values = [f"'{value}'" if each.kind == "text" else str(value) for value in each.values]
                any_of = (dialect.compared(dialect.quote(names[0]), each.sign, value) for value in values)
                told.append(f"({' OR '.join(any_of)})")
        return f" WHERE {' AND '.join(told)}" if told else ""

    def kinds(self, columns: list[str]) -> pa.Schema:
        return self._server.kinds(f"{self._select(columns)} LIMIT 0")

    def rows(self, columns: list[str], most: int, met: Sequence[Condition] = ()) -> Iterator[pa.RecordBatch]:
        """Some columns, in batches of at most so many rows; those that do not meet conditions may be left out."""
        for batch in self._server.stream(self._select(columns) + self._where(met)):
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most)


@SOURCES.register("server", place=5)
class ServerTable(Source):
    """A table of a database server."""

    def __init__(self, url: Url, table: str, schema: str | None = None, held: _Snapshot | None = None):
        self._url, self._schema, self._table, self._held = url, schema, table, held
        self.name = f"table {table!r} of {url}"
        self.whole = DIALECTS[url.scheme].shows_all

    @classmethod
    def suits(cls, table: Any) -> bool:
        return isinstance(table, Url) and table.scheme in DIALECTS

    @classmethod
    def opened(cls, table: Any, delimiter: str) -> "ServerTable":
        name = table.parameter("table")
        if not name:
            raise UsageError(
                f"{table}: name the table: {table.scheme}://…/…?table=people, and &schema=… if it needs one."
            )
        return cls(table, name, table.parameter("schema"))

    @contextmanager
    def held(self) -> Iterator[Self]:
        with self._snapshot() as snapshot:
            yield type(self)(self._url, self._table, self._schema, snapshot)

    @contextmanager
    def _snapshot(self) -> Iterator[_Snapshot]:
        if self._held is not None:
            yield self._held
            return
        with server(self._url.without(*OWN)) as connection:
            yield _Snapshot(connection, self._url, self._schema, self._table, self.name)

    def column_names(self) -> list[str]:
        with self._snapshot() as snapshot:
            return snapshot.columns

    def types(self) -> dict[str, pa.DataType]:
        return {field.name: field.type for field in self.kinds(self.column_names())}

    def kinds(self, columns: list[str]) -> pa.Schema:
        """Some columns, with their types."""
        with self._snapshot() as snapshot:
            return snapshot.kinds(columns)

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        yield from self.read_some(columns, schema, report, ())

    def read_some(
        self, columns: list[str], schema: Schema, report: Report, met: Sequence[Condition]
    ) -> Iterator[pa.RecordBatch]:
        """The same, perhaps without rows that do not meet all conditions."""
        with self._snapshot() as snapshot:
            yield from snapshot.rows(columns, rows_at_once(schema), met)
        report(1.0)

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        return self._stored(db, "{name}").query("source", sql)

    def numbered(self, db: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyRelation:
        return self._stored(db, "c{number}")

    def _stored(self, db: duckdb.DuckDBPyConnection, called: str) -> duckdb.DuckDBPyRelation:
        """The table in DuckDB, which keeps to its memory: a draft asks many questions, and the server is asked once."""
        failures: list[BaseException] = []
        with self._snapshot() as snapshot:
            columns = snapshot.columns
            kinds = snapshot.kinds(columns)
            names = [called.format(name=name, number=number) for number, name in enumerate(columns)]
            plain = pa.schema([field.with_name(name) for field, name in zip(kinds, names, strict=True)])
            rows = (batch.rename_columns(names) for batch in snapshot.rows(columns, BATCH_ROWS))
            try:
                db.from_arrow(pa.RecordBatchReader.from_batches(plain, noted(rows, failures))).create("_stored")
            except duckdb.Error:
                if failures:
                    raise failures[0] from None
                raise
        return db.table("_stored")


class ServerQuery(Source):
    """A query on one table of a server, which works row by row."""

    def __init__(self, table: ServerTable, query: RowWise):
        self._table, self._query, self.name = table, query, f"the query on {table.name}"

    @contextmanager
    def held(self) -> Iterator["ServerQuery"]:
        with self._table.held() as table:
            yield ServerQuery(table, self._query)

    def column_names(self) -> list[str]:
        with self._table.held() as table, connect() as db:
            kinds = table.kinds(self._query.needs(table.column_names()))
            return list(self._result(db, kinds, iter(())).columns)

    def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
        failures: list[BaseException] = []
        with self._table.held() as table, connect() as db:
            wanted = self._query.needs(table.column_names(), columns)
            kinds = table.kinds(wanted)
            rows = noted(table.read_some(wanted, schema, report, self._query.conditions), failures)
            try:
                asked = ", ".join(map(quote, columns))
                yield from self._result(db, kinds, rows).project(asked).to_arrow_reader(rows_at_once(schema))
            except (duckdb.Error, pa.ArrowException, OSError):
                if failures:
                    raise failures[0] from None
                raise

    def query(self, db: duckdb.DuckDBPyConnection, sql: str) -> duckdb.DuckDBPyRelation:
        self._table.query(db, "SELECT * FROM source")
        return self._run(db, db.table("_stored")).query("source", sql)

    def _result(
        self, db: duckdb.DuckDBPyConnection, kinds: pa.Schema, rows: Iterator[pa.RecordBatch]
    ) -> duckdb.DuckDBPyRelation:
        return self._run(db, db.from_arrow(pa.RecordBatchReader.from_batches(kinds, rows)))

    def _run(self, db: duckdb.DuckDBPyConnection, rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        """The query on rows, which have the name there that they have in it, and a schema if they have one."""
        confine(db)
        _, space, name = self._query.table or ("", "", "source")
        rows.create_view("_rows")
        place = f"{quote(space)}.{quote(name)}" if space else f"main.{quote(name)}"
        if space:
            db.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(space)}")
        db.execute(f"CREATE VIEW {place} AS FROM _rows")
        return db.sql(self._query.sql)

    def explain(self, error: Exception, schema: Schema | None) -> str:
        return (
            f"{self.name} failed ({type(error).__name__}). It is run by DuckDB, over the table's columns: try it there."
        )


def database(
    uri: str | Url, *, table: str | None = None, query: str | None = None, schema: str | None = None
) -> Source:
    """A table of a database server, or a query on one.

    Arguments:
        uri: "postgresql://host/database", "snowflake://account/database/schema" or "bigquery://project/dataset". Leave
            passwords out of it: PGPASSWORD, PGPASSFILE and the like are better places.
        table: the table's name, as it is; or the parameter `table` of the URI.
        query: instead of a table, one SELECT from one table. It must make every row of its result from one row, as for
            `pointillist.sql`: joins, aggregates, LIMIT and the like are refused. It is run here, not on the server.
        schema: the schema that the table is in; by default the one that the connection finds it in.

    A release sees the table as it was when the release began, in all its passes, whatever is written to it meanwhile.
    """
    url = uri if isinstance(uri, Url) else Url.parse(uri) if Url.is_one(uri) else None
    if url is None or url.scheme not in DIALECTS:
        known = ", ".join(f"{scheme}://" for scheme in DIALECTS)
        raise UsageError(f"a database is named by an address that begins with one of {known}.")
    table, schema = table or url.parameter("table"), schema or url.parameter("schema")
    if query is None:
        if table is None:
            raise UsageError(f"{url}: name a table, or a query on one.")
        return ServerTable(url, table, schema)
    return _queried(url, table, query, schema)


def _queried(url: Url, table: str | None, query: str, schema: str | None) -> ServerQuery:
    try:
        checked = RowWise(query)
    except duckdb.Error:
        raise UsageError(f"{url}: the query is no SQL that DuckDB can read.") from None
    if checked.table is None:
        raise UsageError(f"{url}: the query reads no table.")
    catalog, space, name = checked.table
    if catalog or (space and schema and space != schema):
        raise UsageError(f"{url}: the query names another database or schema than the address.")
    if table is not None and name.lower() not in ("source", table.lower()):
        raise UsageError(f"{url}: the query reads another table than the address names. Leave one of the two out.")
    return ServerQuery(ServerTable(url, table or name, schema or space or None), checked)
