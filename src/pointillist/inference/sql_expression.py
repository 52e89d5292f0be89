"""Expression: a formula over the columns of a table, such as `income / hours`, written in SQL and worked out by DuckDB.

A formula makes one value of each row. It can neither read files nor change settings: it is parsed before it is run, only
columns, constants and plain functions of them are let through, and it runs in a database of its own without access to
anything outside.

A column's name may always stand in double quotes or in back-ticks. It needs neither where it cannot be taken for anything
else: so a column may be called `lambda` or `flc.grp`, but one called `and` or `my col` is quoted.
"""

import atexit
import difflib
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Self

import duckdb
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.reading.allowed_sql import ALLOWED
from pointillist.sampling.recoding import numbers_of
from pointillist.schema import kind_of_type
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_HEAD, _TAIL = "SELECT (", "\n) AS value FROM source"
_PLAIN = {
    "BETWEEN", "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "OPERATOR", "TYPE",
}  # fmt: skip
_NAMES = {"SUBQUERY": "a subquery", "WINDOW": "a window function", "STAR": "*", "LAMBDA": "a lambda"}
_MOST_SHOWN = 12
_SYNTAX = {
    "all", "and", "any", "array", "as", "between", "case", "cast", "collate", "distinct", "else", "end", "false", "for",
    "from", "glob", "ilike", "in", "interval", "is", "isnull", "like", "not", "notnull", "null", "or", "similar", "some",
    "then", "to", "true", "try_cast", "when",
}  # fmt: skip
"""Words that formulas are made of: they stand for columns only in quotes."""
_TOKEN = re.compile(
    r"""
    (?P<whole>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "(?:[^"]|"")*" | \$\$.*?\$\$ | --[^\n]* | /\*.*?\*/)
    | `(?P<ticked>(?:[^`]|``)*)`
    | (?P<run>[\w.]+)(?P<call>\s*\()?
    """,
    re.VERBOSE | re.DOTALL,
)
_MOST_CHARACTERS = 10_000
_MOST_SECONDS = 60
_PLACE = {"query_location", "query_location_length"}


@dataclass(frozen=True, eq=False)
class Function:
    """A number for each row of a table, whatever makes it."""

    name: str
    call: Callable[[pa.Table], Floats]
    columns: frozenset[str] | None
    """The columns that it reads; none if that is not known."""
    column: Levels | None = None
    """The numeric column of a release that it is, if it is one as it stands."""

    def __call__(self, table: pa.Table) -> Floats:
        return self.call(table)

    @classmethod
    def of_column(cls, levels: Levels) -> Self:
        """A numeric column of a release, counted as its levels are."""
        return cls(levels.name, lambda table: numbers_of(levels, table[levels.name]), frozenset({levels.name}), levels)

    def both(self, other: "Function") -> "Function":
        """Of two conditions the one that both hold."""
        columns = None if self.columns is None or other.columns is None else self.columns | other.columns
        return Function(f"{self.name} and {other.name}", lambda table: self(table) * other(table), columns)

    def after(self, step: Callable[[pa.Table], pa.Table]) -> "Function":
        """The same of rows as they are before a step."""
        return Function(self.name, lambda table: self(step(table)), None)


ALL_ROWS = Function("", lambda table: np.ones(table.num_rows), frozenset())
"""The condition that all rows meet."""


