"""Person facts: what a draft finds out about persons with several rows: what is constant for them, and what orders rows."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from pointillist.schema.kinds import AnyColumn

_TIME = re.compile(r"(^|_|\b)(year|yr|date|month|week|day|hour|time|period|wave|visit|grade|age)s?(_|\b|$)", re.I)
"""Names of numbers that may order rows; dates need no name for it."""
_TIES = 0.05
"""Rows of the same person with the same value are at most this share of all, where it orders them."""


@dataclass(frozen=True)
class PersonFacts:
    """What was read from the rows."""

    persons: int
    constant: tuple[str, ...]
    """Columns that never change within a person, though some have several rows."""
    order: str | None

    @classmethod
    def of(cls, rows: duckdb.DuckDBPyRelation, columns: Mapping[str, AnyColumn], person: str) -> "PersonFacts":
        """Of rows whose columns are named c0, c1 and so on, in the order of `columns`."""
        names = list(columns)
        who = f"c{names.index(person)}"
        measured = {name: f"c{place}" for place, name in enumerate(names) if columns[name].measured and name != person}
        if not measured:
            return cls(1, (), None)
        kept = rows.filter(f"{who} IS NOT NULL")
        # A gap counts as a value: who has it in some rows only does not always have the same.
        sizes = ", ".join(f"count(DISTINCT {c}) + (count({c}) < count(*))::INT AS {c}" for c in measured.values())
        by_person = kept.aggregate(f"{who} AS who, count(*) AS times, {sizes}", who)
        totals = ", ".join(f"max({c}), sum(times - {c}) / sum(times)" for c in measured.values())
        persons, most, *found = by_person.aggregate(f"count(*), max(times), {totals}").fetchall()[0]
        if most is None or most < 2:
            return cls(max(1, persons), (), None)
        largest = dict(zip(measured, found[::2], strict=True))
        ties = dict(zip(measured, found[1::2], strict=True))
        constant = tuple(name for name in measured if largest[name] <= 1)
        dated = [name for name in measured if columns[name].compared_as == "a date"]
        named = [name for name in measured if columns[name].ordered and _TIME.search(name)]
        order = next((name for name in [*dated, *named] if name not in constant and ties[name] <= _TIES), None)
        return cls(persons, constant if len(constant) < len(measured) else (), order)
