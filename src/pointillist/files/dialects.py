"""Dialects: what differs between database servers. How a connection is asked for, a table looked up and kept as it is.

A new server is a class here and a scheme in `DIALECTS`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import unquote

from pointillist.errors import UsageError
from pointillist.files.urls import Url

OWN = ("table", "schema")
"""Parameters of a URL that are ours; the others are the driver's."""
Ask = Callable[..., list[tuple[Any, ...]]]
"""Runs SQL, with parameters, and gives its rows."""


@dataclass(frozen=True)
class Found:
    """A table as the server lists it."""

    name: str
    """In SQL, with its schema, quoted."""
    odd: str | None
    """What it is if it is no table, such as "a view"."""
    columns: Mapping[str, str]
    """What to select for each column: the column itself, or a cast to what Arrow knows."""
    comparable: Mapping[str, str] = field(default_factory=dict)
    """Of columns that may be compared with constants on the server: "integer" or "text"."""


class Dialect(ABC):
    """A kind of server."""

    scheme: ClassVar[str]
    """Of its URLs; also the name of the extra that brings the driver."""
    driver: ClassVar[str]
    credentials: ClassVar[str]
    """Where the user and the password may stand."""
    statement_options: ClassVar[Mapping[str, str]] = {}
    writes: ClassVar[bool] = False
    """Whether synthetic tables can be written there."""
    shows_all: ClassVar[bool] = False
    """Whether it is an error, and not a selection of rows, where a rule of the server hides rows from this user."""
    sign: ClassVar[str] = '"'
    """What names are quoted with."""

    def quote(self, name: str) -> str:
        """A name in SQL."""
        if "\0" in name or not name:
            raise UsageError("the name of a table or schema is empty, or holds a null character.")
        return self.sign + name.replace(self.sign, self.sign * 2) + self.sign

    def compared(self, column: str, sign: str, value: str) -> str:
        """A comparison of the server's own, in SQL."""
        return f"{column} {sign} {value}"

    @abstractmethod
    def options(self, url: Url, environment: Mapping[str, str]) -> dict[str, Any]:
        """What the driver's `connect` is called with."""

    @abstractmethod
    def find(self, ask: Ask, url: Url, schema: str | None, table: str) -> Found | None:
        """A table by its name, and its schema's; none if there is none."""

    @abstractmethod
    def snapshot(self, ask: Ask, run: Callable[[str], None]) -> str:
        """Begin to see the data as they are now, and no change to them; what is put behind a table's name for it."""

    def settle(self, run: Callable[[str], None]) -> None:
        """Once the table is found: let nothing but the server's own functions be called."""
        return