@dataclass(frozen=True)
class Expression:
    """A formula that was understood."""

    text: str
    columns: frozenset[str]
    """The columns that it reads."""
    sql: str
    """The same, as the database reads it."""

    @classmethod
    def parse(cls, text: str, known: Sequence[str], *, within: str | None = None, offset: int = 0) -> Self:
        """Understand a formula over known columns. Errors count positions in `within`, where it begins at `offset`."""
        where = _Place(text if within is None else within, offset)
        if len(text) > _MOST_CHARACTERS:
            raise UsageError(f"an expression has {_MOST_CHARACTERS:,} characters at most, not {len(text):,}.")
        if not text.strip():
            raise UsageError(f"an expression is missing{where.at(0)}. Columns: {listed(known)}.")
        try:
            written = _as_sql(text, known)
            parsed = _parsed(f"{_HEAD}{written.text}{_TAIL}")
        except (duckdb.Error, UnicodeError):  # what is not Unicode never reaches the parser
            raise UsageError(f"{text.strip()!r} holds characters that are no text.") from None
        except RecursionError:
            raise UsageError("an expression is nested too deep. Take some brackets or functions out of it.") from None
        if parsed["error"]:
            place = int(parsed.get("position", len(_HEAD))) - len(_HEAD)
            hint = f" {meant(text, '', known)}".rstrip()
            if place > len(written.text):
                end = where.at(len(text))
                raise UsageError(
                    f"the expression {text.strip()!r} is not complete{end}, or has a bracket too many.{hint}"
                )
            at = where.at(written.place(place))
            raise UsageError(f"the expression {text.strip()!r} is not well formed{at}.{hint}")
        rest, node = _taken_apart(parsed)
        if rest != _taken_apart(_parsed(f"{_HEAD}1{_TAIL}"))[0]:
            raise UsageError(f"{text.strip()!r} is more than one expression. Write one formula over columns.")
        columns = set()
        for each in _walk(node):
            place = written.place(int(each.get("query_location", 0)) - len(_HEAD))
            if each["class"] not in _PLAIN:
                what = _NAMES.get(each["class"], each["class"].lower())
                raise UsageError(
                    f"{what} cannot be part of an expression{where.at(place)}. Use columns and functions of one row."
                )
            if each["class"] == "COLUMN_REF":
                columns.add(_column(each["column_names"], text, known, where.at(place)))
            if each["class"] == "FUNCTION":
                _require_plain(str(each["function_name"]), where.at(place))
        return cls(text.strip(), frozenset(columns), written.text.strip())

    def evaluate(self, table: pa.Table) -> pa.ChunkedArray:
        """A value for each row of a table."""
        columns = sorted(self.columns) or table.column_names[:1]
        with _database().cursor() as db:
            db.register("source", table.select(columns))
            watch = threading.Timer(_MOST_SECONDS, db.interrupt)
            watch.start()
            try:
                found = db.sql(f"{_HEAD}{self.sql}{_TAIL}").to_arrow_table()["value"]
            except duckdb.InterruptException:
                raise UsageError(
                    f"{self.text!r} takes longer than {_MOST_SECONDS} seconds to work out. Make it simpler."
                ) from None
            except duckdb.Error as error:
                raise UsageError(f"{self.text!r} cannot be worked out: {_first_line(error)}") from None
            finally:
                watch.cancel()
        if len(found) != table.num_rows:
            raise UsageError(f"{self.text!r} does not make one value of each row.")
        return found if isinstance(found, pa.ChunkedArray) else pa.chunked_array([found])

    @property
    def number(self) -> Function:
        """A number for each row; NaN where there is none. A column by itself is called by its plain name."""
        plain = unquoted(self.text)
        return Function(plain if self.columns == {plain} else self.text, self.numbers, self.columns)

    @property
    def event(self) -> Function:
        """1 for every row that meets a condition, 0 for the others."""
        return Function(self.text, lambda table: self.holds(table).astype(np.float64), self.columns)

    def numbers(self, table: pa.Table) -> Floats:
        """A number for each row; NaN where there is none."""
        return as_numbers(self.evaluate(table), repr(self.text))

    def holds(self, table: pa.Table) -> NDArray[np.bool_]:
        """For which rows a condition holds; what is unknown does not."""
        found = self.evaluate(table)
        if not pa.types.is_boolean(found.type):
            raise UsageError(f"{self.text!r} is not a condition: it makes {found.type}, not true or false.")
        return np.asarray(found.fill_null(False).to_numpy(), dtype=bool)


