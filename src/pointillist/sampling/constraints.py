"""Constraints: the schema's impossible combinations as rules on rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.sampling.condition import Codes, Cut
from pointillist.schema.constraints import Constraint, Impossible, Order
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
        cuts = self._cuts[place]
        return np.logical_and.reduce([cut.holds(codes[name], numbers.get(name)) for name, cut in cuts.items()])

    @cached_property
    def _cuts(self) -> dict[int, dict[str, Cut]]:
        return {
            place: {
                name: Cut(self.levels[name], select(name, self.levels[name].column, written))
                for name, written in constraint.impossible.items()
            }
            for place, constraint in enumerate(self.constraints)
            if isinstance(constraint, Impossible)
        }

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
