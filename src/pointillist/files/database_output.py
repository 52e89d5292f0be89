"""Database output: a synthetic table as a table of a database, written in one transaction: whole or not at all.

A table that is there already is left alone. With leave to overwrite, one that was written here before is replaced, which is
told by its comment; any other stays, as a database is where the private tables are.
"""

import pyarrow as pa

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.dialects import DIALECTS, OWN
from pointillist.files.servers import Server, server
from pointillist.files.urls import Url

COMMENT = "synthetic rows, written by pointillist"
_EXISTS = """
    SELECT pg_catalog.obj_description(c.oid, 'pg_class')::text = $3::text
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname::text = $1::text AND c.relname::text = $2::text
"""
_MAY = """
    SELECT pg_catalog.has_schema_privilege(n.oid, 'CREATE') FROM pg_catalog.pg_namespace n WHERE n.nspname::text = $1::text
"""


def check(url: Url, *, overwrite: bool) -> None:
    """Refuse what could not be written, before anything is spent or computed for it."""
    schema, name = _place(url)
    with server(url.without(*OWN), ArtefactError) as connection:
        _check(connection, schema, name, overwrite)


def write(table: pa.Table, url: Url, *, overwrite: bool = False) -> None:
    """Write a table."""
    schema, name = _place(url)
    with server(url.without(*OWN), ArtefactError, writes=True) as connection:
        there = _check(connection, schema, name, overwrite)
        quoted = f"{connection.dialect.quote(schema)}.{connection.dialect.quote(name)}"
        if there:
            connection.run(f"DROP TABLE {quoted}")
        connection.fill(_plain(table), schema, name)
        connection.run(f"COMMENT ON TABLE {quoted} IS '{COMMENT}'")
        connection.commit()


def _place(url: Url) -> tuple[str, str]:
    """Schema and name of the table to write."""
    if not DIALECTS[url.scheme].writes:
        raise UsageError(f"{url}: synthetic tables cannot be written there. Write a Parquet file, and load that.")
    schema, name = url.parameter("schema"), url.parameter("table")
    if not schema or not name:
        raise UsageError(f"{url}: name schema and table to write: {url.scheme}://…/…?schema=synthetic&table=people.")
    return schema, name


def _check(connection: Server, schema: str, name: str, overwrite: bool) -> bool:
    """Whether there is a table to be replaced; what may not be written is refused."""
    may = connection.rows(_MAY, schema)
    if not may:
        raise ArtefactError(f"{connection.url}: has no schema {schema!r}. Make it first: CREATE SCHEMA.")
    if not may[0][0]:
        raise ArtefactError(
            f"{connection.url}: this user may not make tables in schema {schema!r}. Ask for the privilege."
        )
    there = connection.rows(_EXISTS, schema, name, COMMENT)
    if not there:
        return False
    if not overwrite:
        raise UsageError(f"{connection.url}: table {name!r} is there already. Name another, or pass --overwrite.")
    if not there[0][0]:
        raise UsageError(
            f"{connection.url}: table {name!r} is there already, and was not written by pointillist (its comment would say "
            "so). It is not replaced: drop it by hand, or name another."
        )
    return True


def _plain(table: pa.Table) -> pa.Table:
    """Without dictionaries, which drivers do not all write."""
    for number, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(number, field.name, table.column(number).cast(field.type.value_type))
    return table
