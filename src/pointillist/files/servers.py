"""Servers: connections to databases, through ADBC drivers, and what went wrong there in words of ours.

A driver's message may quote a value, a user's name or a whole query, so none is passed on: what it is about is looked for in
it, by the code that SQL has for errors or by words, and said anew.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

import pyarrow as pa

from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.files.dialects import DIALECTS, Dialect
from pointillist.files.urls import Url

_SIGNS = (
    (("28P01", "28000", "password authentication", "no password supplied", "authentication failed"), "password"),
    (("3D000", 'database "'), "database"),
    (("42P01",), "table"),
    (("42501",), "permission"),
    (("22",), "value"),
    (("invalid uri query parameter", "invalid connection option"), "parameter"),
    (("57P", "08", "terminating connection", "closed the connection", "no connection to"), "lost"),
    (("53100",), "disk"),
)
"""What to look for, at the start of SQL's code or anywhere in the words, and what it is about."""
_WORDS = {
    "password": "the server takes neither this user nor this password. {credentials}",
    "database": "the server has no such database. Correct the address.",
    "table": "there is no such table, or it was dropped while it was read.",
    "permission": "this user may not do that there, or only with some of the rows (row security). Ask for the privilege.",
    "value": "a value cannot be converted. Store the column as another type, or leave it out.",
    "parameter": "the address has a parameter that the driver does not know. Leave it out.",
    "lost": "the server ended the connection. Try again once it is up.",
    "disk": "the server has no space left.",
    "reach": "the server cannot be reached. Check host and port, and that it is running and lets this machine in.",
    "else": "the server refused what it was asked{code}. Its own log says why.",
}


class Server:
    """An open connection."""

    def __init__(self, url: Url, dialect: Dialect, connection: Any, refusal: type[PointillistError]):
        self.url, self.dialect, self.connection, self.refusal = url, dialect, connection, refusal

    def run(self, sql: str) -> None:
        """A statement that returns nothing."""
        with self.explained(), self.connection.cursor() as cursor:
            cursor.execute(sql)

    def rows(self, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """The rows of a small result."""
        with self.explained(), self.connection.cursor() as cursor:
            cursor.execute(sql, parameters or None)
            return [tuple(row) for row in cursor.fetchall()]

    def kinds(self, sql: str) -> pa.Schema:
        """The columns of a result that is not fetched."""
        with self.explained(), self.connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetch_record_batch().schema

    def stream(self, sql: str) -> Iterator[pa.RecordBatch]:
        """A large result, as it comes in."""
        with self.explained(), self.connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**self.dialect.statement_options)
            cursor.execute(sql)
            with cursor.fetch_record_batch() as reader:
                yield from reader

    def fill(self, table: pa.Table, schema: str | None, name: str) -> None:
        """A new table with these rows."""
        with self.explained(), self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="create", db_schema_name=schema)

    def commit(self) -> None:
        """Keep what was written."""
        with self.explained():
            self.connection.commit()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Replace a driver's errors by ours."""
        with _explained(self.url, self.dialect, self.refusal):
            yield


@contextmanager
def server(url: Url, refusal: type[PointillistError] = DataError, *, writes: bool = False) -> Iterator[Server]:
    """A connection to the server of a URL, closed afterwards; what is written is kept only by `commit`."""
    dialect = DIALECTS[url.scheme]
    driver = _driver(dialect)
    with _explained(url, dialect, refusal):
        connection = driver.connect(**dialect.options(url, os.environ), autocommit=not writes)
    try:
        yield Server(url, dialect, connection, refusal)
    finally:
        with suppress(Exception):  # whatever it says about an end that was asked for
            connection.close()


def _driver(dialect: Dialect) -> Any:
    try:
        return import_module(f"{dialect.driver}.dbapi")
    except ImportError:
        raise UsageError(
            f"{dialect.scheme}://: {dialect.driver} is needed to reach it: pip install 'pointillist[{dialect.scheme}]'."
        ) from None


@contextmanager
def _explained(url: Url, dialect: Dialect, refusal: type[PointillistError]) -> Iterator[None]:
    from adbc_driver_manager import Error

    try:
        yield
    except (Error, pa.ArrowException, OSError) as error:
        code, text = str(getattr(error, "sqlstate", None) or ""), str(error).lower()
        about = subject(code, text)
        shown = f" ({code})" if len(code) == 5 and code.isalnum() else ""
        words = _WORDS[about].format(credentials=dialect.credentials, code=shown)
        raise refusal(f"{url}: {words}") from None


def subject(code: str, text: str) -> str:
    """What an error is about, by its code and by what its text says in lower case."""
    for signs, about in _SIGNS:
        codes = tuple(sign for sign in signs if sign[0].isdigit())
        words = (sign for sign in signs if not sign[0].isdigit())
        if code.startswith(codes) if code else any(word in text for word in words):
            return about
    return "else" if code else "reach"
