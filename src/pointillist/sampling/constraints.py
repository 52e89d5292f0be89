"""Constraints: the schema's impossible combinations as rules on rows."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.sampling.condition import Codes, Cut
from pointillist.schema.constraints import Constraint, Gap, Impossible, Order
from pointillist.schema.given_syntax import select
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Numbers = Mapping[str, Floats]


@dataclass(frozen=True, eq=False)
class Rules:
    """Constraints over level numbers, and over the numbers that were drawn for them."""

    constraints: tuple[Constraint, ...]
    levels: Mapping[str, Levels]

    @classmethod
    def of(cls, constraints: Sequence[Constraint], levels: Sequence[Levels]) -> Self:
        return cls(tuple(constraints), {each.name: each for each in levels})

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that some rule is about."""
        return tuple(dict.fromkeys(name for each in self.constraints for name in each.names))

    @cached_property
    def numeric(self) -> tuple[str, ...]:
        """Those of them whose numbers decide."""
        return tuple(name for name in self.columns if self.levels[name].numeric)

    def broken(self, codes: Codes, numbers: Numbers) -> Bools:
        """Which rows break a rule."""
        return np.logical_or.reduce([self.broken_by(place, codes, numbers) for place in range(len(self.constraints))])

    def broken_by(self, place: int, codes: Codes, numbers: Numbers) -> Bools:
        """Which rows break the rule at that place."""
        constraint = self.constraints[place]
        if isinstance(constraint, Order):
            return self._disordered(constraint, codes, numbers)
        if isinstance(constraint, Gap):
            gaps = self._gaps(constraint.missing, codes)
            return gaps != self._cuts[place][constraint.other].holds(
                codes[constraint.other], numbers.get(constraint.other)
            )
        cuts = self._cuts[place]
        return np.logical_and.reduce([cut.holds(codes[name], numbers.get(name)) for name, cut in cuts.items()])

    @cached_property
    def _cuts(self) -> dict[int, dict[str, Cut]]:
        return {
            place: {
                name: Cut(self.levels[name], select(name, self.levels[name].column, written))
                for name, written in _selections(constraint).items()
            }
            for place, constraint in enumerate(self.constraints)
            if not isinstance(constraint, Order)
        }

    def _gaps(self, name: str, codes: Codes) -> Bools:
        """Where a column comes out as missing."""
        level = self.levels[name]
        found = codes[name] == level.missing if level.has_missing else np.zeros(len(codes[name]), dtype=bool)
        return found | (codes[name] == level.other) if level.column.unlisted_is_missing else found

    def mend_gaps(self, codes: dict[str, NDArray[np.uint16]], fixed: Container[str], rng: np.random.Generator) -> None:
        """Put gaps where rules want them, and other rows' values where they do not; `fixed` columns stay."""
        for place, constraint in enumerate(self.constraints):
            if not isinstance(constraint, Gap) or constraint.missing in fixed:
                continue
            cut, name = self._cuts[place][constraint.other], constraint.missing
            level = self.levels[constraint.other]
            if level.numeric and cut.divides:
                continue  # which number decides is not drawn yet
            wanted = cut.shares[codes[constraint.other]] > 0
            gaps = self._gaps(name, codes)
            codes[name][wanted] = self.levels[name].missing
            bare, donors = np.flatnonzero(gaps & ~wanted), np.flatnonzero(~gaps)
            if len(bare) and len(donors):
                codes[name][bare] = codes[name][rng.choice(donors, len(bare))]

    def swap(self, codes: dict[str, NDArray[np.uint16]], numbers: dict[str, Floats], fixed: Container[str]) -> None:
        """Let two numbers of a row change places where the first is above the second, and both columns have room."""
        for place, constraint in enumerate(self.constraints):
            if not isinstance(constraint, Order) or any(name in fixed for name in constraint.columns):
                continue
            one, other = (self.levels[name] for name in constraint.columns)
            if not _alike(one, other):
                continue
            rows = np.flatnonzero(self.broken_by(place, codes, numbers))
            first, second = (numbers[name][rows] for name in constraint.columns)
            regular = (codes[one.name][rows] < one.regular) & (codes[other.name][rows] < other.regular)
            kept = regular & _room(one, second) & _room(other, first)
            for level, values in ((one, second), (other, first)):
                numbers[level.name][rows[kept]] = values[kept]
                codes[level.name][rows[kept]] = _code(level, values[kept])

    def _disordered(self, constraint: Order, codes: Codes, numbers: Numbers) -> Bools:
        levels = [self.levels[name] for name in constraint.columns]
        first, second = (each.column for each in levels)
        low = first.in_terms_of(second, numbers[constraint.columns[0]])
        high = second.in_terms_of(first, numbers[constraint.columns[1]])
        broken = low > high if constraint.rule == "<=" else low >= high
        for each in levels:
            if each.has_missing:
                broken &= codes[each.name] != each.missing
        return broken


def _selections(constraint: Gap | Impossible) -> dict[str, Any]:
    return constraint.exactly_when if isinstance(constraint, Gap) else constraint.impossible


def _alike(one: Levels, other: Levels) -> bool:
    """Whether a number of one column can stand in the other as it is."""
    first, second = one.column, other.column
    resolutions = [getattr(each, "resolution", None) for each in (first, second)]
    return type(first) is type(second) and first.digits == second.digits and resolutions[0] == resolutions[1]


def _room(level: Levels, values: Floats) -> Bools:
    """Which numbers a column can have outside its atoms."""
    inside = (values >= level.bounds[0]) & (values <= level.bounds[1]) & ~np.isin(values, level.specials)
    listed = level.column.listed
    return inside & np.isin(values, listed) if len(listed) else inside


def _code(level: Levels, values: Floats) -> NDArray[np.uint16]:
    places = np.searchsorted(level.edges, values, side="right") - 1
    return np.clip(places, 0, level.regular - 1).astype(np.uint16)
