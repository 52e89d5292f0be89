"""Histories: the rows of a table person by person and in their order, and what can be said of a person by them.

Of the real table as private as the table itself.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.owned_rows import read_rows
from pointillist.evaluate.tables.sample import Sample
from pointillist.schema import Schema
from pointillist.schema.levels import Levels

_FEW = 12
"""Of a category with no more levels than this, how often a person has each is a feature of her history."""


@dataclass(frozen=True, eq=False, repr=False)
class Histories:
    """Persons with their rows."""

    schema: Schema
    sample: Sample
    """All rows, hers one after the other, in their order."""
    owners: Codes
    """A number for the person of each row, from 0 up."""

    @classmethod
    def read(cls, table: Any, schema: Schema) -> Self:
        """Of a table with the column that names persons. Rows that name nobody are left out."""
        _, sample, named = read_rows(table, schema)
        _, owners = np.unique(named, return_inverse=True)
        return cls._sorted(schema, sample, owners.astype(np.int64))

    @classmethod
    def _sorted(cls, schema: Schema, sample: Sample, owners: Codes) -> Self:
        order = schema.person.order if schema.person else None
        keys = [owners] if order is None else [cls._times(sample, order), owners]
        index = np.lexsort(keys)
        return cls(schema, sample.take(index), owners[index])

    @staticmethod
    def _times(sample: Sample, order: str) -> Floats:
        """What orders rows, as numbers; those without come first."""
        level = sample.level(order)
        found = sample.values(order) if level.numeric else sample.codes(order).astype(np.float64)
        missing = sample.missing(order)
        return np.where(missing | np.isnan(found), -np.inf, found)

    def of_persons(self, chosen: NDArray[Any]) -> Self:
        """Some of the persons, by mask, with all of their rows."""
        kept = chosen[self.owners]
        _, owners = np.unique(self.owners[kept], return_inverse=True)
        return replace(self, sample=self.sample.take(kept), owners=owners.astype(np.int64))

    @cached_property
    def starts(self) -> Codes:
        """Where each person's rows begin."""
        return np.flatnonzero(np.diff(self.owners, prepend=-1))

    @cached_property
    def counts(self) -> Codes:
        """How many rows each person has."""
        return np.diff(self.starts, append=len(self.owners))

    @property
    def persons(self) -> int:
        return len(self.starts)

    @cached_property
    def later(self) -> Codes:
        """The numbers of rows that are not their person's first."""
        return np.flatnonzero(np.diff(self.owners, prepend=-1) == 0)

    @cached_property
    def facts(self) -> tuple[Levels, ...]:
        """Columns that belong to persons."""
        return tuple(each for each in self.sample.levels if each.column.of == "person")

    @cached_property
    def of_rows(self) -> tuple[Levels, ...]:
        """Columns that belong to rows, but for what orders them."""
        order = self.schema.person.order if self.schema.person else None
        return tuple(each for each in self.sample.levels if each not in self.facts and each.name != order)

    @cached_property
    def constant(self) -> float:
        """The share of persons whose facts are the same in all of their rows."""
        changed = np.zeros(self.persons, dtype=bool)
        for each in self.facts:
            codes = self.sample.codes(each.name)
            same = codes == codes[self.starts][self.owners]
            if each.numeric:
                units = self.sample.records.units[each.name]
                same &= units == units[self.starts][self.owners]
            changed[self.owners[~same]] = True
        return float(1 - changed.mean()) if self.persons else 1.0

    @property
    def first(self) -> Sample:
        """The first row of each person."""
        return self.sample.take(self.starts)

    @property
    def last(self) -> Sample:
        """The last row of each person."""
        return self.sample.take(self.starts + self.counts - 1)

    @cached_property
    def times(self) -> Floats:
        """What orders each row, as a number; empty where nothing does."""
        order = self.schema.person.order if self.schema.person else None
        return np.empty(0) if order is None else self._times(self.sample, order)

    def gaps(self) -> Floats:
        """How far each later row is from the one before, in what orders them; NaN where it has no order."""
        if not len(self.times):
            return np.empty(0)
        with np.errstate(invalid="ignore"):
            found = self.times[self.later] - self.times[self.later - 1]
        return np.where(np.isfinite(found), found, np.nan)

    def numbers(self, level: Levels) -> Floats:
        """A column as numbers: places in its order where it has one; NaN where it is missing or has no place."""
        if level.numeric:
            return self.sample.values(level.name)
        codes = self.sample.codes(level.name).astype(np.float64)
        return np.where(codes < level.regular, codes, np.nan)

    def ever(self, level: Levels) -> Floats:
        """For each level the share of persons who ever have it."""
        pairs = np.unique(self.owners * level.size + self.sample.codes(level.name))
        return np.bincount(pairs % level.size, minlength=level.size) / max(1, self.persons)

    def means(self, values: Floats) -> Floats:
        """The mean over each person's rows; NaN where she has no value."""
        known = ~np.isnan(values)
        with np.errstate(invalid="ignore", divide="ignore"):
            sums = np.bincount(self.owners[known], weights=values[known], minlength=self.persons)
            return np.asarray(sums / np.bincount(self.owners[known], minlength=self.persons))

    def features(self, without: str | None = None) -> dict[str, Floats]:
        """What a learner sees of whole histories: facts, how many rows, and of each column mean, spread, ends and change."""
        found: dict[str, Floats] = {"rows": self.counts.astype(np.float64)}
        for each in self.facts:
            if each.name != without:
                found |= self._fact(each)
        for each in self.of_rows:
            if each.name != without:
                found |= self._course(each) if each.ordered else self._shares(each)
        gaps = self.gaps()
        if len(gaps):
            owners = self.owners[self.later]
            known = ~np.isnan(gaps)
            with np.errstate(invalid="ignore", divide="ignore"):
                sums = np.bincount(owners[known], weights=gaps[known], minlength=self.persons)
                found["mean gap"] = sums / np.bincount(owners[known], minlength=self.persons)
        return found

    def _fact(self, level: Levels) -> dict[str, Floats]:
        """A person's own fact: as a number where it has an order or two levels, else one indicator a level."""
        if level.ordered or level.size <= 2:
            return {level.name: self.numbers(level)[self.starts]}
        codes = self.sample.codes(level.name)[self.starts]
        often = np.argsort(-np.bincount(codes, minlength=level.size), kind="stable")[:_FEW]
        return {
            f"{level.name} = {level.label(int(code))}": (codes == code).astype(np.float64) for code in sorted(often)
        }

    def _course(self, level: Levels) -> dict[str, Floats]:
        values = self.numbers(level)
        mean = self.means(values)
        ends = values[self.starts], values[self.starts + self.counts - 1]
        return {
            f"{level.name}, mean": mean,
            f"{level.name}, spread": np.sqrt(self.means((values - mean[self.owners]) ** 2)),
            f"{level.name}, last": ends[1],
            f"{level.name}, change": ends[1] - ends[0],
        }

    def _shares(self, level: Levels) -> dict[str, Floats]:
        codes = self.sample.codes(level.name)
        shown = range(level.size) if level.size <= _FEW else range(0)
        shares = {f"{level.name} = {level.label(code)}": self.means((codes == code).astype(float)) for code in shown}
        moves = np.bincount(
            self.owners[self.later],
            weights=(codes[self.later] != codes[self.later - 1]).astype(float),
            minlength=self.persons,
        )
        return {**shares, f"{level.name}, changes": moves.astype(np.float64)}
