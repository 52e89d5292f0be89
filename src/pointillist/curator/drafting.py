"""Drafting: a first schema, read off the data, for the owner to review.

Everything found here is private until a person says otherwise. So the draft is marked as one, each fact that came from
the rows is named, bounds are rounded outwards, and a release refuses the draft as it stands.
"""

import datetime as dt
import math
from typing import Any

import duckdb

from pointillist.curator.database import connect
from pointillist.curator.reading import open_source, quote
from pointillist.errors import DataError
from pointillist.schema import Boolean, Categorical, Column, Datetime, Ignore, Integer, Person, Real, Schema

_MOST_CATEGORIES = 60
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}


def draft(table: Any, *, name: str, person: Person | None = None, delimiter: str = ",") -> Schema:
    """A draft schema for a table. It is not private: review it before use."""
    source = open_source(table, delimiter=delimiter)
    with source.guard(None):
        present = source.column_names()
    if not present:
        raise DataError(f"{source.name}: has no columns. {source.hint()}")
    if person is not None:
        source.require([person.column])
    with source.guard(None), connect() as db:
        rows = source.typed(db)
        count = int(rows.aggregate("count(*)").fetchall()[0][0])
        if count == 0:
            raise DataError(f"{source.name}: has no rows to draft a schema from.")
        columns: dict[str, Any] = {}
        for column, kind in zip(rows.columns, rows.types, strict=True):
            owner = person is not None and column == person.column
            columns[column] = (
                Ignore(description="names the person") if owner else _column(rows, column, str(kind), count)
            )
    return Schema(
        name=name, reviewed=False, rows=max(1, math.ceil(_round_out(count, up=True))), person=person, columns=columns
    )


def _column(rows: duckdb.DuckDBPyRelation, name: str, kind: str, count: int) -> Column:
    column = quote(name)
    filled, distinct = rows.aggregate(f"count({column}), count(DISTINCT {column})").fetchall()[0]
    missing = filled < count
    if filled == 0:
        return Ignore(description="has no values at all")
    if kind == "BOOLEAN":
        return Boolean(missing=missing, read_from_data=("missing",))
    if kind in ("DATE",) or kind.startswith("TIMESTAMP"):
        return _datetime(rows, column, kind, missing)
    if kind in _WHOLE:
        return _integer(rows, column, missing, distinct, filled)
    if kind in ("FLOAT", "DOUBLE") or kind.startswith("DECIMAL"):
        return _real(rows, column, missing)
    if distinct > _MOST_CATEGORIES:
        return Ignore(
            description="many different texts, perhaps names or free text; list its categories if it should be used",
            read_from_data=("kind",),
        )
    texts = sorted(str(row[0]) for row in rows.filter(f"{column} IS NOT NULL").project(column).distinct().fetchall())
    label = next(text for text in ("other", "(other)", "((other))") if text not in texts)
    return Categorical(
        categories=tuple(texts), other_label=label, missing=missing, read_from_data=("categories", "missing")
    )


def _integer(rows: duckdb.DuckDBPyRelation, column: str, missing: bool, distinct: int, filled: int) -> Column:
    if distinct == filled and filled > 100:
        return Ignore(
            description="every value is different, perhaps an identifier; set a kind if it should be used",
            read_from_data=("kind",),
        )
    if distinct <= 2:
        values = sorted(int(r[0]) for r in rows.filter(f"{column} IS NOT NULL").project(column).distinct().fetchall())
        return Categorical(categories=tuple(values), missing=missing, read_from_data=("categories", "missing"))
    low, high, special, scale = _range(rows, column)
    facts = ("min", "max", "missing", *(("special",) if special else ()), *(("scale",) if scale == "log" else ()))
    return Integer(
        min=math.floor(low), max=math.ceil(high), special=tuple(int(v) for v in special), scale=scale, missing=missing,
        read_from_data=facts,
    )  # fmt: skip


def _real(rows: duckdb.DuckDBPyRelation, column: str, missing: bool) -> Column:
    finite = rows.filter(f"isfinite({column}::DOUBLE)")
    nan = bool(rows.filter(f"isnan({column}::DOUBLE)").limit(1).fetchall())
    low, high, special, scale = _range(finite, column)
    checks = ", ".join(f"bool_and(round({column}::DOUBLE, {digits}) = {column}::DOUBLE)" for digits in range(5))
    exact = finite.aggregate(checks).fetchall()[0]
    decimals = next((digits for digits, holds in enumerate(exact) if holds), None)
    facts = ["min", "max", "missing"]
    facts += [name for name, read in (("special", special), ("scale", scale == "log")) if read]
    facts += ["decimals"] if decimals is not None else []
    return Real(
        min=float(low), max=float(high), special=special, scale=scale, decimals=decimals, missing=missing or nan,
        read_from_data=tuple(facts),
    )  # fmt: skip


def _range(rows: duckdb.DuckDBPyRelation, column: str) -> tuple[float, float, tuple[float, ...], Any]:
    """Bounds rounded outwards, zero as an atom if it is frequent, and a log scale for a long tail."""
    filled = rows.filter(f"{column} IS NOT NULL")
    zeros = float(filled.aggregate(f"avg(({column} = 0)::INTEGER)").fetchall()[0][0])
    wide = int(filled.aggregate(f"count(DISTINCT {column})").fetchall()[0][0]) > 32
    special: tuple[float, ...] = ()
    if zeros > 0.05 and wide:
        special, filled = (0.0,), filled.filter(f"{column} <> 0")
    low, high, middle = (
        float(v) for v in filled.aggregate(f"min({column}), max({column}), median({column})").fetchall()[0]
    )
    log = low > 0 and high > 30 * middle
    bottom = 10.0 ** math.floor(math.log10(low)) if log else _round_out(low, up=False)
    top = _round_out(high, up=True)
    if not bottom < top:
        bottom, top = bottom - 1, top + 1
    return bottom, top, special, "log" if log else "linear"


def _datetime(rows: duckdb.DuckDBPyRelation, column: str, kind: str, missing: bool) -> Column:
    low, high = rows.aggregate(f"min({column})::TIMESTAMP, max({column})::TIMESTAMP").fetchall()[0]
    return Datetime(
        min=dt.datetime(low.year, 1, 1),
        max=dt.datetime(high.year, 12, 31) if kind == "DATE" else dt.datetime(high.year, 12, 31, 23, 59, 59),
        resolution="day" if kind == "DATE" else "second",
        missing=missing,
        read_from_data=("min", "max", "missing"),
    )


def _round_out(value: float, *, up: bool) -> Any:
    """Away from the data to a round number, so that a bound says little about the row that holds it."""
    if value == 0:
        return 0
    step = 5 * 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    rounded = (math.ceil if up else math.floor)(value / step) * step
    return round(rounded) if step >= 1 else float(f"{rounded:.12g}")
