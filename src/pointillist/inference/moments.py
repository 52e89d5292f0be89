"""Moments: means, variances and covariances of numbers, from the tables of counts of every two of them.

A table of counts says in which tiles two numbers lie, not where in the tiles. With m and n the means of a row's two tiles,
and u and v what its numbers lie away from them,

    covariance of x and y  =  covariance of m and n  +  E[m v]  +  E[u n]  +  E[u v].

The first part is measured, and its noise known. The others are dependence inside tiles. By Cauchy and Schwarz they are
at most as large as the spread inside tiles allows: their reach. Dependence inside tiles mostly goes on as it is between
them. So the whole reach is allowed for in the direction of the measured part, and a part of it against that.

How far the noise carries any function of these moments is seen by drawing it anew: of the counts, and of where the mean of
each tile lies.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.inference.cell_grid import rows_at
from pointillist.inference.estimate import Interval
from pointillist.inference.sql_expression import Function

if TYPE_CHECKING:
    from pointillist.inference.measured_intervals import Asked

Floats = NDArray[np.float64]

_DRAWS = 300
_AGAINST = 0.25
"""The part of its reach that dependence inside tiles may have against that between them. Measured by
benchmarks.intervals.real."""
_LEAST_ROWS = 3.0
"""There are surely rows where their number is so many standard deviations above 0."""
_MOST_LOST = 0.02
"""The most draws in which there may be no variance left."""
_FEW = 2.0
"""How wide a tile is counts as so many rows in it when it is told how much a number varies there."""
_ALMOST = 0.999
"""The largest correlation that a solvable system of equations may have."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Means and covariances of some numbers, as they were read and in draws of the noise."""

    means: Floats
    """(draws, numbers); the first draw is the reading itself."""
    covariances: Floats
    """(draws, numbers, numbers)."""
    reach: Floats
    """(numbers, numbers): how much more, or less, every covariance may be through dependence inside tiles."""

    def interval(self, of: Callable[[Floats, Floats], float], confidence: float) -> Interval | None:
        """For any function of means and covariances; none where noise hides it."""
        drawn = np.array([of(*each) for each in zip(self.means, self.covariances, strict=True)])
        value, others = float(drawn[0]), drawn[1:]
        kept = others[np.isfinite(others)]
        if not math.isfinite(value) or len(kept) < (1 - _MOST_LOST) * len(others):
            return None
        low, high = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2])
        # As far to either side as draws reach on one: which way the noise carried the reading is not known.
        wide = float(max(high - value, value - low))
        noise = wide / NormalDist().inv_cdf((1 + confidence) / 2)
        down = up = 0.0
        for pair in combinations(range(len(self.reach)), 2):
            moved = [of(self.means[0], self._moved(pair, side)) - value for side in (-1, 1)]
            if not np.isfinite(moved).all():
                return None
            down, up = down - min(0.0, *moved), up + max(0.0, *moved)
        return Interval(
            value - math.hypot(wide, down), value + math.hypot(wide, up), noise, bounded=max(down, up) > wide
        )

    def _moved(self, pair: tuple[int, int], side: int) -> Floats:
        """The covariances with one as far to a side as what is inside tiles may carry it."""
        read = self.covariances[:, *pair]
        noise = float(np.nanstd(read[1:]))
        # Where the noise may have turned the sign, it says little about which way dependence goes.
        unsure = math.exp(-0.5 * (read[0] / noise) ** 2) if noise > 0 else 0.0
        part = 1.0 if side * read[0] > 0 else _AGAINST + (1 - _AGAINST) * unsure
        found = self.covariances[0].copy()
        most = _ALMOST * math.sqrt(max(found[pair[0], pair[0]] * found[pair[1], pair[1]], 0.0))
        moved = found[pair] + side * part * self.reach[pair]
        found[pair] = found[pair[::-1]] = float(np.clip(moved, min(-most, found[pair]), max(most, found[pair])))
        return found


def moments(asked: "Asked", numbers: Sequence[Function]) -> Moments | None:
    """Of numbers that are each made of one column, over the rows that have all; none if some were not counted together."""
    sources = [next(iter(each.columns)) if each.columns and len(each.columns) == 1 else None for each in numbers]
    if None in sources or len(set(sources)) < len(sources) or len(sources) < 2:
        return None
    size, rng = len(numbers), np.random.default_rng(0)
    means, squares = np.zeros((_DRAWS + 1, size)), np.zeros((_DRAWS + 1, size, size))
    reach = np.zeros((size, size))
    for first, second in combinations(range(size), 2):
        found = _pair(asked, numbers, (first, second), rng)
        if found is None:
            return None
        mean, square, far = found
        both = [first, second]
        means[:, both] += mean / (size - 1)
        squares[:, both, both] += np.diagonal(square, axis1=1, axis2=2) / (size - 1)
        squares[:, first, second] = squares[:, second, first] = square[:, 0, 1]
        reach[first, second] = reach[second, first] = far
    return Moments(means, squares, reach)


