"""Table drafting: a first schema, read off the data, for the owner to review.

Everything found here is private until a person says otherwise. So the draft is marked as one, each fact that came from
the rows is named, bounds are rounded outwards, and a release refuses the draft as it stands.
"""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
from pydantic import ValidationError

from pointillist.curator.budget_drafting import draft_by_budget
from pointillist.curator.column_values import ColumnValues
from pointillist.curator.image_drafting import draft_images
from pointillist.curator.person_facts import PersonFacts
from pointillist.curator.relations import relations
from pointillist.curator.repetition import repeating
from pointillist.curator.structure import derived_columns
from pointillist.errors import DataError, UsageError, without_context
from pointillist.privacy.budget import DEFAULT_DELTA, Budget
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.ledger import Ledger
from pointillist.reading.base import Source
from pointillist.reading.connection import connect
from pointillist.reading.opening import open_source
from pointillist.schema import KINDS, AnyColumn, Ignore, Person, Schema
from pointillist.schema.constraints import Constraint
from pointillist.schema.csv_form import CsvForm
from pointillist.schema.kinds.drafting import rounded_out


@without_context
def draft(
    table: Any,
    *,
    name: str,
    person: Person | None = None,
    one_row_per_person: bool = False,
    epsilon: float | None = None,
    delta: float = DEFAULT_DELTA,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    ledger: Ledger | str | Path | None = None,
) -> Schema:
    """A draft schema for a table. Without `epsilon` it is not private: review it before use.

    With `epsilon` its facts are found with noise: they are (epsilon, delta)-differentially private for the same privacy unit
    as a release, booked in the ledger under `name`, and nobody has to vouch for them. What few rows share is not seen. The
    names of the columns, and the types in which they are stored, are taken as public. Whose a row is must be said then,
    with `person` or `one_row_per_person`: it settles what is promised, and a look at the rows would cost budget.
    """
    if person is not None and one_row_per_person:
        raise UsageError("person and one_row_per_person contradict each other: leave one of them out.")
    if not 0 < len(name) <= 200:
        raise UsageError("the data set's name must have from 1 to 200 characters.")
    with open_source(table).held() as source:
        with source.guard(None):
            names = source.column_names()
        hint = source.hint()
        if not names or "--delimiter" in hint:
            raise DataError(f"{source.name}: has {'one column only' if names else 'no columns'}. {hint}")
        source.require([*names, *([person.column] if person else [])])
        if epsilon is not None:
            if person is None and not one_row_per_person:
                raise UsageError(
                    "whose is a row? A draft by budget promises something for each person, and does not look how often one "
                    "is there. Name the column of persons (--person, with --max-rows), or say that every row is another "
                    "person (--one-row-per-person; in Python one_row_per_person=True). Nothing was spent."
                )
            try:
                budget = Budget(float(epsilon), float(delta))
            except (TypeError, ValueError):
                raise UsageError(f"epsilon and delta must be numbers, not {epsilon!r} and {delta!r}.") from None
            book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
            relation = Neighbours.parse(neighbours)
            return draft_by_budget(
                source, name=name, person=person, budget=budget, neighbours=relation, ledger=book
            ).schema
        columns, constraints, count, person, csv = _images(source, person) or _table(source, names, person)
    found = [each for each in ("order", "persons") if person is not None and getattr(person, each) is not None]
    facts = {
        "name": name,
        "reviewed": False,
        "read_from_data": ("rows", *(("constraints",) if constraints else ()), *found, *(("csv",) if csv else ())),
        "rows": math.ceil(rounded_out(count, up=True)),
        "columns": columns,
        "constraints": constraints,
        "csv": csv,
    }
    facts |= {"person": person, "one_row_per_person": one_row_per_person}
    return Schema.parse(facts, origin="the draft")


_Facts = tuple[dict[str, Any], tuple[Constraint, ...], int, Person | None, CsvForm | None]
"""Columns of a draft, its constraints, the number of rows, whose they are, and how the file is written."""


def _images(source: Source, person: Person | None) -> _Facts | None:
    found = draft_images(source, person)
    return None if found is None else (found[0], (), found[1], person, None)


def _table(source: Source, names: list[str], person: Person | None) -> _Facts:
    with source.guard(None), connect() as db:
        rows = source.numbered(db)
        csv = source.csv_form(db)
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
        constraints = relations(rows, columns, count)
        if person is not None and person.max_rows > 1:
            person = _with_facts(person, columns, PersonFacts.of(rows, columns, person.column))
    if not any(column.measured for column in columns.values()):
        raise DataError(f"{source.name}: no column looks usable: all are empty, texts without end, or identifiers.")
    return columns, constraints, count, person, csv


def _with_facts(person: Person, columns: dict[str, Any], found: PersonFacts) -> Person:
    """The person with what was found of her rows; columns that are constant for everyone are marked as hers."""
    for name in found.constant:
        marks = (*columns[name].read_from_data, "of")
        columns[name] = columns[name].model_copy(update={"of": "person", "read_from_data": marks})
    order = person.order or found.order
    return person.model_copy(update={"order": order, "persons": math.ceil(rounded_out(found.persons, up=True))})


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
