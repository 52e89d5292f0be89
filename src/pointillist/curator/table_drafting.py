"""Table drafting: a first schema, read off the data, for the owner to review.

Everything found here is private until a person says otherwise. So the draft is marked as one, each fact that came from
the rows is named, bounds are rounded outwards, and a release refuses the draft as it stands.
"""

import math
from dataclasses import replace
from typing import Any

import duckdb
from pydantic import ValidationError

from pointillist.curator.column_values import ColumnValues
from pointillist.curator.image_drafting import draft_images
from pointillist.curator.repetition import repeating
from pointillist.curator.structure import derived_columns
from pointillist.errors import DataError, UsageError, without_context
from pointillist.reading.base import Source
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import KINDS, AnyColumn, Ignore, Person, Schema
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
        keep = _Kept(None if source.foreign else db)
        types = source.types()
        for number, (column, kind) in enumerate(zip(names, rows.types, strict=True)):
            if person is not None and column == person.column:
                columns[column] = Ignore(description="names the person")
            else:
                kept = "VARCHAR" if source.untyped else str(kind)
                drafted = _column(ColumnValues.of(rows, f"c{number}", kept, count, keep), source.untyped)
                columns[column] = drafted.stored_as(types[column]) if column in types else drafted
                keep.clear()
        derived = derived_columns(rows, columns, count)
        people = repeating(rows, columns, count, without=derived) if person is None else {}
        for column, each in people.items():
            columns[column] = Ignore(
                description="its values repeat, as those of people with several rows do; if they name people, draft again "
                f"with --person {column} --max-rows N, so that a whole person is protected and not one row",
                repeats=max(2, each),
                read_from_data=("kind", "repeats"),
            )
        columns |= {name: each for name, each in derived.items() if not people.keys() & {name, *each.inputs}}
    if not any(column.measured for column in columns.values()):
        raise DataError(f"{source.name}: no column looks usable: all are empty, texts without end, or identifiers.")
    return columns, count


class _Kept:
    """Tables for what was worked out: the one of the column before is no longer needed."""

    def __init__(self, db: duckdb.DuckDBPyConnection | None) -> None:
        self._db, self._count = db, 0

    def __call__(self, rows: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
        if self._db is None:
            return rows
        self._count += 1
        rows.create(f"_kept_{self._count}")
        return self._db.table(f"_kept_{self._count}")

    def clear(self) -> None:
        """Let go of all of them."""
        while self._db is not None and self._count:
            self._db.execute(f"DROP TABLE _kept_{self._count}")
            self._count -= 1


def _column(found: ColumnValues, untyped: bool) -> AnyColumn:
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