def as_numbers(array: pa.ChunkedArray | pa.Array, what: str) -> Floats:
    """Numbers as floats: true is 1, dates count in days and times in seconds from 1970; NaN where there is no number."""
    array = kind_of_type(array.type).counted(array)
    kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif not (
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_null(kind)
    ):
        raise UsageError(
            f"{what} is not a number: its values are of type {kind}. Compare it with a value, such as = 'a'."
        )
    floats = array.cast(pa.float64(), safe=False)  # beyond 2^53 it is rounded
    found = np.asarray(floats.fill_null(np.nan).to_numpy(), dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)


@dataclass(frozen=True)
class _Place:
    """Where in a text a formula stands."""

    text: str
    offset: int

    def at(self, place: int) -> str:
        position = min(max(place, 0) + self.offset, len(self.text))
        rest = self.text[position:].strip()
        return f" at position {position + 1}" + (f" (before {rest[:20]!r})" if rest else " (the end)")


@dataclass(frozen=True)
class _Sql:
    """A formula as the database reads it."""

    text: str
    places: tuple[int, ...]
    """For each sign of it, and for its end, where that stands in what the user wrote."""

    def place(self, position: int) -> int:
        """Where a position of the SQL stands in what the user wrote."""
        return self.places[min(max(position, 0), len(self.text))]


def _as_sql(text: str, known: Sequence[str]) -> _Sql:
    """A formula with the names of columns in double quotes wherever the names alone would not be understood."""
    names = {each.lower(): each for each in known}
    written, places, begun = "", [], 0
    for token in _TOKEN.finditer(text):
        name = token["ticked"].replace("``", "`") if token["ticked"] is not None else None
        if token["run"] and not token["call"] and not _is_number(token["run"]):
            run = token["run"].lower()
            if run in names and run not in _SYNTAX and not _plain(token["run"]):
                name = token["run"]
        if name is not None:
            end = token.end("run") if token["run"] else token.end()
            written += text[begun : token.start()] + quoted(name)
            places += [*range(begun, token.start()), *[token.start()] * len(quoted(name))]
            begun = end
    return _Sql(written + text[begun:], (*places, *range(begun, len(text) + 1)))


def quoted(name: str) -> str:
    """A column's name as it is written in a formula."""
    return '"' + name.replace('"', '""') + '"'


def unquoted(written: str) -> str:
    """A name without the quotes or back-ticks that it may stand in."""
    sign = written[:1]
    if len(written) > 1 and sign in ('"', "`") and written[-1] == sign:
        return written[1:-1].replace(sign * 2, sign)
    return written


def listed(names: Sequence[str]) -> str:
    """Names for a message: the first few of many."""
    more = f", ... ({len(names)})" if len(names) > _MOST_SHOWN else ""
    return ", ".join(names[:_MOST_SHOWN]) + more


def column_of(name: str, known: Sequence[str]) -> str | None:
    """The column that a name stands for; upper and lower case are the same unless both are there."""
    fits = [each for each in known if each == name] or [each for each in known if each.lower() == name.lower()]
    return fits[0] if fits else None


def meant(text: str, name: str, known: Sequence[str]) -> str:
    """A hint at the column that was probably meant by a name within a text, if there is one."""
    if name in known:  # in parts, each in quotes of its own
        return f"Write {quoted(name)}, with one pair of quotes. "
    bare = _TOKEN.sub(lambda token: token[0] if token["run"] else " ", text)
    for each in sorted(known, key=len, reverse=True):
        needs = each.lower() in _SYNTAX or not re.fullmatch(r"[\w.]+", each)
        if needs and re.search(rf"(?<!\w){re.escape(each)}(?!\w)", bare, re.IGNORECASE):
            return f"Did you mean {quoted(each)}? Such a name goes in double quotes or back-ticks. "
    near = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {near[0]!r}? " if near else ""


