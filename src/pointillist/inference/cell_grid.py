"""Cell grid: every cell of a table of counts, and rows at a few places of each.

What a formula comes to in a cell is found by trying it at those places, so any formula will do. Rows of a model say where in
a cell private rows are likely to lie, and how much a formula varies there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.readings import Readings
from pointillist.sampling.decoding import decode_table
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Codes = Mapping[str, NDArray[np.uint16]]

_PLACES = (1e-6, 0.25, 0.5, 0.75, 1 - 1e-6)
"""Where in a bin something is tried: not at its very ends, which have no probability among reals."""
_MOST_TRIED = 200_000
_IN_A_TILE = 7
"""Where there would be more places than that, so many are tried in each tile of a column, its ends among them."""
_FEW = 2.0
"""A cell's own places count as so many rows when it is told how much a function varies in it."""


@dataclass(frozen=True, eq=False)
class CellGrid:
    """Every cell of the finest table of some columns, and rows at a few places of each."""

    columns: tuple[str, ...]
    tiles: tuple[Tiles, ...]
    table: pa.Table
    """The rows."""
    cells: NDArray[np.int64]
    """The cell of each."""

    @classmethod
    def of(cls, readings: Readings, levels: Mapping[str, Levels], columns: Sequence[str]) -> "CellGrid | None":
        """None if no table holds all of the columns, or if there are too many places to try."""
        view = readings.finest(columns)
        if view is None:
            return None
        tiles = tuple(each for each in view.key if each is not None)
        tried = {name: _tried(levels[name]) for name in columns}
        if math.prod(len(codes) for codes, _ in tried.values()) > _MOST_TRIED:
            tried = {each.column: _thinned(each, *tried[each.column]) for each in tiles}
        if math.prod(len(codes) for codes, _ in tried.values()) > _MOST_TRIED:
            return None
        grids = np.meshgrid(*(np.arange(len(codes)) for codes, _ in tried.values()), indexing="ij")
        picked = {name: grid.ravel() for name, grid in zip(tried, grids, strict=True)}
        codes = {name: tried[name][0][picked[name]] for name in tried}
        places = {name: tried[name][1][picked[name]] for name in tried}
        return cls(tuple(columns), tiles, rows_at(levels, codes, places), cells_of(tiles, codes))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(each.dimension for each in self.tiles)

    def ends(self, values: Floats) -> tuple[Floats, Floats]:
        """The lowest and the highest value in each cell: infinite, the wrong way round, where there is none."""
        low, high = np.full(math.prod(self.shape), math.inf), np.full(math.prod(self.shape), -math.inf)
        np.minimum.at(low, self.cells, values)
        np.maximum.at(high, self.cells, values)
        return low, high

    def shown(self, tried: Floats, values: Floats, codes: Codes, weights: Floats) -> tuple[Floats, Floats]:
        """For each cell the mean of a function as rows show it, and the rows' weight; where there are none, of its places.

        `tried` is the function at the grid's own places, `values` of the rows.
        """
        cells = cells_of(self.tiles, codes)
        held = self._added(weights, cells)
        middle = self._added(tried, self.cells) / np.maximum(self._added(np.ones(len(tried)), self.cells), 1.0)
        seen = self._added(values * weights, cells) / np.where(held > 0, held, 1.0)
        return np.where(held > 0, seen, middle), held

    def spread(self, tried: Floats, values: Floats, codes: Codes, weights: Floats) -> Floats:
        """For each cell the standard deviation of a function in it, as rows show it; with few, as its places do, too."""
        cells = cells_of(self.tiles, codes)
        middle, held = self.shown(tried, values, codes, weights)
        number = held * len(values) / max(float(weights.sum()), np.finfo(float).tiny)
        places = np.maximum(self._added(np.ones(len(tried)), self.cells), 1.0)
        there = self._added(np.square(values - middle[cells]) * weights, cells) / np.where(held > 0, held, 1.0)
        at_places = self._added(np.square(tried - middle[self.cells]), self.cells) / places
        return np.sqrt((number * there + _FEW * at_places) / (number + _FEW))

    def _added(self, weights: Floats, cells: NDArray[np.int64]) -> Floats:
        """Weights added up in each cell."""
        return np.bincount(cells, weights=weights, minlength=math.prod(self.shape)).astype(np.float64)


def cells_of(tiles: Sequence[Tiles], codes: Codes) -> NDArray[np.int64]:
    """The number of every row's cell."""
    found = np.ravel_multi_index(
        tuple(each.table[codes[each.column]] for each in tiles), tuple(each.dimension for each in tiles)
    )
    return np.asarray(found, dtype=np.int64)


def rows_at(levels: Mapping[str, Levels], codes: Codes, places: Mapping[str, Floats]) -> pa.Table:
    """Rows at some levels of some columns, and places in their bins. The other columns are the same in all of them."""
    rows = len(next(iter(codes.values())))
    every = {name: codes.get(name, np.zeros(rows, dtype=np.uint16)) for name in levels}
    drawn = {
        name: numbers(each, every[name], places.get(name, np.zeros(rows)))
        for name, each in levels.items()
        if each.numeric
    }
    return decode_table(tuple(levels.values()), every, np.random.default_rng(0), drawn)


def _tried(levels: Levels) -> tuple[NDArray[np.uint16], Floats]:
    """Levels of a column, some several times, and where in its bin each is tried."""
    every = np.arange(levels.size, dtype=np.uint16)
    if not levels.numeric:
        return every, np.zeros(len(every))
    bins = every[: levels.regular]
    single = np.full(levels.regular, len(levels.values) > 0)
    if levels.whole:
        single |= np.diff(levels.edges) == 1
    codes = np.concatenate([bins[single], np.repeat(bins[~single], len(_PLACES)), every[levels.regular :]])
    spread = np.concatenate(
        [np.zeros(single.sum()), np.tile(_PLACES, (~single).sum()), np.zeros(levels.size - levels.regular)]
    )
    return codes, spread


def _thinned(tiles: Tiles, codes: NDArray[np.uint16], places: Floats) -> tuple[NDArray[np.uint16], Floats]:
    """A few of the places in each tile: the first, the last and some between."""
    order = np.lexsort((places, codes, tiles.table[codes]))
    kept = []
    for held in np.split(order, np.flatnonzero(np.diff(tiles.table[codes[order]])) + 1):
        kept.append(held[np.unique(np.linspace(0, len(held) - 1, _IN_A_TILE).round().astype(int))])
    chosen = np.concatenate(kept)
    return codes[chosen], places[chosen]
