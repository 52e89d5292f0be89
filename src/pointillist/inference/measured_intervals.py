"""Measured intervals: intervals for statistics of the private rows, read off the tables of a release alone.

The noise is Gaussian (on a fine grid) with a known scale, so an unbiased reading plus and minus so many standard deviations
holds the private figure as often as is said, whatever the data. What a table does not tell, because its cells are wider
than the question, is taken from a model's rows, and the interval is wider by as much as the question varies inside cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Records, Tiles
from pointillist.fitting.readings import Readings
from pointillist.inference.cell_grid import CellGrid
from pointillist.inference.estimate import Interval
from pointillist.inference.sql_expression import Function
from pointillist.sampling.condition import Condition, Cut
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_DRAWN = 64
"""Numbers drawn from a bin to know their mean."""
_MOST_ENDS = 400
"""The most places at which a distribution function is read."""
_WHOLE = 1 - 1e-9
_CUT = 4.0
"""Where cells that a condition cuts through hold no more than so many standard deviations, they are taken at their worst."""
_INSIDE = 2.0
"""A cell's private mean is off from that of the model's rows by the standard deviation inside the cell at most, or nearly
so: that counts as so many standard deviations of an error. Measured by benchmarks.intervals.real."""


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
        """The share of rows that meet any condition."""
        grid = CellGrid.of(self.readings, self.levels, asked.columns)
        if grid is None:
            return None
        met = asked.functions[-1](grid.table)
        least, most = (each.reshape(grid.shape) for each in grid.ends(met))
        sharp = self._share(asked.columns, least, most, sharp=True)
        return (
            self._inside(asked, grid, np.ones(len(met)), np.ones(len(asked.values)), True) if sharp is None else sharp
        )

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
        return Interval(low - wide[0], high + wide[1], float(errors.max())).within(0.0, 1.0)

    def mean(self, levels: Levels, shares: Floats) -> Interval | None:
        """The mean of a number; none unless it was measured level by level. `shares` are the levels', roughly.

        Where in its bin a value lies was not measured. Every bin's mean is taken to lie anywhere in the bin, whatever those
        of the others: a variance of a twelfth of the bin's squared width.
        """
        if not self.by_level(levels):
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
        return Interval(value - wide, value + wide, error).within(*bounds)

    def mean_where(self, asked: Asked, *, of_all: bool = False) -> Interval | None:
        """The mean of any function over the rows that meet any condition; `of_all` divides by all rows."""
        grid = CellGrid.of(self.readings, self.levels, asked.columns)
        return (
            None
            if grid is None
            else self._inside(asked, grid, asked.functions[0](grid.table), asked.values[:, 0], of_all)
        )

    def _inside(self, asked: Asked, grid: CellGrid, tried: Floats, values: Floats, of_all: bool) -> Interval | None:
        """The mean of a function, from the cells' counts and what the model's rows show inside of them.

        `tried` is the function at the grid's places, `values` of the model's rows. The reading of the counts has a known
        error. A cell's own mean is not measured: it is off by as much as the function varies inside the cell at most, or
        nearly so, and all cells may be off to the same side.
        """
        held = np.maximum(asked.weights, 0.0)
        met, shown = asked.functions[-1](grid.table), asked.values[:, -1]
        there, row_there = met * ~np.isnan(tried), shown * ~np.isnan(values)
        over, row_over = np.nan_to_num(tried) * there, np.nan_to_num(values) * row_there
        under, row_under = (np.ones_like(there), np.ones_like(row_there)) if of_all else (there, row_there)
        codes = asked.records.codes
        (above, _), (below, part) = (grid.shown(*each, codes, held) for each in ((over, row_over), (under, row_under)))
        read = self.readings.ratios(asked.columns, above.reshape((*grid.shape, 1)), below.reshape(grid.shape))
        if read is None:  # the noise hides the rows: what counts do not tell, a model fitted to them does not know
            return Interval(-math.inf, math.inf, math.inf)
        value, noise = float(read[0][0]), float(read[1][0])
        spread = grid.spread(over - value * under, row_over - value * row_under, codes, held)
        total = float(part @ below)
        unknown = float(part @ spread) / total if total > 0 else math.inf
        error = math.hypot(noise, unknown / _INSIDE)
        wide = _deviations(self.confidence) * error
        return Interval(value - wide, value + wide, error, bounded=unknown > noise)

    def quantile(self, levels: Levels, order: float) -> Interval | None:
        """The lowest number that at least this share of the rows do not exceed; none unless measured level by level."""
        if not self.by_level(levels):
            return None
        lowest, highest = spans(levels)
        return self._quantile([levels.name], lowest, highest, _present(levels) > 0, order, _step(levels))

    def quantile_where(self, asked: Asked, levels: Levels, order: float) -> Interval | None:
        """The same of a column over the rows that meet a condition; none where the condition cuts through cells."""
        grid = CellGrid.of(self.readings, self.levels, asked.columns)
        if grid is None:
            return None
        tried, met = (each(grid.table) for each in asked.functions)
        there = (met > 0) & ~np.isnan(tried)
        least, most = grid.ends(there.astype(np.float64))
        if not (least == most).all():
            return None
        lowest, _ = grid.ends(np.where(there, tried, math.inf))
        _, highest = grid.ends(np.where(there, tried, -math.inf))
        shape = grid.shape
        return self._quantile(
            asked.columns, lowest.reshape(shape), highest.reshape(shape), most.reshape(shape) > 0, order, _step(levels)
        )

    def _quantile(
        self,
        columns: Sequence[str],
        lowest: Floats,
        highest: Floats,
        present: NDArray[np.bool_],
        order: float,
        step: float,
    ) -> Interval | None:
        """Of numbers between a lowest and a highest in each cell, and at least a step apart.

        Its distribution function is read at the ends of the cells. Where it is surely below the order, the quantile is
        higher; where it surely reaches it, the quantile is not higher.
        """
        if not present.any():
            return None
        ends = np.unique(np.concatenate([lowest[present], highest[present]]))
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, _MOST_ENDS).round().astype(int))]
        sure, possible = (present[..., None] & (each[..., None] <= ends) for each in (highest, lowest))
        functions = np.concatenate([sure, possible], axis=-1).astype(np.float64)
        read = self.readings.ratios(columns, functions, present.astype(np.float64))
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
        if step and low >= 0:
            first = min(first + step, last)  # above a whole number is the next one
        return Interval(first, last, (last - first) / (2 * deviations))

    def by_level(self, levels: Levels) -> bool:
        """Whether a column was measured level by level."""
        view = self.readings.finest([levels.name])
        tiles = None if view is None else view.key[0]
        return tiles is not None and tiles.tile_of == tuple(range(levels.size))


def spans(levels: Levels) -> tuple[Floats, Floats]:
    """The lowest and the highest number of every level; NaN of what is missing."""
    atoms = np.concatenate([levels.specials, np.full(int(levels.has_missing), np.nan)])
    if len(listed := levels.column.listed):  # each level is one number, whatever lies between it and the next
        return np.concatenate([listed, atoms]), np.concatenate([listed, atoms])
    regular = levels.edges[1:] - 1 if levels.whole else levels.edges[1:]
    return np.concatenate([levels.edges[:-1], atoms]), np.concatenate([regular, atoms])


def _step(levels: Levels) -> float:
    """How far the next number is at least, where numbers do not lie dense; else 0."""
    listed = levels.column.listed
    gaps = np.diff(np.sort(np.concatenate([listed, levels.specials]))) if len(listed) else np.ones(1)
    return float(gaps.min()) if len(listed) or levels.whole else 0.0


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


def _deviations(confidence: float) -> float:
    """How many standard deviations on either side hold a normal variable with this probability."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
