"""Cells: shares and means over private rows, read off the noisy counts of the columns that a question reads.

What a condition or a function comes to in a cell is found by trying it at a few places of every level: so any formula
will do.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from pointillist.features import Records, Tiles
from pointillist.fitting.readings import Readings
from pointillist.inference.function import Function
from pointillist.inference.measured import Interval
from pointillist.sampling.decoding import decode_table, numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_PLACES = (1e-6, 0.25, 0.5, 0.75, 1 - 1e-6)
"""Where in a bin something is tried: not at its very ends, which have no probability among reals."""
_MOST_TRIED = 200_000
_CUT = 4.0
"""Where cells that the condition cuts through hold more than so many standard deviations, counts do not answer it."""


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


def share(
    readings: Readings, levels: Mapping[str, Levels], columns: Sequence[str], event: Function, confidence: float
) -> Interval | None:
    """Where the share of private rows lies that meet a condition on some columns; none if no table tells it."""
    grid = Grid.of(readings, levels, columns)
    if grid is None:
        return None
    least, most = (each.reshape(grid.shape) for each in grid.ends(event(grid.table), grid.cells))
    read = readings.ratios(columns, np.stack([least, most], axis=-1), np.ones_like(least))
    if read is None:
        return Interval(0.0, 1.0, math.inf)
    (low, high), errors = read
    if high - low > _CUT * errors.max():
        return None
    wide = float(stats.norm.ppf((1 + confidence) / 2)) * errors
    ends = float(np.clip(low - wide[0], 0, 1)), float(np.clip(high + wide[1], 0, 1))
    return Interval(*ends, float(errors.max()))


@dataclass(frozen=True, eq=False)
class Shown:
    """What a model's rows show of a function: where in a cell rows lie is not measured, and taken from them."""

    records: Records
    values: Floats
    """Of the function, and 1 or 0 for whether the row counts: (rows, 2)."""
    weights: Floats


def mean(
    readings: Readings,
    levels: Mapping[str, Levels],
    columns: Sequence[str],
    asked: tuple[Function, Function],
    shown: Shown,
    confidence: float,
    *,
    of_all: bool = False,
) -> Interval | None:
    """Where the mean of a function lies over the private rows that meet a condition; none if no table tells it.

    `asked` are the function and the condition; `of_all` divides by all rows. Inside its cell a function varies, and its mean
    there is taken to lie anywhere between its ends: a variance of a twelfth of the square. Where that is more than the
    noise, or the condition cuts through a cell, counts do not answer.
    """
    grid = Grid.of(readings, levels, columns)
    if grid is None:
        return None
    number, where = (each(grid.table) for each in asked)
    there = (where > 0) & ~np.isnan(number)
    least, most = grid.ends(there.astype(np.float64), grid.cells)
    if not (least == most).all():
        return None
    low, high = grid.ends(number[there], grid.cells[there])
    held = np.where(np.isnan(shown.values[:, 0]), 0.0, shown.values[:, 1] * np.maximum(shown.weights, 0.0))
    cells = _cells(grid.tiles, shown.records.codes)
    part = grid.added(held, cells)
    inside = most > 0
    middle = grid.added(np.where(there, number, 0.0), grid.cells) / np.maximum(
        grid.added(there.astype(np.float64), grid.cells), 1.0
    )
    seen = grid.added(np.nan_to_num(shown.values[:, 0]) * held, cells) / np.where(part > 0, part, 1.0)
    middle[inside] = np.clip(np.where(part > 0, seen, middle)[inside], low[inside], high[inside])
    under = np.ones(len(inside)) if of_all else inside.astype(np.float64)
    read = readings.ratios(columns, np.where(inside, middle, 0.0).reshape((*grid.shape, 1)), under.reshape(grid.shape))
    if read is None:
        return None
    total = float(np.maximum(shown.weights, 0.0).sum()) if of_all else float(part.sum())
    width = np.where(inside, high - low, 0.0)
    unknown = math.sqrt(float(np.square(part * width).sum()) / 12) / total if total > 0 else math.inf
    noise = float(read[1][0])
    if unknown > noise:
        return None
    error = math.hypot(noise, unknown)
    wide = float(stats.norm.ppf((1 + confidence) / 2)) * error
    return Interval(float(read[0][0]) - wide, float(read[0][0]) + wide, error)


def _tried(levels: Levels) -> tuple[NDArray[np.uint16], Floats]:
    """Levels of a column, some several times, and where in its bin each is tried."""
    every = np.arange(levels.size, dtype=np.uint16)
    if not levels.numeric:
        return every, np.zeros(len(every))
    bins = every[: levels.regular]
    single = np.diff(levels.edges) == 1 if levels.whole else np.zeros(levels.regular, dtype=bool)
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
