"""Measured intervals: intervals for statistics of the private rows, read off the tables of a release alone.

The noise is Gaussian (on a fine grid) with a known scale, so an unbiased reading plus and minus so many standard deviations
holds the private figure as often as is said, whatever the data. No model has a part in it, but for where inside its cell a
row lies. What a table does not tell, because its cells are wider than the question, is taken at its worst, or left to
others. What a formula comes to in a cell is found by trying it at a few places of every level: so any formula will do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.features import Records, Tiles
from pointillist.fitting.readings import Readings
from pointillist.inference.estimate import Interval
from pointillist.inference.sql_expression import Function
from pointillist.sampling.condition import Condition, Cut
from pointillist.sampling.decoding import decode_table
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_DRAWN = 64
"""Numbers drawn from a bin to know their mean."""
_MOST_ENDS = 400
"""The most places at which a distribution function is read."""
_WHOLE = 1 - 1e-9
_PLACES = (1e-6, 0.25, 0.5, 0.75, 1 - 1e-6)
"""Where in a bin something is tried: not at its very ends, which have no probability among reals."""
_MOST_TRIED = 200_000
_CUT = 4.0
"""Where cells that the condition cuts through hold more than so many standard deviations, counts do not answer it."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of the counts: functions of the release's rows, and what rows of a model show of them.

    Where in a cell private rows lie is not measured, and taken from the model's.
    """

    counts: "NoisyCounts"
    columns: Sequence[str]
    """The columns that the functions read."""
    functions: tuple[Function, ...]
    """Numbers, if any, and a condition last."""
    records: Records
    values: Floats
    """Of the functions for the model's rows: (rows, functions)."""
    weights: Floats

    def shares(self, levels: Levels) -> Floats:
        """The share of the model's rows at each level of a column."""
        codes = self.records.codes[levels.name]
        return np.maximum(np.bincount(codes, weights=self.weights, minlength=levels.size), 0.0)


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """The tables of a release, to be asked. An answer of None: no table tells it."""

    readings: Readings
    levels: Mapping[str, Levels]
    confidence: float

    def share(self, asked: Asked) -> Interval | None:
        """The share of rows that meet any condition; none where too many cells are cut through by it."""
        grid = Grid.of(self.readings, self.levels, asked.columns)
        if grid is None:
            return None
        met = asked.functions[-1](grid.table)
        least, most = (each.reshape(grid.shape) for each in grid.ends(met, grid.cells))
        return self._share(asked.columns, least, most, sharp=True)

    def share_of(self, condition: Condition) -> Interval | None:
        """The share of rows that meet a condition column by column; cells that are cut through widen it."""
        view = self.readings.finest(list(condition.cuts))
        if view is None:
            return None
        least, most = np.ones(()), np.ones(())
        for tiles, cut in zip(view.key, condition.cuts.values(), strict=True):
            assert tiles is not None
            sure, possible = _members(tiles, cut)
            least, most = np.multiply.outer(least, sure), np.multiply.outer(most, possible)
        return self._share(list(condition.cuts), least, most, sharp=False)

    def _share(self, columns: Sequence[str], least: Floats, most: Floats, *, sharp: bool) -> Interval | None:
        """Of the cells that surely meet a condition, and of those that may; `sharp`: none if these are too far apart."""
        read = self.readings.ratios(columns, np.stack([least, most], axis=-1), np.ones_like(least))
        if read is None:
            return Interval(0.0, 1.0, math.inf)
        (low, high), errors = read
        if sharp and high - low > _CUT * errors.max():
            return None
        wide = _deviations(self.confidence) * errors
        return Interval(_within(low - wide[0], 0, 1), _within(high + wide[1], 0, 1), float(errors.max()))

    def mean(self, levels: Levels, shares: Floats) -> Interval | None:
        """The mean of a number; none unless it was measured level by level. `shares` are the levels', roughly.

        Where in its bin a value lies was not measured. Every bin's mean is taken to lie anywhere in the bin, whatever those
        of the others: a variance of a twelfth of the bin's squared width.
        """
        if not self._by_level(levels):
            return None
        lowest, highest = spans(levels)
        present = _present(levels)
        bounds = float(np.nanmin(lowest)), float(np.nanmax(highest))
        read = self.readings.ratios([levels.name], (middles(levels) * present)[:, None], present)
        if read is None:
            return Interval(*bounds, math.inf)
        part = shares * present / max(float((shares * present).sum()), np.finfo(float).tiny)
        unknown = float(np.square(part * np.where(present > 0, highest - lowest, 0.0)).sum()) / 12
        error = math.hypot(float(read[1][0]), math.sqrt(unknown))
        wide = _deviations(self.confidence) * error
        value = float(read[0][0])
        return Interval(_within(value - wide, *bounds), _within(value + wide, *bounds), error)

    def mean_where(self, asked: Asked, *, of_all: bool = False) -> Interval | None:
        """The mean of any function over the rows that meet any condition; `of_all` divides by all rows.

        Inside its cell a function varies, and its mean there is taken to lie anywhere between its ends: a variance of a
        twelfth of the square. Where that is more than the noise, or the condition cuts through a cell, counts do not answer.
        """
        grid = Grid.of(self.readings, self.levels, asked.columns)
        if grid is None:
            return None
        tried, met = (each(grid.table) for each in asked.functions)
        there = (met > 0) & ~np.isnan(tried)
        least, most = grid.ends(there.astype(np.float64), grid.cells)
        if not (least == most).all():
            return None
        inside = most > 0
        middle, width, part = grid.inside(tried, there, asked)
        under = np.ones(len(inside)) if of_all else inside.astype(np.float64)
        over = np.where(inside, middle, 0.0).reshape((*grid.shape, 1))
        read = self.readings.ratios(asked.columns, over, under.reshape(grid.shape))
        if read is None:
            return None
        total = float(np.maximum(asked.weights, 0.0).sum()) if of_all else float(part.sum())
        unknown = math.sqrt(float(np.square(part * width).sum()) / 12) / total if total > 0 else math.inf
        noise = float(read[1][0])
        if unknown > noise:
            return None
        error = math.hypot(noise, unknown)
        wide = _deviations(self.confidence) * error
        return Interval(float(read[0][0]) - wide, float(read[0][0]) + wide, error)

    def quantile(self, levels: Levels, order: float) -> Interval | None:
        """The lowest number that at least this share of the rows do not exceed; none unless measured level by level.

        Its distribution function is read at the ends of the bins. Where it is surely below the order, the quantile is
        higher; where it surely reaches it, the quantile is not higher.
        """
        if not self._by_level(levels):
            return None
        lowest, highest = spans(levels)
        present = _present(levels) > 0
        ends = np.unique(np.concatenate([lowest[present], highest[present]]))
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, _MOST_ENDS).round().astype(int))]
        sure, possible = (present[:, None] & (each[:, None] <= ends) for each in (highest, lowest))
        functions = np.concatenate([sure, possible], axis=1).astype(np.float64)
        read = self.readings.ratios([levels.name], functions, present.astype(np.float64))
        if read is None:
            return Interval(float(ends[0]), float(ends[-1]), math.inf)
        # One test on either side decides: the one at the end next to the quantile. So each has half of the error's chance.
        deviations = _deviations(self.confidence)
        (sure_share, possible_share), (sure_error, possible_error) = (np.split(each, 2) for each in read)
        below = possible_share + deviations * possible_error < order
        above = sure_share - deviations * sure_error >= order
        low = int(np.argmin(np.append(below, False))) - 1  # the last of the ends from the left that are all below
        high = len(ends) - int(np.argmin(np.append(above[::-1], False)))  # the first of those to the right all above
        first, last = float(ends[max(low, 0)]), float(ends[min(high, len(ends) - 1)])
        if levels.whole and low >= 0:
            first = min(first + 1, last)  # above a whole number is the next one
        return Interval(first, last, (last - first) / (2 * deviations))

    def _by_level(self, levels: Levels) -> bool:
        view = self.readings.finest([levels.name])
        tiles = None if view is None else view.key[0]
        return tiles is not None and tiles.tile_of == tuple(range(levels.size))