class PostgreSql(Dialect):
    """A transaction that repeats its reads is a snapshot: one connection, held over all passes."""

    scheme, driver = "postgresql", "adbc_driver_postgresql"
    credentials = "Set PGUSER and PGPASSWORD, or name a file of passwords in PGPASSFILE (by default ~/.pgpass)."
    statement_options: ClassVar[Mapping[str, str]] = {"adbc.postgresql.batch_size_hint_bytes": str(4 << 20)}
    writes = True
    shows_all = True

    _TABLE = """
        SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname::text = $1::text AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND CASE WHEN $2::text = '' THEN pg_catalog.pg_table_is_visible(c.oid) ELSE n.nspname::text = $2::text END
    """
    _COLUMNS = """
        WITH RECURSIVE base AS (
            SELECT attnum, attname::text AS name, atttypid AS kind, atttypmod AS modifier FROM pg_catalog.pg_attribute
            WHERE attrelid::int8 = $1::int8 AND attnum > 0 AND NOT attisdropped
            UNION ALL
            SELECT b.attnum, b.name, t.typbasetype, t.typtypmod FROM base b
            JOIN pg_catalog.pg_type t ON t.oid = b.kind WHERE t.typtype = 'd'
        )
        SELECT b.name, t.typname::text, t.typtype::text, b.modifier::int8
        FROM base b JOIN pg_catalog.pg_type t ON t.oid = b.kind WHERE t.typtype <> 'd' ORDER BY b.attnum
    """
    _COMPARABLE: ClassVar[Mapping[str, str]] = {
        "int2": "integer", "int4": "integer", "int8": "integer", "text": "text", "varchar": "text",
    }  # fmt: skip
    _ODD: ClassVar[Mapping[str, str]] = {"v": "a view", "m": "a materialised view", "f": "a foreign table"}

    def options(self, url: Url, environment: Mapping[str, str]) -> dict[str, Any]:
        url = url.without(*OWN)
        if url.parameter("connect_timeout") is None and "PGCONNECT_TIMEOUT" not in environment:
            url = Url(url.scheme, url.user, url.host, url.path, (*url.parameters, ("connect_timeout", "15")))
        return {"uri": url.secret}

    def find(self, ask: Ask, url: Url, schema: str | None, table: str) -> Found | None:
        found = ask(self._TABLE, table, schema or "")
        if not found:
            return None
        number, space, name, kind = found[0]
        listed = ask(self._COLUMNS, number)
        columns = {each: self._selected(each, *facts) for each, *facts in listed}
        comparable = {each: self._COMPARABLE[own] for each, own, *_ in listed if own in self._COMPARABLE}
        return Found(f"{self.quote(space)}.{self.quote(name)}", self._ODD.get(kind), columns, comparable)

    def _selected(self, name: str, kind: str, family: str, modifier: int) -> str:
        """A column in a type that Arrow has. Every cast looks at one value alone."""
        column = self.quote(name)
        if kind == "numeric":
            digits, scale = (modifier - 4 >> 16, (modifier - 4 & 0x7FF ^ 0x400) - 0x400) if modifier >= 4 else (99, 99)
            return f"{column}::int8" if scale <= 0 and digits - scale <= 18 else f"{column}::float8"
        if kind in ("date", "timestamp", "timestamptz"):  # what Arrow has no number for: infinity, and far-off years
            near = f"LEAST(GREATEST({column}, '0001-01-01'::{kind}), '9999-12-31'::{kind})"
            return f"CASE WHEN {column} IS NOT NULL THEN {near} END"
        if kind == "money":
            return f"{column}::numeric::float8"
        texts = ("uuid", "inet", "cidr", "macaddr", "macaddr8", "json", "jsonb", "xml", "name", "bpchar", "citext")
        return f"{column}::text" if family == "e" or kind in texts else column

    def snapshot(self, ask: Ask, run: Callable[[str], None]) -> str:
        run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        run("SET LOCAL row_security = off")  # rather an error than a selection of rows that nobody checked
        run("SET LOCAL TIME ZONE 'UTC'")
        run(
            "SET LOCAL idle_in_transaction_session_timeout = 0"
        )  # between passes it waits, and must not be ended for it
        return ""

    def compared(self, column: str, sign: str, value: str) -> str:
        return f"{column} OPERATOR(pg_catalog.{sign}) {value}"

    def settle(self, run: Callable[[str], None]) -> None:
        run("SET LOCAL search_path = pg_catalog")


class _TimeTravel(Dialect):
    """Servers that hold no transaction over two queries, but answer as of a stated moment, by their own clock."""

    _BASE = "BASE TABLE"

    @abstractmethod
    def _listed(self, url: Url, schema: str | None) -> tuple[str, str]:
        """Where tables are listed (the schema's name, quoted), and the schema's name as a parameter."""

    def find(self, ask: Ask, url: Url, schema: str | None, table: str) -> Found | None:
        place, space = self._listed(url, schema)
        this = f"table_schema = {_text(space)} AND table_name = {_text(table)}"
        kinds = ask(f"SELECT table_type FROM {place}.TABLES WHERE {this}")
        if not kinds:
            return None
        names = ask(f"SELECT column_name FROM {place}.COLUMNS WHERE {this} ORDER BY ordinal_position")
        odd = None if kinds[0][0] == self._BASE else f"of the kind {str(kinds[0][0]).lower()}"
        name = ".".join(map(self.quote, (*self._above(url), space, table)))
        return Found(name, odd, {each: self.quote(each) for (each,) in names})

    @abstractmethod
    def _above(self, url: Url) -> tuple[str, ...]:
        """What stands before the schema in a table's name."""


