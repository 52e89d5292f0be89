"""Raking: weights for the rows that constraints leave, so that the rest of the distribution stays as it was.

To drop the rows that break a rule is not enough: the values that they had become rarer, and so does everything that
goes with those values. So the rows that are left get weights, a factor for each value of each column, such that every
column has the distribution again that the model gives it (raking, or iterative proportional fitting). Of all
distributions over possible rows with those marginals it is the closest to the model's own, in relative entropy. Where
that succeeds, so it goes on with pairs: each column of a rule together with every column that no rule ties it to.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.sampling.condition import Codes
from pointillist.sampling.constraints import Rules
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
MOST_REPEATS = 2.0
"""A possible row is chosen at most this often."""
_REACH = 1.25, 3.0
"""The fewest and the most possible rows at hand for each that is wanted."""
_CYCLES, _PAIR_CYCLES = 60, 12
"""The most times that raking goes through all columns, and then through pairs and columns."""
_CLOSE, _PAIR_CLOSE = 5e-4, 3e-3
"""A margin within this distance (in total variation) of the model's is met."""
_LARGEST, _PAIR_LARGEST = 50.0, 3.0
"""The largest factor: a few rows must not stand for all that hardly any possible row has."""
_MOST_GROUPS = 12
"""The most groups of a column's levels in a pair, beside its special values."""
_MOST_PAIRS = 150


@dataclass(frozen=True, eq=False)
class Margin:
    """The levels of one column, or groups of the levels of two, side by side."""

    groups: Mapping[str, NDArray[np.intp]]
    """For each column the group of every level; of a single column every level is its own."""

    @cached_property
    def size(self) -> int:
        return int(np.prod([each.max() + 1 for each in self.groups.values()]))

    def cells(self, codes: Codes) -> NDArray[Any]:
        """The cell of every row."""
        if len(self.groups) == 1:
            return codes[next(iter(self.groups))]
        (first, groups), (second, others) = self.groups.items()
        return groups[codes[first]] * (others.max() + 1) + others[codes[second]]


@dataclass(frozen=True, eq=False)
class Raking:
    """Factors for the cells of some margins: the weight of a possible row is the product of its own."""

    factors: Sequence[tuple[Margin, Floats]]
    kept: float
    """The share of the model's rows that are possible."""
    reach: float
    """How many possible rows to have at hand for each that is wanted, so that none is repeated too often."""

    @classmethod
    def fit(cls, columns: Sequence[Margin], pairs: Sequence[Margin], wanted: Codes, possible: Codes) -> Self:
        """Rake rows that are `possible` to the margins of all rows, `wanted`: columns first, then pairs with them."""
        ones, twos = (
            [_Rake.of(margin, margin.cells(wanted), margin.cells(possible), close) for margin in margins]
            for margins, close in ((columns, _CLOSE), (pairs, _PAIR_CLOSE))
        )
        rows = len(ones[0].cells)
        weights = np.full(rows, 1.0 / rows)
        # Where even the columns cannot all be met, pairs are beside the point.
        if _raked(ones, weights, _CYCLES) and twos:
            _raked([*twos, *ones], weights, _PAIR_CYCLES)
            _raked(ones, weights, _CYCLES)
        weights *= rows / weights.sum()
        reach = float(np.clip(np.quantile(weights, 0.999) / MOST_REPEATS, *_REACH))
        factors = [(rake.margin, rake.factors) for rake in (*ones, *twos) if rake.turned]
        return cls(factors, rows / len(next(iter(wanted.values()))), reach)

    def weights(self, codes: Codes) -> Floats:
        """The weights of possible rows."""
        found = np.ones(len(next(iter(codes.values()))))
        for margin, factors in self.factors:
            found *= factors[margin.cells(codes)]
        return found


class _Rake:
    """One margin, and the factors that bring it to what is wanted."""

    def __init__(self, margin: Margin, cells: NDArray[Any], target: Floats, close: float):
        self.margin, self.cells, self.target, self.close = margin, cells, target, close
        self.largest = _LARGEST if len(margin.groups) == 1 else _PAIR_LARGEST
        self.factors = np.ones(margin.size)
        self.turned = False

    @classmethod
    def of(cls, margin: Margin, wanted: NDArray[Any], possible: NDArray[Any], close: float) -> Self:
        """Only cells that possible rows have can be met."""
        there = np.bincount(possible, minlength=margin.size)
        counted = np.where(there > 0, np.bincount(wanted, minlength=margin.size), 0)
        if not counted.any():
            counted = there
        return cls(margin, possible, counted / counted.sum(), close)

    def turn(self, weights: Floats) -> bool:
        """Bring the margin to its target, by changing the weights in place; whether it was close already."""
        held = np.bincount(self.cells, weights=weights, minlength=len(self.target))
        now = held / held.sum()
        if 0.5 * float(np.abs(now - self.target).sum()) < self.close:
            return True
        ratio = np.where(now > 0, self.target / np.where(now > 0, now, 1.0), 1.0)
        new = np.clip(self.factors * ratio, 1 / self.largest, self.largest)
        weights *= (new / self.factors)[self.cells]
        self.factors, self.turned = new, True
        return False


def _raked(rakes: Sequence[_Rake], weights: Floats, cycles: int) -> bool:
    """Turn to every margin in turn until all are close; whether they came to be."""
    for _ in range(cycles):
        close = [rake.turn(weights) for rake in rakes]
        if all(close):
            return True
    return False


def margins_of(levels: Sequence[Levels], rules: Rules, wanted: Codes) -> tuple[list[Margin], list[Margin]]:
    """What is to stay as it is in the model: columns, and pairs of them.

    Every column at its finest; and each column of a rule together with every column that no rule ties it to, in groups.
    """
    groups = {each.name: _groups(each, wanted[each.name]) for each in levels}
    tied = {frozenset(pair) for each in rules.constraints for pair in itertools.combinations(each.names, 2)}
    pairs = [
        pair
        for pair in itertools.combinations(groups, 2)
        if set(pair) & set(rules.columns) and frozenset(pair) not in tied
    ]
    return (
        [Margin({each.name: np.arange(each.size)}) for each in levels],
        [Margin({name: groups[name] for name in pair}) for pair in pairs[:_MOST_PAIRS]],
    )


def _groups(levels: Levels, codes: NDArray[np.uint16]) -> NDArray[np.intp]:
    """A few groups of a column's levels: runs of about the same mass where they have an order, else the frequent ones."""
    mass = np.bincount(codes, minlength=levels.size) / max(len(codes), 1)
    if levels.size <= _MOST_GROUPS:
        return np.arange(levels.size)
    if not levels.ordered:
        rank = np.empty(levels.size, dtype=np.intp)
        rank[np.argsort(-mass, kind="stable")] = np.arange(levels.size)
        return np.minimum(rank, _MOST_GROUPS - 1)
    regular = np.minimum(np.cumsum(mass[: levels.regular]) - mass[: levels.regular] / 2, 1 - 1e-9)
    regular = (regular / max(mass[: levels.regular].sum(), 1e-12) * _MOST_GROUPS).clip(0, _MOST_GROUPS - 1)
    _, numbered = np.unique(regular.astype(np.intp), return_inverse=True)
    return np.concatenate([numbered, numbered.max() + 1 + np.arange(levels.size - levels.regular)])
