"""Score layer: products of two scores that a release measured, as one matrix over scores.

A score is a number for each tile, so its mean in a component is a sum over tiles; the classes of a label are scores, too,
which are 1 in one class and 0 in the others. What was measured is means of products of two.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Score, Tiles
from pointillist.fitting.evidence import ScoreSums

Floats = NDArray[np.float64]
Single = NDArray[np.float32]


class ScoreLayer:
    """What sums of scores say about pairs of columns.

    Arguments:
        within: the share of each level inside its tile, by column: a tile may have levels of either sign.
    """

    def __init__(
        self,
        sums: Sequence[ScoreSums],
        rows: float,
        base: Mapping[str, Tiles],
        places: Mapping[str, slice],
        within: Mapping[str, Floats],
    ):
        self._base, self._places, self._within = base, places, within
        self._numbers: dict[tuple[str, Score | Tiles, int], int] = {}
        self._columns: list[tuple[slice, Floats]] = []
        entries = [entry for each in sums for entry in self._entries(each)]
        size = len(self._columns)
        self.matrix = np.zeros((sum(tiles.dimension for tiles in base.values()), size), dtype=np.float32)
        """Tiles x scores."""
        for number, (place, values) in enumerate(self._columns):
            self.matrix[place, number] = values
        self.wanted, self.precision = (np.zeros((size, size), dtype=np.float32) for _ in range(2))
        for one, other, value, sigma in entries:
            self.wanted[one, other] = self.wanted[other, one] = value / rows
            self.precision[one, other] = self.precision[other, one] = (rows / sigma) ** 2
        self.cells = len(entries)

    def _entries(self, sums: ScoreSums) -> list[tuple[int, int, float, float]]:
        """Numbers of two scores, the sum of their products, and its noise."""
        scores = [self._number(score, 0, score.table.astype(np.float64)) for score in sums.products.scores]
        found = []
        if sums.label is None:
            for group, value in zip(sums.products.groups, sums.values[0], strict=True):
                if len(group) == 2:
                    found.append((scores[group[0]], scores[group[1]], float(value), sums.sigma))
            return found
        for cls, values in enumerate(sums.values):
            own = self._number(sums.label, cls, (sums.label.table == cls).astype(np.float64))
            for group, value in zip(sums.products.groups, values, strict=True):
                if len(group) == 1:
                    found.append((own, scores[group[0]], float(value), sums.sigma))
        return found

    def _number(self, leaf: Score | Tiles, cls: int, levels: Floats) -> int:
        key = (leaf.column, leaf, cls)
        if key not in self._numbers:
            tiles = self._base[leaf.column]
            values = np.bincount(tiles.table, weights=self._within[leaf.column] * levels, minlength=tiles.dimension)
            self._numbers[key] = len(self._columns)
            self._columns.append((self._places[leaf.column], values.astype(np.float64)))
        return self._numbers[key]

    def add_slopes(self, weights: Single, table: Single, to_weights: Single, to_table: Single) -> float:
        """chi^2 of a mixture; the slopes of half of it are added to those that are there."""
        means = table @ self.matrix
        gap = means.T @ (weights[:, None] * means) - self.wanted
        tension = self.precision * gap
        pushed = means @ tension
        to_weights += 0.5 * np.einsum("ks,ks->k", pushed, means)
        pushed *= weights[:, None]
        to_table += pushed @ self.matrix.T
        return 0.5 * float(np.vdot(tension, gap))

    def distance(self, marginal: Floats) -> float:
        """chi^2 of independent columns."""
        means = marginal.astype(np.float32) @ self.matrix
        gap = np.outer(means, means) - self.wanted
        return 0.5 * float(np.sum(self.precision * gap * gap))