def _is_number(run: str) -> bool:
    return run[0] in ".0123456789" and re.fullmatch(r"(\d+\.?\d*|\.\d+)(e\d*)?", run, re.IGNORECASE) is not None


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """A database in memory that reaches nothing outside. Every use has a cursor of its own."""
    settings = {
        "enable_external_access": "false",
        "memory_limit": "512MB",
        "temp_directory": "",  # nothing is spilled: it would land in the folder that the program was called from
        "threads": "1",
        "lock_configuration": "true",
    }
    atexit.register(_close)
    return duckdb.connect(":memory:", config=settings)


def _close() -> None:
    """Leave nothing open when the program ends."""
    _database().close()
    _database.cache_clear()


@lru_cache(maxsize=256)
def _serialised(sql: str) -> str:
    with _database().cursor() as db:
        row = db.execute("SELECT json_serialize_sql(?)", [sql]).fetchone()
    assert row is not None
    return str(row[0])


def parts_of(expression: Expression) -> Iterator[dict[str, Any]]:
    """Every part of a formula, as the database takes it apart."""
    return _walk(_taken_apart(_parsed(f"{_HEAD}{expression.sql}{_TAIL}"))[1])


def _parsed(sql: str) -> dict[str, Any]:
    return json.loads(_serialised(sql))


def _taken_apart(parsed: dict[str, Any]) -> tuple[str, Any]:
    """A statement without its one formula, for comparison; and the formula."""
    statements = [each["node"] for each in parsed["statements"]]
    formulas = [each.pop("select_list", []) for each in statements]
    rest = json.dumps([[_unplaced(each), len(formula)] for each, formula in zip(statements, formulas, strict=True)])
    return rest, formulas[0]


def _unplaced(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {key: _unplaced(value) for key, value in node.items() if key not in _PLACE}
    return [_unplaced(each) for each in node] if isinstance(node, list) else node


def _walk(node: Any) -> Iterator[dict[str, Any]]:
    """Every part of a formula that has a class."""
    if isinstance(node, dict):
        if "class" in node:
            yield node
        for value in node.values():
            yield from _walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from _walk(value)


def _column(path: list[str], text: str, known: Sequence[str], place: str) -> str:
    name = ".".join(path)
    column = column_of(name, known) if len(path) == 1 else None
    if column is None:
        raise UsageError(
            f"{name!r} is not a column{place}. {meant(text, name, known)}Columns: {listed(known)}. (A text goes in single "
            f"quotes: '{name}'.)"
        )
    return column


@cache
def _plain(name: str) -> bool:
    """Whether the database takes a word for the name of a column."""
    parsed = _parsed(f"SELECT ({name})")
    return not parsed["error"] and _taken_apart(parsed)[1][0].get("column_names") == [name]


@cache
def _functions(name: str) -> tuple[tuple[str, str | None], ...]:
    """The kinds of function that a name stands for, and whether they give the same every time."""
    with _database().cursor() as db:
        found = db.execute(
            "SELECT DISTINCT function_type, stability FROM duckdb_functions() WHERE function_name = ?", [name.lower()]
        ).fetchall()
    return tuple((str(kind), stability) for kind, stability in found)


def _require_plain(name: str, place: str) -> None:
    found = _functions(name)
    if not found:
        raise UsageError(f"there is no function {name!r}{place}.")
    if any(kind == "aggregate" for kind, _ in found):
        raise UsageError(f"{name!r} is an aggregate{place}: an expression makes one value of each row.")
    plain = any(kind in ("scalar", "macro") and stability in (None, "CONSISTENT") for kind, stability in found)
    if not plain or name.lower() not in ALLOWED:
        raise UsageError(f"the function {name!r} cannot be part of an expression{place}.")


def _first_line(error: Exception) -> str:
    line = str(error).splitlines()[0]
    return line.split(": ", 1)[-1] if ": " in line else line
