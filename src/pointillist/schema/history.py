"""History: what is measured of a person with several rows, in flat records that have one column for each part of it.

For each of her rows a person has one record: her own facts, how many rows she has, what her rows usually are, this row, the
row before it, and when it comes. So what is known of tables serves for histories, too: a pair of columns of such records is
a pair of facts within a row, a step from one row to the next, or a fact and how it goes with what a person is.
"""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import SchemaError
from pointillist.schema.kinds import Categorical, Integer, Ordinal
from pointillist.schema.levels import Levels, coarse, levels_of
from pointillist.schema.schema import Schema

Integers = NDArray[np.int64]

COUNT, PLACE = "rows of a person", "place among them"
"""Columns of records: how many rows a person has, and the how manieth of them this is."""
_COUNT_BINS, _GAP_BINS, _STEP_BINS, _USUAL_BINS = 64, 128, 64, 48
"""The most levels of counts, of gaps in time, of a number in the row before, and of a person's usual number."""
_TICKS = 4096
"""Gaps between numbers that are not whole are counted in this part of their range."""


_FEW = 5
"""A column with fewer levels is no quantity: its steps are told by a table."""


def before(name: str) -> str:
    """The column of records for what stands in the row before."""
    return f"{name}, row before"


def usually(name: str) -> str:
    """The column of records for what a person's rows usually have."""
    return f"{name}, usually"


def first(name: str) -> str:
    """The column of records for what orders rows, in a person's first row."""
    return f"{name}, first"


def gap(name: str) -> str:
    """The column of records for how far it is from the row before, in what orders rows."""
    return f"{name}, gap"


@dataclass(frozen=True)
class Copy:
    """A column of records that is made from a column of rows: other levels, and one more for "there is none"."""

    levels: Levels
    table: Integers
    """For each level of the row's column that of the copy."""

    @property
    def none(self) -> int:
        return self.levels.missing

    @classmethod
    def of(cls, name: str, source: Levels, most: int) -> Self:
        """The levels of a column, numbers in at most `most` bins; what has no place among them counts as one."""
        table = coarse(source, most)
        regular = int(table[source.regular - 1]) + 1
        if not source.ordered or regular == 1:
            every = tuple(range(source.size))
            return cls(Levels(name, Categorical(categories=every, out_of_domain="error", missing=True)), table)
        if not source.specials:
            rule: Any = "other" if source.size > source.regular else "error"
            column = Ordinal(categories=tuple(range(regular)), out_of_domain=rule, missing=True)
            return cls(Levels(name, column), np.minimum(table, regular))
        low, high = source.bounds
        places = [
            -1 - number if each < (low + high) / 2 else regular + number for number, each in enumerate(source.specials)
        ]
        copy = Levels(name, Integer(min=0, max=regular - 1, special=tuple(places), missing=True))
        return cls(copy, np.minimum(table, copy.missing))


@dataclass(frozen=True)
class Usual:
    """What the rows of a person usually have in one column: of what has an order the mean, else the most frequent."""

    levels: Levels
    source: Levels

    @classmethod
    def of(cls, source: Levels) -> Self:
        if source.ordered or source.regular == 2:
            bins = min(_USUAL_BINS, 4 * (source.regular - 1) + 1)
            column: Any = Integer(min=0, max=max(bins - 1, 1), missing=True)
        else:
            column = Categorical(categories=tuple(range(source.size)), out_of_domain="error", missing=True)
        return cls(Levels(usually(source.name), column), source)

    @property
    def is_mean(self) -> bool:
        return self.levels.numeric

    def from_sums(self, sums: Integers, counts: Integers) -> Integers:
        """Levels for sums of so many level numbers each; none where there are none."""
        steps = self.levels.regular - 1
        found = sums * steps // np.maximum(counts * max(self.source.regular - 1, 1), 1)
        return np.where(counts > 0, found, self.levels.missing)


@dataclass(frozen=True)
class Kinship:
    """Which columns of records tell something together: their names, by whose facts they are, so that to ask is quick."""

    rows: frozenset[str] = frozenset()
    person: frozenset[str] = frozenset()
    alike: frozenset[frozenset[str]] = frozenset()
    gap: str | None = None

    def related(self, one: str, other: str) -> bool:
        """Whether two columns of records tell something together that no other two do.

        A row goes with all that is known before it is drawn. What is known goes together as rows themselves do, or by the
        way in which records are made: a first row has nothing before it.
        """
        if one in self.rows or other in self.rows:
            return True
        if one in self.person:
            return other in self.person or other == self.gap or frozenset((one, other)) in self.alike
        return (one == self.gap and other in self.person) or frozenset((one, other)) in self.alike


