"""Drafting: a first schema, read off the data, for the owner to review.

Everything found here is private until a person says otherwise. So the draft is marked as one, each fact that came from
the rows is named, bounds are rounded outwards, and a release refuses the draft as it stands.
"""

import datetime as dt
import math
from typing import Any

import duckdb
from pydantic import ValidationError

from pointillist.curator.datetime_drafting import iso_format, other_format, stored_as
from pointillist.curator.image_drafting import draft_images
from pointillist.curator.repetition import repeating
from pointillist.errors import DataError, UsageError, without_context
from pointillist.reading.database import connect
from pointillist.reading.source import Source
from pointillist.reading.tables import open_source
from pointillist.schema import (
    MISSING_TEXTS,
    Boolean,
    Categorical,
    Column,
    Datetime,
    Ignore,
    Integer,
    Person,
    Real,
    Schema,
)

_MOST_CATEGORIES = 60
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_LARGEST = 2**53 - 1
_MOST_DECIMALS, _USUAL = 12, 0.95
_DOUBLE_NOISE, _FLOAT_NOISE = 4 * 2.0**-52, 4 * 2.0**-23
"""How far a number may lie from the one that was meant, relative to it: a few last places of its type."""
# What a column of texts may be read as, most special first; a leading zero makes a code, not a number.
_READINGS = (
    ("BIGINT", r"regexp_matches(x, '^[+-]?(0|[1-9]\d*)$') AND TRY_CAST(x AS BIGINT) IS NOT NULL"),
    ("DOUBLE", "TRY_CAST(x AS DOUBLE) IS NOT NULL AND NOT regexp_matches(x, '^[+-]?0[0-9]')"),
    ("BOOLEAN", "lower(x) IN ('true', 'false')"),
    ("DATE", r"regexp_matches(x, '^\d{4}-\d{2}-\d{2}$') AND TRY_CAST(x AS DATE) IS NOT NULL"),
    ("TIMESTAMP", r"regexp_matches(x, '^\d{4}-\d{2}-\d{2}[ T]\d') AND TRY_CAST(x AS TIMESTAMP) IS NOT NULL"),
)


@without_context
def draft(table: Any, *, name: str, person: Person | None = None) -> Schema:
    """A draft schema for a table. It is not private: review it before use."""
    if not 0 < len(name) <= 200:
        raise UsageError("the data set's name must have from 1 to 200 characters.")
    source = open_source(table)
    with source.guard(None):
        names = source.column_names()
    hint = source.hint()
    if not names or "--delimiter" in hint:
        raise DataError(f"{source.name}: has {'one column only' if names else 'no columns'}. {hint}")
    source.require([*names, *([person.column] if person else [])])
    columns, count = draft_images(source, person) or _table(source, names, person)
    facts = {
        "name": name,
        "reviewed": False,
        "read_from_data": ("rows",),
        "rows": math.ceil(_round_out(count, up=True)),
        "columns": columns,
    }
    return Schema.parse({**facts, "person": person}, origin="the draft")


def _table(source: Source, names: list[str], person: Person | None) -> tuple[dict[str, Any], int]:
    """Columns of a draft for a table, and its number of rows."""
    with source.guard(None), connect() as db:
        rows = source.numbered(db)
        count = int(rows.aggregate("count(*)").fetchall()[0][0])
        if count == 0:
            raise DataError(f"{source.name}: has no rows to draft a schema from.")
        columns: dict[str, Any] = {}
        types = source.types()
        for number, (column, kind) in enumerate(zip(names, rows.types, strict=True)):
            if person is not None and column == person.column:
                columns[column] = Ignore(description="names the person")
            else:
                drafted = _column(rows.project(f"c{number} AS x"), str(kind), count, source.untyped)
                columns[column] = stored_as(drafted, types.get(column))
        for column, each in repeating(rows, columns, count).items() if person is None else ():
            columns[column] = Ignore(
                description="its values repeat, as those of people with several rows do; if they name people, draft again "
                f"with --person {column} --max-rows N, so that a whole person is protected and not one row",
                repeats=max(2, each),
                read_from_data=("kind", "repeats"),
            )
    if all(isinstance(column, Ignore) for column in columns.values()):
        raise DataError(f"{source.name}: no column looks usable: all are empty, texts without end, or identifiers.")
    return columns, count


