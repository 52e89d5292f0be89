"""Swapping: rows exchange values until the sample's pair tables are the model's, and all else is as random as can be.

Rows drawn by chance differ from their model by chance, and a mixture ties columns together in threes and fours more than
its pair tables call for. Both are mended by exchanges: two rows swap their values in one column. No column by itself
changes. An exchange that brings the pair tables nearer to the model's is made; one that takes them away is made too, by a
chance that falls to nothing (annealing). What the pair tables do not hold fast is mixed meanwhile: the sample goes
towards the most random one with these pair tables, the one of maximum entropy. Only the model is looked at.
"""

import numba
import numpy as np
from numpy.typing import NDArray

_WARM, _WARMER = 8.0, 0.01
"""The temperature at the start, in squared rows of a cell: a few rows to and fro, and no more than this part of the rows
that a row shares its cell with."""
_CROWD = 50.0
"""A row must share its cell with so many others for exchanges to make sense: emptier tables are all chance."""
_WORK = 1.5e9
"""The most comparisons of cells; where rows and columns are many, there are fewer sweeps."""
_LEAST, _MOST = 6, 40
"""How many sweeps there are at least and at most."""


def mix(
    tiles: NDArray[np.int32], wanted: NDArray[np.float32], starts: NDArray[np.int64], generator: np.random.Generator
) -> None:
    """Exchange values in place.

    Arguments:
        tiles: tile numbers, rows x columns.
        wanted: the model's expected counts of every pair of tiles, of all columns side by side.
        starts: where each column's tiles begin in `wanted`.
    """
    rows, columns = tiles.shape
    crowd = _crowd(wanted, starts)
    if crowd < _CROWD:
        return
    placed = tiles + starts.astype(np.int32)
    gap = -wanted
    _count(placed, gap)
    sweeps = int(np.clip(2 * _WORK / max(1, rows * columns**2), _LEAST, _MOST))
    for sweep in range(sweeps):
        # Rows meet that agree in one column: they are more alike than any two, and more exchanges succeed.
        shuffled = generator.permutation(rows)
        met = shuffled[np.argsort(placed[shuffled, generator.integers(columns)], kind="stable")]
        temperature = min(_WARM, _WARMER * crowd) * (1 - (sweep + 1) / sweeps)
        _sweep(placed, gap, met, temperature, int(generator.integers(2**31)))
    tiles[:] = placed - starts.astype(np.int32)


def _crowd(wanted: NDArray[np.float32], starts: NDArray[np.int64]) -> float:
    """With how many rows a row shares its cell, in all but the emptiest tenth of pairs of columns."""
    squares = np.add.reduceat(np.add.reduceat(np.square(wanted, dtype=np.float64), starts, axis=0), starts, axis=1)
    totals = np.add.reduceat(np.add.reduceat(wanted.astype(np.float64), starts, axis=0), starts, axis=1)
    above = np.triu_indices(len(starts), 1)
    return float(np.quantile(squares[above] / np.maximum(totals[above], 1.0), 0.1))


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _count(placed: NDArray[np.int32], gap: NDArray[np.float32]) -> None:
    """Add every row to the pair tables."""
    rows, columns = placed.shape
    for row in range(rows):
        for a in range(columns):
            for b in range(columns):
                if a != b:
                    gap[placed[row, a], placed[row, b]] += 1.0


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _sweep(
    placed: NDArray[np.int32], gap: NDArray[np.float32], met: NDArray[np.int64], temperature: float, seed: int
) -> None:
    """Every two rows that meet may exchange each of their values."""
    np.random.seed(seed)  # of compiled code alone
    rows, columns = placed.shape
    differ = np.empty(columns, dtype=np.int64)
    for place in range(0, rows - 1, 2):
        one, other = placed[met[place]], placed[met[place + 1]]
        count = 0
        for b in range(columns):
            if one[b] != other[b]:
                differ[count] = b
                count += 1
        if count < 2:
            continue
        for number in range(count):
            column = differ[number]
            own, foreign = one[column], other[column]
            gain = -2.0 * (count - 1)
            for k in range(count):
                if k != number:
                    b = differ[k]
                    gain += gap[own, one[b]] + gap[foreign, other[b]] - gap[own, other[b]] - gap[foreign, one[b]]
            # Twice the gain is how far the sum of squared gaps would fall.
            if gain <= 0.0 and (temperature == 0.0 or gain < temperature * np.log(np.random.random())):
                continue
            for k in range(count):
                if k != number:
                    near, far = one[differ[k]], other[differ[k]]
                    gap[own, near] -= 1.0
                    gap[near, own] -= 1.0
                    gap[foreign, far] -= 1.0
                    gap[far, foreign] -= 1.0
                    gap[own, far] += 1.0
                    gap[far, own] += 1.0
                    gap[foreign, near] += 1.0
                    gap[near, foreign] += 1.0
            one[column], other[column] = foreign, own
