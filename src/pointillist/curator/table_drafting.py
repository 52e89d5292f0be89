"""Table drafting: a first schema, read off the data, for the owner to review.

Everything found here is private until a person says otherwise. So the draft is marked as one, each fact that came from
the rows is named, bounds are rounded outwards, and a release refuses the draft as it stands.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import duckdb
from pydantic import ValidationError

from pointillist.curator.image_drafting import draft_images
from pointillist.curator.repetition import repeating
from pointillist.errors import DataError, UsageError, without_context
from pointillist.reading.base import Source
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import KINDS, MISSING_TEXTS, AnyColumn, Ignore, Person, Schema
from pointillist.schema.kinds.drafting import rounded_out


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
        "rows": math.ceil(rounded_out(count, up=True)),
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
                columns[column] = drafted.stored_as(types[column]) if column in types else drafted
        for column, each in repeating(rows, columns, count).items() if person is None else ():
            columns[column] = Ignore(
                description="its values repeat, as those of people with several rows do; if they name people, draft again "
                f"with --person {column} --max-rows N, so that a whole person is protected and not one row",
                repeats=max(2, each),
                read_from_data=("kind", "repeats"),
            )
    if not any(column.measured for column in columns.values()):
        raise DataError(f"{source.name}: no column looks usable: all are empty, texts without end, or identifiers.")
    return columns, count


def _column(rows: duckdb.DuckDBPyRelation, kind: str, count: int, untyped: bool) -> AnyColumn:
    if untyped or kind == "VARCHAR":
        missing = ", ".join(f"'{text}'" for text in MISSING_TEXTS)
        rows = rows.filter(f"trim(x::VARCHAR) NOT IN ({missing})")
    found = _Values(rows.filter("x IS NOT NULL"), "VARCHAR" if untyped else kind, count)
    if found.filled == 0:
        return Ignore.because("has no values at all")
    readings = (each.reading(found) for each in KINDS) if untyped else ()
    reading = next((each for each in readings if each is not None), None)
    if reading is not None:
        found = replace(found.cast(reading.expression, reading.type), format=reading.format)
    try:
        drafts = (each.draft(found) for each in KINDS)
        nothing = f"is of type {found.type.split('(', maxsplit=1)[0].lower()}, which no kind can hold"
        return next((each for each in drafts if each is not None), None) or Ignore.because(nothing)
    except ValidationError:
        return Ignore.because("its values fit no kind as they are; set one by hand if it should be used")


@dataclass(frozen=True, eq=False)
class _Values:
    """The values `x` of one column, as DuckDB has them. Secret."""

    rows: duckdb.DuckDBPyRelation
    type: str
    count: int
    """How many rows the table has."""
    format: str | None = None

    @property
    def filled(self) -> int:
        return self._sizes[0]

    @property
    def distinct(self) -> int:
        return self._sizes[1]

    @property
    def missing(self) -> bool:
        return self.filled < self.count

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        filled, distinct = self.ask("count(x), count(DISTINCT x)")
        return int(filled), int(distinct)

    def ask(self, aggregates: str) -> tuple[Any, ...]:
        return tuple(self.rows.aggregate(aggregates).fetchall()[0])

    def often(self, expression: str) -> Any:
        found = self.rows.project(f"{expression} AS y").aggregate("y, count(*) AS often")
        lines = found.order("often DESC, y").limit(1).fetchall()
        return lines[0][0] if lines else None

    def where(self, test: str) -> "_Values":
        return replace(self, rows=self.rows.filter(test))

    def cast(self, expression: str, type: str) -> "_Values":
        return replace(self, rows=self.rows.project(f"{expression} AS x"), type=type)

    def some(self) -> Any:
        lines = self.rows.limit(1).fetchall()
        return lines[0][0] if lines else None

    def values(self) -> list[Any]:
        return [line[0] for line in self.rows.distinct().fetchall()]