def _column(rows: duckdb.DuckDBPyRelation, kind: str, count: int, untyped: bool) -> Column:
    if untyped or kind == "VARCHAR":
        missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
        rows = rows.filter(f"trim(x::VARCHAR) NOT IN ({missing})")
    rows = rows.filter("x IS NOT NULL")
    if untyped and (form := other_format(rows)):
        kind = "TIMESTAMP" if "%M" in form else "DATE"
        moments = rows.project(f"strptime(trim(x), '{form}')::{kind} AS x")
        return _written(_datetime(moments, kind, _fewer(rows, count)), form)
    texts = rows
    if untyped:
        kind = next((reading for reading, test in _READINGS if _holds(rows, test)), "VARCHAR")
        rows = rows.project(f"trim(x)::{kind} AS x") if kind != "VARCHAR" else rows
    try:
        drafted = _drafted(rows, kind, count)
    except ValidationError:
        return _ignored("its values fit no kind as they are; set one by hand if it should be used")
    return _written(drafted, iso_format(texts)) if untyped and kind == "TIMESTAMP" else drafted


def _written(drafted: Column, form: str | None) -> Column:
    """A drafted column of dates or times with the format that they are written in."""
    if not isinstance(drafted, Datetime) or form is None:
        return drafted
    return drafted.model_copy(update={"format": form, "read_from_data": (*drafted.read_from_data, "format")})


def _holds(rows: duckdb.DuckDBPyRelation, test: str) -> bool:
    return bool(rows.aggregate(f"coalesce(bool_and({test.replace('(x', '(trim(x)')}), false)").fetchall()[0][0])


def _fewer(rows: duckdb.DuckDBPyRelation, count: int) -> bool:
    return int(rows.aggregate("count(x)").fetchall()[0][0]) < count


def _ignored(why: str) -> Ignore:
    return Ignore(description=why, read_from_data=("kind",))


def _drafted(rows: duckdb.DuckDBPyRelation, kind: str, count: int) -> Column:
    filled, distinct = rows.aggregate("count(x), count(DISTINCT x)").fetchall()[0]
    missing = filled < count
    if filled == 0:
        return _ignored("has no values at all")
    if kind == "BOOLEAN":
        return Boolean(missing=missing, read_from_data=("kind", "missing"))
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return _datetime(rows, kind, missing)
    if kind in _WHOLE:
        return _integer(rows, missing, distinct, filled)
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return _real(rows.project("x::DOUBLE AS x"), missing, _FLOAT_NOISE if kind == "FLOAT" else _DOUBLE_NOISE)
    if kind != "VARCHAR" and not kind.startswith("ENUM"):
        return _ignored(f"is of type {kind.split('(', maxsplit=1)[0].lower()}, which no kind can hold")
    if distinct > _MOST_CATEGORIES:
        return _ignored("many different texts, perhaps names or free text; list its categories if it should be used")
    texts = sorted(str(row[0]) for row in rows.distinct().fetchall())
    label = "other"
    while label in texts:
        label = f"({label})"
    return Categorical(
        categories=tuple(texts),
        other_label=label,
        missing=missing,
        read_from_data=("kind", "categories", "missing", *(("other_label",) if label != "other" else ())),
    )


def _integer(rows: duckdb.DuckDBPyRelation, missing: bool, distinct: int, filled: int) -> Column:
    if distinct == filled and filled > 100:
        return _ignored("every value is different, perhaps an identifier; set a kind if it should be used")
    if distinct <= 2:
        values = sorted(int(row[0]) for row in rows.distinct().fetchall())
        # A column of numbers has no room for a label: without missing values, an unlisted one must stop the call.
        rule: Any = {} if missing else {"out_of_domain": "error"}
        return Categorical(
            categories=tuple(values), missing=missing, read_from_data=("kind", "categories", "missing"), **rule
        )
    if int(rows.aggregate("max(abs(x::HUGEINT))").fetchall()[0][0]) > _LARGEST:
        return _ignored("numbers beyond 2^53, perhaps an identifier; set a kind if it should be used")
    low, high, special, scale, facts = _range(rows)
    return Integer(
        min=max(-_LARGEST, math.floor(low)), max=min(_LARGEST, math.ceil(high)), missing=missing,
        special=tuple(int(v) for v in special), scale=scale, read_from_data=("kind", "min", "max", "missing", *facts),
    )  # fmt: skip