def correlation(_: Floats, covariances: Floats) -> float:
    """Of the first two numbers."""
    product = covariances[0, 0] * covariances[1, 1]
    least = min(covariances[0, 0], covariances[1, 1])
    return float(covariances[0, 1] / math.sqrt(product)) if least > 0 else math.nan


def coefficient(place: int) -> Callable[[Floats, Floats], float]:
    """Of the regression of the first number on the others; 0 is the constant."""

    def of(means: Floats, covariances: Floats) -> float:
        scale = np.sqrt(np.maximum(np.diag(covariances), 0.0))
        if not (scale > 0).all():
            return math.nan
        related = covariances / np.outer(scale, scale)
        if np.linalg.eigvalsh(related[1:, 1:])[0] < 1 - _ALMOST:
            return math.nan
        slopes = np.linalg.solve(related[1:, 1:], related[1:, 0]) * scale[0] / scale[1:]
        return float(means[0] - slopes @ means[1:]) if place == 0 else float(slopes[place - 1])

    return of


def _pair(
    asked: "Asked", numbers: Sequence[Function], places: tuple[int, int], rng: np.random.Generator
) -> tuple[Floats, Floats, float] | None:
    """Means (draws, 2) and covariances (draws, 2, 2) of two numbers over the rows that have both, and their reach."""
    columns = [next(iter(numbers[place].columns or ())) for place in places]
    view = asked.counts.readings.finest(columns)
    if view is None:
        return None
    sides = []
    for place, tiles in zip(places, view.key, strict=True):
        assert tiles is not None
        side = _Side.of(asked, numbers[place], asked.values[:, place], tiles, rng)
        if side is None:
            return None
        sides.append(side)
    one, other = sides
    noise = 1 / math.sqrt(view.precision)
    counts = np.repeat(view.values[None], _DRAWS + 1, axis=0)
    counts[1:] += noise * rng.standard_normal(counts[1:].shape)
    counts = other.agreed(one.agreed(counts, noise).swapaxes(1, 2), noise).swapaxes(1, 2)
    counts = counts[:, one.present][:, :, other.present]
    rows = counts.sum(axis=(1, 2))
    if rows[0] <= _LEAST_ROWS * noise * math.sqrt(counts[0].size) or (rows <= 0).any():
        return None
    shares = counts / rows[:, None, None]
    margins = shares.sum(axis=2), shares.sum(axis=1)
    means = np.stack([(each * side.means).sum(axis=1) for each, side in zip(margins, sides, strict=True)], axis=1)
    found = np.empty((_DRAWS + 1, 2, 2))
    for number, (each, side) in enumerate(zip(margins, sides, strict=True)):
        found[:, number, number] = (each * (side.means**2 + side.variances)).sum(axis=1) - means[:, number] ** 2
    cross = np.einsum("rij,ri,rj->r", shares, one.means, other.means) - means[:, 0] * means[:, 1]
    found[:, 0, 1] = found[:, 1, 0] = cross
    return means, found, _reach(one, other, np.maximum(asked.weights, 0.0))


def _reach(one: "_Side", other: "_Side", weights: Floats) -> float:
    """How much covariance there may be through dependence inside tiles, as rows show how numbers spread there."""
    there = (one.tile >= 0) & (other.tile >= 0)
    share = weights[there] / max(float(weights[there].sum()), np.finfo(float).tiny)
    first, second = one.tile[there], other.tile[there]

    def varying(side: "_Side", own: NDArray[np.intp], by: NDArray[np.intp]) -> Floats:
        """For each row how much the means of its tiles vary among rows in the same tile of the other number."""
        mean = side.means[0][own]
        size = int(by.max(initial=-1)) + 1
        held = np.maximum(np.bincount(by, weights=share, minlength=size), np.finfo(float).tiny)
        middle = np.bincount(by, weights=share * mean, minlength=size) / held
        return (np.bincount(by, weights=share * np.square(mean - middle[by]), minlength=size) / held)[by]

    inside = one.variances[0][first], other.variances[0][second]
    parts = (
        np.sqrt(inside[0] * varying(other, second, first)),
        np.sqrt(inside[1] * varying(one, first, second)),
        np.sqrt(inside[0] * inside[1]),
    )
    return float(sum(share @ each for each in parts))


