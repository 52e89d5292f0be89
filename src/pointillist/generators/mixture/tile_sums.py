"""Tile sums: from probabilities of all tiles to sums of some of them, and back with slopes. Few tiles go into each sum."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

Single = NDArray[np.float32]
Integers = NDArray[np.int64]


class TileSums:
    """A matrix, tiles x sums, of which hardly any entry is not zero."""

    def __init__(self, matrix: NDArray[Any]):
        self.size = matrix.shape[1]
        self.tiles, self.sums = (each.astype(np.int64) for each in np.nonzero(matrix))
        self.factors = matrix[self.tiles, self.sums].astype(np.float32)

    def of(self, table: Single) -> Single:
        """The sums of every component's probabilities."""
        found = np.empty((len(table), self.size), dtype=np.float32)
        _add_up(table, self.tiles, self.sums, self.factors, found)
        return found

    def add_back(self, slope: Single, to_table: Single) -> None:
        """Add a slope in the sums to that in the probabilities."""
        _add_back(slope, self.tiles, self.sums, self.factors, to_table)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _add_up(table: Single, tiles: Integers, sums: Integers, factors: Single, found: Single) -> None:
    for k in range(len(table)):
        own, made = table[k], found[k]
        made[:] = 0
        for number in range(len(tiles)):
            made[sums[number]] += factors[number] * own[tiles[number]]


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def _add_back(slope: Single, tiles: Integers, sums: Integers, factors: Single, to_table: Single) -> None:
    for k in range(len(slope)):
        own, made = slope[k], to_table[k]
        for number in range(len(tiles)):
            made[tiles[number]] += factors[number] * own[sums[number]]
