"""Links: constants and sums of three that tie columns of numbers together in some rows. Candidates, no more.

Each is looked for in all columns at once, since a table has too many threes to try one by one.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.schema.formula import quoted

Floats = NDArray[np.float64]
_LEAST_VALUES, _OF_RATES = 5, 10
"""Numbers that columns have at least where they are tied together, and where that is by a rate and perhaps rounded: of
fewer, much may be chance."""
_MOST_DIGITS = 6
_MOST_THREES = 5_000
"""Sums of three that one row leaves over; where there are more, rows are too much alike to tell them apart."""


@dataclass(frozen=True)
class Link:
    """A column that seems to follow from others."""

    column: str
    formula: str
    sql: str


@dataclass(frozen=True, eq=False)
class Looked:
    """Numbers of some rows, how far each column may be from a result (`slack`, and `near` relative to it), and its SQL."""

    values: Mapping[str, Floats]
    slack: Mapping[str, float]
    near: Mapping[str, float]
    sql: Mapping[str, str]

    def fits(self, name: str, result: Floats) -> bool:
        """Whether a column is the result, with gaps at the same places."""
        real = self.values[name]
        with np.errstate(invalid="ignore"):
            close = np.abs(real - result) <= self.slack[name] + self.near[name] * np.abs(real)
        return bool((close | (np.isnan(real) & np.isnan(result))).all())

    def varied(self, least: int = _LEAST_VALUES) -> list[str]:
        """Columns with so many different numbers."""
        return [name for name, each in self.values.items() if len(np.unique(each[~np.isnan(each)])) >= least]


def shifts(looked: Looked) -> Iterator[Link]:
    """A constant less a column (2020 - age), and a column and a constant."""
    for one, other, x, y in _known_pairs(looked, _LEAST_VALUES):
        yield from _shifted(looked, one, other, float(x[0]), float(y[0]))


def rates(looked: Looked) -> Iterator[Link]:
    """A column times a constant, or by one (tot * 0.19, cm / 2.54)."""
    for one, other, x, y in _known_pairs(looked, _OF_RATES):
        yield from _scaled(looked, one, other, x, y)


def _known_pairs(looked: Looked, least: int) -> Iterator[tuple[str, str, Floats, Floats]]:
    """Two columns, and their numbers in the rows that have both."""
    gaps = {name: np.isnan(looked.values[name]) for name in looked.varied(least)}
    for one, other in itertools.permutations(gaps, 2):
        known = ~gaps[one]
        if known.any() and (gaps[one] == gaps[other]).all():
            yield one, other, looked.values[one][known], looked.values[other][known]


def _shifted(looked: Looked, one: str, other: str, x: float, y: float) -> Iterator[Link]:
    for sign in (-1, 1):
        constant = float(f"{y - sign * x:.9g}")
        if constant and looked.fits(other, constant + sign * looked.values[one]):
            text, name = f"{abs(constant):.12g}", quoted(one)
            formula = f"{name} {'+' if constant > 0 else '-'} {text}" if sign > 0 else f"{constant:.12g} - {name}"
            yield Link(other, formula, f"{constant!r} + {sign} * ({looked.sql[one]})")


def _scaled(looked: Looked, one: str, other: str, x: Floats, y: Floats) -> Iterator[Link]:
    total = float(x @ x)
    rate = float(x @ y) / total if total else 0.0
    if (
        not rate
        or not np.isfinite(rate)
        or not (np.abs(y - rate * x) <= 2 * looked.slack[other] + 1e-5 * np.abs(y)).all()
    ):
        return
    for digits in range(1, _MOST_DIGITS + 1):
        times, by = float(f"{rate:.{digits}g}"), float(f"{1 / rate:.{digits}g}")
        if times not in (0.0, 1.0) and looked.fits(other, looked.values[one] * times):
            yield Link(other, f"{quoted(one)} * {times:.12g}", f"({looked.sql[one]}) * {times!r}")
            return
        if by not in (0.0, 1.0) and looked.fits(other, looked.values[one] / by):
            yield Link(other, f"{quoted(one)} / {by:.12g}", f"({looked.sql[one]}) / {by!r}")
            return


def sums_of_three(looked: Looked) -> Iterator[Link]:
    """Columns that are the sum of three others."""
    names = looked.varied()
    if len(names) < 4:
        return
    matrix = np.stack([looked.values[name] for name in names])
    complete = np.flatnonzero(~np.isnan(matrix).any(axis=0))
    if len(complete) == 0:
        return
    different = [len(np.unique(matrix[:, row][matrix[:, row] != 0])) for row in complete]
    row = matrix[:, complete[int(np.argmax(different))]]
    pairs = np.array(list(itertools.combinations(range(len(names)), 2)))
    sums = row[pairs].sum(axis=1)
    for target, name in enumerate(names):
        slack = looked.slack[name] + looked.near[name] * abs(row[target])
        found = np.argwhere(np.abs(sums[:, None] + row[None, :] - row[target]) <= slack)
        if len(found) <= _MOST_THREES:
            yield from _threes(looked, names, target, [(*pairs[pair], third) for pair, third in found])


def _threes(looked: Looked, names: list[str], target: int, found: list[Any]) -> Iterator[Link]:
    for one, two, three in found:
        if not one < two < three or target in (one, two, three):
            continue
        inputs = [names[each] for each in (one, two, three)]
        if looked.fits(names[target], np.sum([looked.values[each] for each in inputs], axis=0)):
            yield Link(
                names[target],
                " + ".join(map(quoted, inputs)),
                " + ".join(f"({looked.sql[each]})" for each in inputs),
            )