def _real(rows: duckdb.DuckDBPyRelation, missing: bool, noise: float) -> Column:
    finite = rows.filter("isfinite(x)")
    nan = bool(rows.filter("isnan(x)").limit(1).fetchall())
    if not finite.limit(1).fetchall():
        return _ignored("has no finite values")
    low, high, special, scale, facts = _range(finite)
    decimals = _decimals(finite, noise)
    facts += ("decimals",) if decimals is not None else ()
    return Real(
        min=float(low), max=float(high), special=special, scale=scale, decimals=decimals, missing=missing or nan,
        read_from_data=("kind", "min", "max", "missing", *facts),
    )  # fmt: skip


def _decimals(rows: duckdb.DuckDBPyRelation, noise: float) -> int | None:
    """Digits after the point that are enough for all but one in twenty values; none if more are usual than can be kept.

    What lies nearer to a short number than its type can tell apart is that number: 0.1 + 0.2 has one decimal.
    """
    tests = " ".join(
        f"WHEN abs(round(x, {digits}) - x) <= {noise} * abs(x) THEN {digits}" for digits in range(_MOST_DECIMALS + 1)
    )
    beyond = _MOST_DECIMALS + 1
    usual = rows.aggregate(f"quantile_disc(CASE {tests} ELSE {beyond} END, {_USUAL})").fetchall()[0][0]
    return None if usual == beyond else int(usual)


def _range(rows: duckdb.DuckDBPyRelation) -> tuple[float, float, tuple[float, ...], Any, tuple[str, ...]]:
    """Bounds rounded outwards, zero as an atom if it is frequent, a log scale for a long tail; and which were found."""
    zeros, distinct = rows.aggregate("avg((x = 0)::INTEGER), count(DISTINCT x)").fetchall()[0]
    special: tuple[float, ...] = ()
    if zeros > 0.05 and distinct > 32:
        special, rows = (0.0,), rows.filter("x <> 0")
    low, high, middle = (float(v) for v in rows.aggregate("min(x), max(x), median(x::DOUBLE)").fetchall()[0])
    log = low > 0 and high > 30 * middle
    bottom = max(10.0 ** math.floor(math.log10(low)), 5e-324) if log else _round_out(low, up=False)
    top = _round_out(high, up=True)
    if not bottom < top:
        bottom, top = bottom - max(1.0, abs(bottom) / 10), top + max(1.0, abs(top) / 10)
    found = (("special",) if special else ()) + (("scale",) if log else ())
    return bottom, top, special, "log" if log else "linear", found


def _datetime(rows: duckdb.DuckDBPyRelation, kind: str, missing: bool) -> Column:
    days = kind == "DATE"
    if kind == "TIMESTAMPTZ_NS":  # which DuckDB casts to nothing else
        rows = rows.project("x::TIMESTAMP_NS AS x")
    try:
        low, high = rows.aggregate("min(x)::TIMESTAMP, max(x)::TIMESTAMP").fetchall()[0]
        first, last = dt.datetime(low.year, 1, 1), dt.datetime(high.year, 12, 31)
    except (ValueError, OverflowError, AttributeError):  # dates beyond Python's calendar
        return _ignored("has dates outside the calendar; set bounds by hand if it should be used")
    return Datetime(
        min=first,
        max=last if days else last + dt.timedelta(hours=23, minutes=59, seconds=59),
        resolution="day" if days else "second",
        missing=missing,
        read_from_data=("kind", "min", "max", "resolution", "missing"),
    )


def _round_out(value: float, *, up: bool) -> Any:
    """Away from the data to a round number, so that a bound says little about the row that holds it."""
    if value == 0:
        return 0
    step = 5 * 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    if not (step > 0 and math.isfinite(value / step)):
        return value
    rounded = (math.ceil if up else math.floor)(value / step) * step
    if not math.isfinite(rounded):
        return value
    return round(rounded) if step >= 1 else float(f"{rounded:.12g}")
