"""Interaction: what a table of three columns says beyond its three tables of two."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_ROUNDS = 20
"""Of proportional fitting: far more than it takes."""
_BEYOND = 3.0
"""Standard deviations of chi^2 above its mean from which on chance is ruled out: it gets there once in 50 to 700 tables,
the more cells the more seldom."""


def ties(modelled: Floats, measured: NDArray[np.floating[Any]], precision: float) -> bool:
    """Whether a measured table of three columns shows more than noise beyond what its three pairs of columns say."""
    gap = np.asarray(measured - from_pairs(modelled), dtype=np.float64)
    for axis in range(3):
        gap = gap - gap.mean(axis=axis, keepdims=True)
    free = math.prod(size - 1 for size in gap.shape)
    return free > 0 and precision * float(np.sum(gap * gap)) > free + _BEYOND * math.sqrt(2 * free)


def from_pairs(table: Floats) -> Floats:
    """The most random table of three columns with the same pairs (by proportional fitting)."""
    found = np.ones_like(table)
    for _ in range(_ROUNDS):
        for axis in range(3):
            mass = found.sum(axis=axis, keepdims=True)
            found = found * np.divide(
                table.sum(axis=axis, keepdims=True), mass, out=np.zeros_like(mass), where=mass > 0
            )
    return found
