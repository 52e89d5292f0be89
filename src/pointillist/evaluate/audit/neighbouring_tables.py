"""Neighbouring tables: pairs that differ in one person, made up from the schema so that the difference is large."""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.tables.owned_rows import repeated
from pointillist.privacy.guarantee import Neighbours
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, levels_of

_MOST_CROWD = 50_000


@dataclass(frozen=True)
class Pair:
    """Two of the tables, by name: `within` holds the person, `without` does not, or holds another in that place."""

    name: str
    without: str
    within: str


def worst_pairs(audited: AuditedPipeline) -> tuple[dict[str, pa.Table], tuple[Pair, ...]]:
    """Tables by name, and the pairs to tell apart.

    Three persons are added or put in another's place: one with the last category and the highest number of every column
    (codes in place of indicators show there), one with values outside the schema (bounds or categories read off the
    data show there), one with missing or special values. Where a person may own several rows, each of them brings twice
    as many as allowed: the cap has to hold too.
    """
    persons = {
        "last": _person(audited.schema, "last"),
        "odd": _person(audited.schema, "odd"),
        "gaps": _person(audited.schema, "gaps"),
    }
    first, last = _levels(audited.levels, "first"), _levels(audited.levels, "last")
    # In a crowd at both ends of every column the tiles stay apart: two persons differ in all of them, and tables of
    # later rounds have several cells, whose noise can be compared.
    crowd = _crowd(audited, first, last)
    if audited.neighbours is Neighbours.ADD_REMOVE:
        tables = {"nobody": persons["last"].slice(0, 0), "last": persons["last"], "crowd": crowd}
        tables |= {name: pa.concat_tables([crowd, persons[name]]) for name in ("odd", "gaps")}
        starts = {"last": "nobody", "odd": "crowd", "gaps": "crowd"}
    else:
        tables = {"first": pa.concat_tables([crowd, _person(audited.schema, "first")])}
        tables |= {name: pa.concat_tables([crowd, person]) for name, person in persons.items()}
        starts = dict.fromkeys(persons, "first")
    names = {
        "last": "the last category and highest number of every column",
        "odd": "values outside the schema",
        "gaps": "missing and special values",
    }
    same = [name for name in ("odd", "gaps") if persons[name] == persons["last"]]
    tables = {name: table for name, table in tables.items() if name not in same}
    pairs = tuple(Pair(names[name], starts[name], name) for name in persons if name not in same)
    return {name: tables[name] for name in tables if any(name in (p.without, p.within) for p in pairs)}, pairs


def _crowd(audited: AuditedPipeline, first: dict[str, int], last: dict[str, int]) -> pa.Table:
    plan = audited.plan
    noise = max(plan.noise_rows(number, block) for number, each in enumerate(plan.rounds) for block in each.blocks)
    half = min(_MOST_CROWD, math.ceil(10 * noise))
    crowd = pa.concat_tables([repeated(audited.schema, level, half, -1).table() for level in (first, last)])
    person = audited.schema.person
    if person is None:
        return crowd
    place = crowd.column_names.index(person.column)
    return crowd.set_column(place, person.column, pa.array(-1 - np.arange(2 * half)))


def _levels(levels: tuple[Levels, ...], which: str) -> dict[str, int]:
    """A level for every column."""

    def choose(each: Levels) -> int:
        if which == "first":
            return 0
        if which == "odd" and each.has_other:
            return each.other
        if which == "gaps" and (each.size > each.regular):
            return each.missing if each.has_missing else each.size - 1
        return each.regular - 1

    return {each.name: choose(each) for each in levels}


def _person(schema: Schema, which: str) -> pa.Table:
    """One person's rows."""
    copies = 1 if schema.person is None else 2 * schema.person.max_rows
    rows = repeated(schema, _levels(levels_of(schema), which), copies, 1)
    table = rows.table()
    if which != "odd":
        return table
    for number, each in enumerate(rows.levels):
        if each.numeric and each.column.out_of_domain == "clip":
            field = table.schema.field(number)
            table = table.set_column(number, field, pa.array([each.column.beyond()] * copies, type=field.type))
    return table