class Snowflake(_TimeTravel):
    """snowflake://account/database/schema?table=people&warehouse=…"""

    scheme, driver = "snowflake", "adbc_driver_snowflake"
    credentials = (
        "Set SNOWFLAKE_USER and SNOWFLAKE_PASSWORD, or name a private key's file in SNOWFLAKE_PRIVATE_KEY_PATH."
    )

    def options(self, url: Url, environment: Mapping[str, str]) -> dict[str, Any]:
        user, _, password = map(unquote, url.user.partition(":"))
        prefix = "adbc.snowflake.sql."
        key = environment.get("SNOWFLAKE_PRIVATE_KEY_PATH")
        options = {
            "username": user or environment.get("SNOWFLAKE_USER"),
            "password": None if key else password or environment.get("SNOWFLAKE_PASSWORD"),
            f"{prefix}account": url.host,
            f"{prefix}db": _parts(url, 2)[0],
            f"{prefix}schema": _parts(url, 2)[1],
            f"{prefix}warehouse": url.parameter("warehouse") or environment.get("SNOWFLAKE_WAREHOUSE"),
            f"{prefix}role": url.parameter("role") or environment.get("SNOWFLAKE_ROLE"),
            f"{prefix}auth_type": "auth_jwt" if key else None,
            f"{prefix}client_option.jwt_private_key": key,
        }
        return {"db_kwargs": {name: value for name, value in options.items() if value}}

    def _listed(self, url: Url, schema: str | None) -> tuple[str, str]:
        database, usual = _parts(url, 2)
        return f"{self.quote(database)}.INFORMATION_SCHEMA", schema or usual or "PUBLIC"

    def _above(self, url: Url) -> tuple[str, ...]:
        return (_parts(url, 2)[0],)

    def snapshot(self, ask: Ask, run: Callable[[str], None]) -> str:
        ((now,),) = ask("SELECT TO_VARCHAR(CURRENT_TIMESTAMP(), 'YYYY-MM-DD\"T\"HH24:MI:SS.FF9 TZHTZM')")
        return f" AT(TIMESTAMP => {_literal(now)}::TIMESTAMP_TZ)"


class BigQuery(_TimeTravel):
    """bigquery://project/dataset?table=people"""

    scheme, driver, sign = "bigquery", "adbc_driver_bigquery", "`"
    credentials = "Set GOOGLE_APPLICATION_CREDENTIALS to a file of credentials, or log in with gcloud."

    def quote(self, name: str) -> str:
        if "`" in name or "\\" in name:  # there is no way to write these that every name allows
            raise UsageError("the name of a table or data set holds ` or a backslash, which BigQuery has in none.")
        return super().quote(name)

    def options(self, url: Url, environment: Mapping[str, str]) -> dict[str, Any]:
        prefix = "adbc.bigquery.sql."
        options = {f"{prefix}project_id": url.host, f"{prefix}dataset_id": _parts(url, 1)[0]}
        return {"db_kwargs": {name: value for name, value in options.items() if value}}

    def _listed(self, url: Url, schema: str | None) -> tuple[str, str]:
        space = schema or _parts(url, 1)[0]
        return f"{self.quote(url.host)}.{self.quote(space)}.INFORMATION_SCHEMA", space

    def _above(self, url: Url) -> tuple[str, ...]:
        return (url.host,)

    def snapshot(self, ask: Ask, run: Callable[[str], None]) -> str:
        ((now,),) = ask("SELECT FORMAT_TIMESTAMP('%Y-%m-%d %H:%M:%E6S+00', CURRENT_TIMESTAMP())")
        return f" FOR SYSTEM_TIME AS OF TIMESTAMP {_literal(now)}"


def _parts(url: Url, count: int) -> list[str]:
    """The first parts of a URL's path; empty where there are fewer."""
    parts = [unquote(each) for each in url.path.strip("/").split("/")]
    return (parts + [""] * count)[:count]


def _text(name: str) -> str:
    """A name as a text in SQL: what would need signs of escape is refused, as servers differ in those."""
    if not name or not name.isprintable() or set(name) & set("'\"\\`"):
        raise UsageError(
            "the name of a table or schema is empty, or holds quotes, a backslash or signs that do not show."
        )
    return f"'{name}'"


def _literal(moment: Any) -> str:
    """A server's own time in SQL: signs of times and nothing else."""
    text = str(moment)
    if not text or not set(text) <= set("0123456789-+:.TZ "):
        raise UsageError("the server does not say what time it is, so its table cannot be kept as it is.")
    return f"'{text}'"


DIALECTS: Mapping[str, Dialect] = {each.scheme: each for each in (PostgreSql(), Snowflake(), BigQuery())}
