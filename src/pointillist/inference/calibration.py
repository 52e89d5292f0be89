"""Calibration: synthetic rows weighted so that they agree with what was measured, however noisy that is.

A fit pulls towards what is simple, so a model shows too little dependence where the noise is strong. What the release
measured is noisy and without bias. Here rows get weights 1 + h such that the means of a few functions of columns and
pairs of columns (their scores) become as measured: the least change that does it, as in the calibration of surveys. A
statistic of weighted rows has hardly any of the fit's bias left, and all of the noise: fit for telling how wrong the
unweighted one may be, not for making better data.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.readings import Readings
from pointillist.inference.measured_intervals import middles
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_MOST_MOMENTS = 500
"""The most means that are set right at a time."""
_MOST_SCORES = 3
_SMALLEST = 0.01
"""Levels with fewer rows than this share have no score of their own."""
_FARTHEST = 3.0
"""Standard deviations from the mean beyond which a number counts no more: far tails hold little but noise."""
_RIDGE = 1e-3
"""Of a score's variance: keeps the weights finite where scores are almost the same."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Rows of a model, beside what its release measured."""

    readings: Readings
    levels: Mapping[str, Levels]
    codes: Mapping[str, NDArray[np.uint16]]
    """The level of every row, for each column."""
    _moments: dict[tuple[tuple[str, ...], int], "_Moments | None"] = field(default_factory=dict, repr=False)

    def change(self, columns: Sequence[str]) -> Floats:
        """For every row how much its weight differs from 1 when the scores of these columns are as measured."""
        most = _scores_each(len(columns))
        chosen = [*((name,) for name in columns), *itertools.combinations(columns, 2)]
        found = [each for each in (self._together(names, most) for names in chosen) if each is not None]
        if not found:
            return np.zeros(len(self.codes[columns[0]]))
        features = np.concatenate([each.features(self.codes) for each in found])
        return _least_change(features, np.concatenate([each.wanted for each in found]))

    def _together(self, columns: tuple[str, ...], most: int) -> "_Moments | None":
        if (columns, most) not in self._moments:
            self._moments[columns, most] = self._measured(columns, most)
        return self._moments[columns, most]

    def _measured(self, columns: tuple[str, ...], most: int) -> "_Moments | None":
        """The scores of one column, or products of those of two; none if they were not measured."""
        view = self.readings.finest(columns)
        tilings = () if view is None else tuple(tiles for tiles in view.key if tiles is not None)
        scores = [_scores(self.levels[tiles.column], tiles, self.codes[tiles.column], most) for tiles in tilings]
        if len(tilings) == 1 and tilings[0].tile_of == tuple(range(self.levels[columns[0]].size)):
            scores = [np.concatenate([*scores, _value_scores(self.levels[columns[0]], self.codes[columns[0]])], axis=1)]
        if not scores or not all(each.shape[1] for each in scores):
            return None
        functions = _products(scores)
        read = self.readings.ratios(columns, functions, np.ones(functions.shape[:-1]))
        return None if read is None else _Moments(tilings, functions, read[0])


class _Moments(NamedTuple):
    """Functions on the tiles of some columns, and what their means should be."""

    tilings: tuple[Tiles, ...]
    functions: Floats
    wanted: Floats

    def features(self, codes: Mapping[str, NDArray[np.uint16]]) -> Floats:
        """The functions of every row: (functions, rows)."""
        return self.functions[tuple(tiles.table[codes[tiles.column]] for tiles in self.tilings)].T


def _products(scores: list[Floats]) -> Floats:
    """All products of one score from each column, on the product of their tiles; the last axis counts them."""
    if len(scores) == 1:
        return scores[0]
    first, second = scores
    return np.asarray(np.einsum("ai,bj->abij", first, second).reshape(len(first), len(second), -1))


def _least_change(features: Floats, wanted: Floats) -> Floats:
    """The smallest h (in squares) for which the means of (1 + h) * features are as wanted; (features, rows)."""
    means = features.mean(axis=1)
    products = features @ features.T / features.shape[1] - np.outer(means, means)
    spread = np.sqrt(np.maximum(np.diag(products), 0.0))
    kept = spread > 1e-9
    spread = spread[kept]
    products = products[np.ix_(kept, kept)] / np.outer(spread, spread) + _RIDGE * np.eye(len(spread))
    factors = np.zeros(len(features))
    factors[kept] = np.linalg.solve(products, (wanted - means)[kept] / spread) / spread
    return np.asarray(factors @ features - factors @ means)


def _scores_each(columns: int) -> int:
    """How many scores a column may have, so that there are not too many products."""
    for most in range(_MOST_SCORES, 1, -1):
        if columns * most + columns * (columns - 1) // 2 * most**2 <= _MOST_MOMENTS:
            return most
    return 1


def _scores(levels: Levels, tiles: Tiles, codes: NDArray[np.uint16], most: int) -> Floats:
    """Functions on the tiles of a column, each with mean 0 over the rows: (tiles, up to `most`).

    Of what is ordered, the rank and its square; of all else, whether it is one of the most frequent.
    """
    shares = np.bincount(tiles.table[codes], minlength=tiles.dimension) / len(codes)
    ranked = np.zeros(tiles.dimension, dtype=bool)
    found: list[Floats] = []
    if levels.ordered:
        ranked[tiles.table[: levels.regular]] = True
        mass = shares * ranked
        if mass.sum() > 0:
            rank = np.where(ranked, (np.cumsum(mass) - mass / 2) / mass.sum() - 0.5, 0.0)
            found += [rank, np.where(ranked, rank**2 - 1 / 12, 0.0)]
    single = np.flatnonzero(~ranked & (shares >= _SMALLEST))
    largest = single[np.argsort(-shares[single], kind="stable")]
    if not levels.ordered and len(largest) == np.count_nonzero(shares):
        largest = largest[:-1]  # the last follows from the others
    found += [(np.arange(tiles.dimension) == tile) - shares[tile] for tile in largest]
    return np.stack(found[:most], axis=1) if found else np.zeros((tiles.dimension, 0))


def _value_scores(levels: Levels, codes: NDArray[np.uint16]) -> Floats:
    """A number itself and its square, in standard deviations, at every level: (levels, 2). None of any other column.

    Ranks say little about how far the tails reach.
    """
    counts = np.bincount(codes, minlength=levels.size).astype(np.float64)
    if levels.has_missing:
        counts[levels.missing] = 0.0
    if not levels.numeric or counts.sum() == 0:
        return np.zeros((levels.size, 0))
    shares, values = counts / counts.sum(), middles(levels)
    mean = float(shares @ values)
    spread = float(np.sqrt(shares @ np.square(values - mean)))
    if spread == 0:
        return np.zeros((levels.size, 0))
    number = np.clip((values - mean) / spread, -_FARTHEST, _FARTHEST)
    scores = np.stack([number, np.square(number)], axis=1)
    scores -= shares @ scores
    if levels.has_missing:
        scores[levels.missing] = 0.0
    return scores