@dataclass(frozen=True, eq=False)
class _Side:
    """One number over the tiles of its column that hold any."""

    present: NDArray[np.bool_]
    """Of all tiles, those that hold numbers and not missing values."""
    tile: NDArray[np.intp]
    """For each row of the model its tile among those; -1 where it has no number."""
    means: Floats
    """(draws, tiles)."""
    variances: Floats
    """(draws, tiles)."""
    counts: Floats
    """(draws, all tiles): rows in each, as all tables that hold the column tell it."""
    error: Floats
    """Of these, for each tile."""

    @classmethod
    def of(
        cls, asked: "Asked", number: Function, values: Floats, tiles: Tiles, rng: np.random.Generator
    ) -> "_Side | None":
        levels = asked.counts.levels[tiles.column]
        every = np.arange(levels.size, dtype=np.uint16)
        ends = [
            number(rows_at(asked.counts.levels, {tiles.column: every}, {tiles.column: np.full(levels.size, place)}))
            for place in (1e-6, 0.5, 1 - 1e-6)
        ]
        known = ~np.isnan(np.stack(ends)).any(axis=0)
        present = np.zeros(tiles.dimension, dtype=bool)
        present[tiles.table[known]] = True
        if present[tiles.table[~known]].any() or not present.any():
            return None  # numbers and gaps share a tile: the table does not tell which rows have a number
        place = np.where(present, np.cumsum(present) - 1, -1)
        low, high = np.full(present.sum(), math.inf), np.full(present.sum(), -math.inf)
        for each in ends:
            np.minimum.at(low, place[tiles.table[known]], each[known])
            np.maximum.at(high, place[tiles.table[known]], each[known])
        tile = np.where(np.isnan(values), -1, place[tiles.table[asked.records.codes[tiles.column]]])
        middle, variance = _shown(values, tile, np.maximum(asked.weights, 0.0), low, high)
        column = _Column.of(asked, tiles, np.where(known, ends[1], 0.0))
        read, error = column.means[present], column.mean_errors[present]
        middle = np.clip(np.clip(middle, read - 2 * error, read + 2 * error), low, high)
        error = np.minimum(error, (high - low) / math.sqrt(12))
        means = np.clip(middle + error * _draws(rng, len(middle)), low, high)
        # A tile whose mean is farther out is wider, too: it reaches out from the end that is nearer to all rows.
        outward = middle >= float(np.median(middle))
        near = np.where(outward, middle - low, high - middle)
        moved = np.where(outward, means - low, high - means)
        factor = np.clip(moved / np.where(near > 0, near, 1.0), 0.3, 3.0)
        variances = variance * np.where(near > 0, factor, 1.0) ** 2
        counts = column.counts + _draws(rng, tiles.dimension) @ column.factor.T
        return cls(present, tile, means, variances, counts, column.errors)

    def agreed(self, table: Floats, noise: float) -> Floats:
        """A table (draws, own tiles, others) whose rows add up nearer to what is known of the column by itself."""
        trust = table.shape[2] * noise**2 / (table.shape[2] * noise**2 + np.square(self.error))
        gap = np.where(trust > 0, self.counts - table.sum(axis=2), 0.0) * trust
        return np.asarray(table + gap[:, :, None] / table.shape[2])


def _shown(values: Floats, tile: NDArray[np.intp], weights: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Mean and variance in each tile as rows show them; where there are few, as the tile's width says, too."""
    there = tile >= 0
    tile, values, weights = tile[there], values[there], weights[there]
    held = np.bincount(tile, weights=weights, minlength=len(low))
    sure = np.where(held > 0, held, 1.0)
    seen = np.bincount(tile, weights=weights * values, minlength=len(low)) / sure
    middle = np.where(held > 0, seen, (low + high) / 2)
    variance = np.bincount(tile, weights=weights * np.square(values - middle[tile]), minlength=len(low)) / sure
    number = held * len(values) / max(float(weights.sum()), np.finfo(float).tiny)
    return middle, (number * variance + _FEW * np.square(high - low) / 12) / (number + _FEW)


def _draws(rng: np.random.Generator, size: int) -> Floats:
    """Standard normal numbers; the first draw is all 0."""
    found = rng.standard_normal((_DRAWS + 1, size))
    found[0] = 0.0
    return found


@dataclass(frozen=True, eq=False)
class _Column:
    """What all tables say about the tiles of one column."""

    counts: Floats
    errors: Floats
    factor: Floats
    """Its product with its transpose is the covariance of the counts."""
    means: Floats
    mean_errors: Floats
    """Of the number in each tile; infinite where counts do not tell it."""

    @classmethod
    def of(cls, asked: "Asked", tiles: Tiles, middles: Floats) -> "_Column":
        size, nothing = tiles.dimension, math.inf
        unknown = cls(
            np.zeros(size), np.full(size, nothing), np.zeros((size, size)), np.zeros(size), np.full(size, nothing)
        )
        if not asked.counts.by_level(asked.counts.levels[tiles.column]):
            return unknown
        inside = (tiles.table[:, None] == np.arange(size)).astype(np.float64)
        found = asked.counts.readings.sums([tiles.column], np.concatenate([middles[:, None] * inside, inside], axis=1))
        if found is None:
            return unknown
        (over, under), covariance = np.split(found[0], 2), found[1]
        own, other = np.arange(size), np.arange(size) + size
        errors = np.sqrt(np.maximum(covariance[other, other], 0.0))
        sure = under > _LEAST_ROWS * errors
        means = np.where(sure, over / np.where(sure, under, 1.0), 0.0)
        variance = covariance[own, own] - 2 * means * covariance[own, other] + means**2 * covariance[other, other]
        mean_errors = np.where(sure, np.sqrt(np.maximum(variance, 0.0)) / np.where(sure, under, 1.0), nothing)
        values, vectors = np.linalg.eigh((covariance[size:, size:] + covariance[size:, size:].T) / 2)
        return cls(under, errors, vectors * np.sqrt(np.maximum(values, 0.0)), means, mean_errors)
