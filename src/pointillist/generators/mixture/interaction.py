"""Interaction: what a table of three columns or more says beyond its tables of two."""

import itertools
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Pairs = Mapping[tuple[int, int], Floats]
"""For two sides of a table, the first before the second, what its cells add up to there."""

_ROUNDS, _CLOSE = 20, 1e-6
"""Of proportional fitting: the most of them, and which part of all rows may still be amiss when it ends."""
_BEYOND = 3.0
"""Standard deviations of chi^2 above its mean from which on chance is ruled out: it gets there once in 50 to 700 tables,
the more cells the more seldom."""


def ties(modelled: Floats, measured: NDArray[np.floating[Any]], precision: float) -> bool:
    """Whether a measured table shows more than noise beyond what its pairs of columns say."""
    return bool(interaction(from_pairs(modelled), measured, precision).any())


def with_interaction(pairs: Pairs, measured: NDArray[np.floating[Any]], precision: float) -> Floats | None:
    """The table with these pairs, and with as much of a measured table's interaction as is more than noise.

    None where chance might have made all of it: then the pairs say it all.
    """
    plain = fit_pairs(np.ones(measured.shape), pairs)
    found = interaction(plain, measured, precision)
    return fit_pairs(np.maximum(plain + found, 0.0), pairs) if found.any() else None


def interaction(plain: Floats, measured: NDArray[np.floating[Any]], precision: float) -> Floats:
    """What three columns and more show together, beyond noise: each part shrunk by what the noise explains of it.

    `plain` is a table without interaction. A part is what some of the columns show together and no fewer of them do.
    """
    found = np.zeros_like(plain)
    gap = np.asarray(measured - plain, dtype=np.float64)
    for part, free in _parts(gap):
        seen = precision * float(np.sum(part * part)) * gap.size / part.size
        if free > 0 and seen > free + _BEYOND * math.sqrt(2 * free):
            found += (1 - free / seen) * part
    return found


def _parts(gap: Floats) -> Iterator[tuple[Floats, int]]:
    """For every three sides of a table, and more, their own part of it, and how many numbers are free in it."""
    axes = range(gap.ndim)
    for count in range(3, gap.ndim + 1):
        for chosen in itertools.combinations(axes, count):
            part = gap.mean(axis=tuple(axis for axis in axes if axis not in chosen), keepdims=True)
            for axis in chosen:
                part = part - part.mean(axis=axis, keepdims=True)
            yield part, math.prod(gap.shape[axis] - 1 for axis in chosen)


def from_pairs(table: Floats) -> Floats:
    """The most random table with the same pairs."""
    return fit_pairs(np.ones_like(table), pairs_of(table))


def pairs_of(table: Floats) -> dict[tuple[int, int], Floats]:
    """What a table adds up to along every two sides."""
    axes = range(table.ndim)
    return {
        pair: table.sum(axis=tuple(axis for axis in axes if axis not in pair))
        for pair in itertools.combinations(axes, 2)
    }


def fit_pairs(start: Floats, pairs: Pairs) -> Floats:
    """A table moved to given pairs by proportional fitting; what else it shows stays."""
    found, axes = start, range(start.ndim)
    others = {pair: tuple(axis for axis in axes if axis not in pair) for pair in pairs}
    total = sum(float(wanted.sum()) for wanted in pairs.values())
    for _ in range(_ROUNDS):
        off = 0.0
        for pair, wanted in pairs.items():
            mass = found.sum(axis=others[pair])
            off += float(np.abs(mass - wanted).sum())
            factor = np.divide(wanted, mass, out=np.zeros_like(mass), where=mass > 0)
            found = found * np.expand_dims(factor, others[pair])
        if off < _CLOSE * total:
            break
    return found