@dataclass(frozen=True, eq=False)
class Grid:
    """Every cell of the finest table of some columns, and rows at a few places of each."""

    columns: tuple[str, ...]
    tiles: tuple[Tiles, ...]
    table: pa.Table
    """The rows."""
    cells: NDArray[np.int64]
    """The cell of each."""

    @classmethod
    def of(cls, readings: Readings, levels: Mapping[str, Levels], columns: Sequence[str]) -> "Grid | None":
        """None if no table holds all of the columns, or if there are too many places to try."""
        view = readings.finest(columns)
        if view is None:
            return None
        tiles = tuple(each for each in view.key if each is not None)
        tried = {name: _tried(levels[name]) for name in columns}
        if math.prod(len(codes) for codes, _ in tried.values()) > _MOST_TRIED:
            return None
        grids = np.meshgrid(*(np.arange(len(codes)) for codes, _ in tried.values()), indexing="ij")
        picked = {name: grid.ravel() for name, grid in zip(columns, grids, strict=True)}
        codes = {name: tried[name][0][picked[name]] for name in columns}
        return cls(tuple(columns), tiles, _table(levels, tried, picked), _cells(tiles, codes))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(each.dimension for each in self.tiles)

    def ends(self, values: Floats, cells: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The lowest and the highest value in each cell: infinite, the wrong way round, where there is none."""
        low, high = np.full(math.prod(self.shape), math.inf), np.full(math.prod(self.shape), -math.inf)
        np.minimum.at(low, cells, values)
        np.maximum.at(high, cells, values)
        return low, high

    def added(self, weights: Floats, cells: NDArray[np.int64]) -> Floats:
        """Weights added up in each cell."""
        return np.bincount(cells, weights=weights, minlength=math.prod(self.shape)).astype(np.float64)

    def inside(self, tried: Floats, there: NDArray[np.bool_], asked: Asked) -> tuple[Floats, Floats, Floats]:
        """For each cell the mean of a function as rows show it, how far its ends are apart, and the weight of the rows.

        `tried` is the function at the grid's own places, and `there` which of them count.
        """
        low, high = self.ends(tried[there], self.cells[there])
        held = np.where(np.isnan(asked.values[:, 0]), 0.0, asked.values[:, 1] * np.maximum(asked.weights, 0.0))
        cells = _cells(self.tiles, asked.records.codes)
        part = self.added(held, cells)
        middle = self.added(np.where(there, tried, 0.0), self.cells) / np.maximum(
            self.added(there.astype(np.float64), self.cells), 1.0
        )
        seen = self.added(np.nan_to_num(asked.values[:, 0]) * held, cells) / np.where(part > 0, part, 1.0)
        some = high >= low
        middle[some] = np.clip(np.where(part > 0, seen, middle)[some], low[some], high[some])
        return middle, np.where(some, high - low, 0.0), part


def spans(levels: Levels) -> tuple[Floats, Floats]:
    """The lowest and the highest number of every level; NaN of what is missing."""
    regular = levels.edges[1:] - 1 if levels.whole else levels.edges[1:]
    atoms = np.concatenate([levels.specials, np.full(int(levels.has_missing), np.nan)])
    return np.concatenate([levels.edges[:-1], atoms]), np.concatenate([regular, atoms])


def middles(levels: Levels) -> Floats:
    """The mean number of every level as it is decoded; 0 of what is missing."""
    codes = np.repeat(np.arange(levels.size, dtype=np.uint16), _DRAWN)
    drawn = numbers(levels, codes, np.tile((np.arange(_DRAWN) + 0.5) / _DRAWN, levels.size))
    return np.asarray(drawn.reshape(levels.size, _DRAWN).mean(axis=1) * _present(levels))


def _members(tiles: Tiles, cut: Cut) -> tuple[Floats, Floats]:
    """Which tiles surely lie in a selection, and which may hold rows of it."""
    least, most = np.ones(tiles.dimension), np.zeros(tiles.dimension)
    np.minimum.at(least, tiles.table, cut.shares >= _WHOLE)
    np.maximum.at(most, tiles.table, cut.shares > 0)
    return least, most


def _present(levels: Levels) -> Floats:
    """1 for every level but what is missing."""
    found = np.ones(levels.size)
    if levels.has_missing:
        found[levels.missing] = 0.0
    return found


def _tried(levels: Levels) -> tuple[NDArray[np.uint16], Floats]:
    """Levels of a column, some several times, and where in its bin each is tried."""
    every = np.arange(levels.size, dtype=np.uint16)
    if not levels.numeric:
        return every, np.zeros(len(every))
    bins = every[: levels.regular]
    single = np.diff(levels.edges) == 1 if levels.whole else np.full(levels.regular, len(levels.values) > 0)
    codes = np.concatenate([bins[single], np.repeat(bins[~single], len(_PLACES)), every[levels.regular :]])
    spread = np.concatenate(
        [np.zeros(single.sum()), np.tile(_PLACES, (~single).sum()), np.zeros(levels.size - levels.regular)]
    )
    return codes, spread


def _table(
    levels: Mapping[str, Levels],
    tried: Mapping[str, tuple[NDArray[np.uint16], Floats]],
    picked: Mapping[str, NDArray[np.int64]],
) -> pa.Table:
    """Rows with all combinations of what is tried. The other columns are there, too, and always the same."""
    rows = len(next(iter(picked.values())))
    codes = {name: np.zeros(rows, dtype=np.uint16) for name in levels}
    places = {name: np.zeros(rows) for name in levels}
    for name, chosen in picked.items():
        codes[name], places[name] = tried[name][0][chosen], tried[name][1][chosen]
    drawn = {name: numbers(each, codes[name], places[name]) for name, each in levels.items() if each.numeric}
    return decode_table(tuple(levels.values()), codes, np.random.default_rng(0), drawn)


def _cells(tiles: tuple[Tiles, ...], codes: Mapping[str, NDArray[np.uint16]]) -> NDArray[np.int64]:
    """The number of every row's cell."""
    found = np.ravel_multi_index(
        tuple(each.table[codes[each.column]] for each in tiles), tuple(each.dimension for each in tiles)
    )
    return np.asarray(found, dtype=np.int64)


def _deviations(confidence: float) -> float:
    """How many standard deviations on either side hold a normal variable with this probability."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _within(value: float, low: float, high: float) -> float:
    return float(min(max(value, low), high))