class Flat(Schema):
    """The records of persons as a table, in which not every two columns are worth measuring together."""

    kinship: Kinship = Kinship()

    @cached_property
    def _pairs(self) -> list[tuple[str, str]]:
        return [pair for pair in itertools.combinations(self.measured, 2) if self.kinship.related(*pair)]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Found when they are asked for: whoever reads a release need not."""
        return list(self._pairs)


@dataclass(frozen=True)
class History:
    """The columns of a table of histories, by whose facts they are."""

    schema: Schema

    @classmethod
    def of(cls, schema: Schema) -> Self:
        """Of a schema that names a person column."""
        if schema.person is None:
            raise ValueError("a table without persons has no histories")
        made = cls(schema)
        often = Counter(names(made.levels))
        twice = next((name for name, count in often.items() if count > 1), None)
        if twice is not None:
            raise SchemaError(f"column {twice!r} has a name that histories need for another. Rename it in the data.")
        return made

    @cached_property
    def facts(self) -> tuple[Levels, ...]:
        """What belongs to a person."""
        return tuple(each for each in levels_of(self.schema) if each.column.of == "person")

    @cached_property
    def order(self) -> Levels | None:
        """What orders the rows of a person."""
        name = None if self.schema.person is None else self.schema.person.order
        return next((each for each in levels_of(self.schema) if each.name == name), None)

    @cached_property
    def rows(self) -> tuple[Levels, ...]:
        """What belongs to a row, but for what orders them."""
        return tuple(each for each in levels_of(self.schema) if each.column.of != "person" and each != self.order)

    @cached_property
    def counts(self) -> tuple[Levels, ...]:
        """How many rows a person has; and of rows in order, which of them it is."""
        assert self.schema.person is not None
        most = max(self.schema.person.max_rows, 2)
        column = Integer(min=1, max=most, scale="log", bins=_COUNT_BINS, missing=False)
        return (Levels(COUNT, column),) + (() if self.order is None else (Levels(PLACE, column),))

    @cached_property
    def before(self) -> tuple[Copy, ...]:
        """For each column of a row what the row before has."""
        return tuple(Copy.of(before(each.name), each, _STEP_BINS) for each in self.rows)

    @cached_property
    def usual(self) -> tuple[Usual, ...]:
        """For each column of a row what the person's rows usually have."""
        return tuple(map(Usual.of, self.rows))

    @cached_property
    def first(self) -> Levels | None:
        """What orders rows, in a person's first."""
        return None if self.order is None else Levels(first(self.order.name), self.order.column)

    @cached_property
    def gap(self) -> Levels | None:
        """How many ticks it is from the row before: 0 is a level of its own, and so is that there is none."""
        if self.order is None:
            return None
        most = max(int(self.ticks[1]), 2)
        column = Integer(min=1, max=most, scale="log", bins=_GAP_BINS, special=(0,), missing=True)
        return Levels(gap(self.order.name), column)

    @cached_property
    def ticks(self) -> tuple[float, int]:
        """How long a tick is of what orders rows, and how many there are from the lowest to the highest."""
        assert self.order is not None
        if not self.order.numeric:
            return 1.0, self.order.regular - 1
        low, high = self.order.column.extremes
        return (1.0, int(high - low)) if self.order.whole else ((high - low) / _TICKS, _TICKS)

    @cached_property
    def of_person(self) -> tuple[Levels, ...]:
        """The columns of records that all records of a person share."""
        own = (*self.facts, self.counts[0], *(each.levels for each in self.usual))
        return own if self.first is None else (*own, self.first)

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        """All columns of records."""
        steps = () if self.order is None or self.gap is None else (self.order, self.gap, *self.counts[1:])
        return (*self.of_person, *self.rows, *steps, *(each.levels for each in self.before))

    @cached_property
    def alike(self) -> frozenset[frozenset[str]]:
        """Columns of records that are of the same quantity, two by two: now, in the row before, and usually."""
        return frozenset(
            frozenset(pair)
            for row, copy, usual in zip(self.rows, self.before, self.usual, strict=True)
            for pair in itertools.combinations((row.name, copy.levels.name, usual.levels.name), 2)
        )

    @property
    def quantities(self) -> frozenset[frozenset[str]]:
        """Those of them that have an order and more than a few levels."""
        few = {each.name for each in self.rows if not each.ordered or each.regular < _FEW}
        return frozenset(pair for pair in self.alike if not pair & few and not pair & {usually(name) for name in few})

    @cached_property
    def kinship(self) -> Kinship:
        """Which columns of records tell something together."""
        return Kinship(
            frozenset(names(self.rows)),
            frozenset(names(self.of_person)),
            self.alike,
            None if self.gap is None else self.gap.name,
        )

    @cached_property
    def flat(self) -> Schema:
        """The records as a table of their own, with a row in the place of a person."""
        person = self.schema.person
        assert person is not None
        columns = {each.name: each.column.model_copy(update={"of": "row"}) for each in self.levels}
        return Flat.model_construct(name=self.schema.name, rows=person.persons, columns=columns, kinship=self.kinship)


def level_of(levels: Levels, values: Integers) -> NDArray[np.uint16]:
    """The levels of whole numbers in a column of counts or gaps; special ones have their own."""
    edges = levels.edges
    inside = np.clip(values, edges[0], edges[-1] - 1)
    found = np.searchsorted(edges, inside, side="right") - 1
    for number, special in enumerate(levels.specials):
        found = np.where(values == special, levels.regular + number, found)
    return found.astype(np.uint16)


def names(levels: Sequence[Levels]) -> list[str]:
    """What columns are called."""
    return [each.name for each in levels]
