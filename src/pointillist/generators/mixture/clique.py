"""Clique: one measured table of three columns or more, in the fit by itself. Pairs, which are many, share layers."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.features.indicator import aggregation
from pointillist.generators.mixture.tile_sums import TileSums
from pointillist.generators.product_tables import cells_of, slopes_of

Floats = NDArray[np.float64]
Single = NDArray[np.float32]


class Clique:
    """What a table says about the tiles of its columns.

    Its columns are taken in two halves: the mixture's table is one matrix product of what components say about either.
    """

    def __init__(
        self,
        leaves: Sequence[Tiles],
        base: dict[str, Tiles],
        places: dict[str, slice],
        values: Floats,
        precision: float,
    ):
        self.columns = tuple(leaf.column for leaf in leaves)
        self.places = [places[name] for name in self.columns]
        self.place_of = [_places(base[leaf.column], leaf) for leaf in leaves]
        self._sums = [TileSums(aggregation(base[leaf.column], leaf)) for leaf in leaves]
        self.wanted = values.astype(np.float32)
        self.precision = precision

    def tables(self, table: Single) -> list[Single]:
        """The components' probabilities of the places along each side of the table."""
        return [sums.of(np.ascontiguousarray(table[:, at])) for sums, at in zip(self._sums, self.places, strict=True)]

    def add_slopes(self, weights: Single, table: Single, to_weights: Single, to_table: Single) -> float:
        """chi^2 of a mixture; the slopes of half of it are added to those that are there."""
        tables = self.tables(table)
        half = len(tables) // 2
        first, second = cells_of(tables[:half]), cells_of(tables[half:])
        weighted: Single = weights[:, None] * first
        gap = weighted.T @ second
        gap -= self.wanted.reshape(gap.shape)
        tension = np.float32(self.precision) * gap
        to_second: Single = first @ tension
        to_weights += np.einsum("kc,kc->k", to_second, second)
        to_first: Single = weights[:, None] * (second @ tension.T)
        to_second *= weights[:, None]
        slopes = [*slopes_of(tables[:half], to_first), *slopes_of(tables[half:], to_second)]
        for sums, at, slope in zip(self._sums, self.places, slopes, strict=True):
            sums.add_back(slope, to_table[:, at])
        return float(np.vdot(tension, gap))

    def pairs_in(self, pairs: Single) -> dict[tuple[int, int], Floats]:
        """What pair tables of all tiles, side by side, say about every two sides of the table."""
        found = {}
        for first, second in itertools.combinations(range(len(self.places)), 2):
            own = np.zeros((self.wanted.shape[first], self.wanted.shape[second]))
            block = pairs[self.places[first], self.places[second]]
            np.add.at(own, np.ix_(self.place_of[first], self.place_of[second]), block)
            found[first, second] = own
        return found


def _places(base: Tiles, leaf: Tiles) -> NDArray[np.int32]:
    """For each tile of the base the tile of the table that it lies in."""
    found = np.zeros(base.dimension, dtype=np.int32)
    found[base.table] = leaf.table
    return found
