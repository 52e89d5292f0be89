"""Measured: intervals for statistics of the private rows from the release alone.

No model has a part in them. The noise is Gaussian (on a fine grid) with a known scale, so an unbiased reading plus and
minus so many standard deviations holds the private figure as often as is said, whatever the data. What a table does not
tell, because its cells are wider than the question, is taken at its worst.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from pointillist.features import Tiles
from pointillist.fitting.readings import Readings
from pointillist.sampling.condition import Condition, Cut
from pointillist.sampling.decoding import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_PLACES = 64
"""Numbers drawn from a bin to know their mean."""
_MOST_ENDS = 400
"""The most places at which a distribution function is read."""
_WHOLE = 1 - 1e-9


@dataclass(frozen=True)
class Interval:
    """Where a private statistic lies."""

    low: float
    high: float
    error: float
    """Standard deviation of the reading."""


def share(readings: Readings, condition: Condition, confidence: float) -> Interval | None:
    """The share of rows that meet a condition; none if its columns were not measured together."""
    view = readings.finest(list(condition.cuts))
    if view is None:
        return None
    least, most = np.ones(()), np.ones(())
    for tiles, cut in zip(view.key, condition.cuts.values(), strict=True):
        assert tiles is not None
        sure, possible = _members(tiles, cut)
        least, most = np.multiply.outer(least, sure), np.multiply.outer(most, possible)
    read = readings.ratios(list(condition.cuts), np.stack([least, most], axis=-1), np.ones_like(least))
    if read is None:
        return Interval(0.0, 1.0, math.inf)
    (low, high), errors = read
    wide = _deviations(confidence) * errors
    return Interval(_within(low - wide[0], 0, 1), _within(high + wide[1], 0, 1), float(errors.max()))


def mean(readings: Readings, levels: Levels, shares: Floats, confidence: float) -> Interval | None:
    """The mean of a number; none unless it was measured level by level. `shares` are the levels', roughly.

    Where in its bin a value lies was not measured. Every bin's mean is taken to lie anywhere in the bin, whatever those
    of the others: a variance of a twelfth of the bin's squared width.
    """
    if not _by_level(readings, levels):
        return None
    lowest, highest = spans(levels)
    present = _present(levels)
    bounds = float(np.nanmin(lowest)), float(np.nanmax(highest))
    read = readings.ratios([levels.name], (middles(levels) * present)[:, None], present)
    if read is None:
        return Interval(*bounds, math.inf)
    part = shares * present / max(float((shares * present).sum()), np.finfo(float).tiny)
    unknown = float(np.square(part * np.where(present > 0, highest - lowest, 0.0)).sum()) / 12
    error = math.hypot(float(read[1][0]), math.sqrt(unknown))
    wide = _deviations(confidence) * error
    value = float(read[0][0])
    return Interval(_within(value - wide, *bounds), _within(value + wide, *bounds), error)


def quantile(readings: Readings, levels: Levels, order: float, confidence: float) -> Interval | None:
    """The lowest number that at least this share of the rows do not exceed; none unless measured level by level.

    Its distribution function is read at the ends of the bins. Where it is surely below the order, the quantile is
    higher; where it surely reaches it, the quantile is not higher.
    """
    if not _by_level(readings, levels):
        return None
    lowest, highest = spans(levels)
    present = _present(levels) > 0
    ends = np.unique(np.concatenate([lowest[present], highest[present]]))
    ends = ends[np.unique(np.linspace(0, len(ends) - 1, _MOST_ENDS).round().astype(int))]
    sure, possible = (present[:, None] & (each[:, None] <= ends) for each in (highest, lowest))
    functions = np.concatenate([sure, possible], axis=1).astype(np.float64)
    read = readings.ratios([levels.name], functions, present.astype(np.float64))
    if read is None:
        return Interval(float(ends[0]), float(ends[-1]), math.inf)
    # One test on either side decides: the one at the end next to the quantile. So each has half of the error's chance.
    deviations = _deviations(confidence)
    (sure_share, possible_share), (sure_error, possible_error) = (np.split(each, 2) for each in read)
    below = possible_share + deviations * possible_error < order
    above = sure_share - deviations * sure_error >= order
    low = int(np.argmin(np.append(below, False))) - 1  # the last of the ends from the left that are all below
    high = len(ends) - int(np.argmin(np.append(above[::-1], False)))  # the first of those to the right all above
    first, last = float(ends[max(low, 0)]), float(ends[min(high, len(ends) - 1)])
    if levels.whole and low >= 0:
        first = min(first + 1, last)  # above a whole number is the next one
    return Interval(first, last, (last - first) / (2 * deviations))


def spans(levels: Levels) -> tuple[Floats, Floats]:
    """The lowest and the highest number of every level; NaN of what is missing."""
    regular = levels.edges[1:] - 1 if levels.whole else levels.edges[1:]
    atoms = np.concatenate([levels.specials, np.full(int(levels.has_missing), np.nan)])
    return np.concatenate([levels.edges[:-1], atoms]), np.concatenate([regular, atoms])


def middles(levels: Levels) -> Floats:
    """The mean number of every level as it is decoded; 0 of what is missing."""
    codes = np.repeat(np.arange(levels.size, dtype=np.uint16), _PLACES)
    drawn = numbers(levels, codes, np.tile((np.arange(_PLACES) + 0.5) / _PLACES, levels.size))
    return np.asarray(drawn.reshape(levels.size, _PLACES).mean(axis=1) * _present(levels))


def _members(tiles: Tiles, cut: Cut) -> tuple[Floats, Floats]:
    """Which tiles surely lie in a selection, and which may hold rows of it."""
    least, most = np.ones(tiles.dimension), np.zeros(tiles.dimension)
    np.minimum.at(least, tiles.table, cut.shares >= _WHOLE)
    np.maximum.at(most, tiles.table, cut.shares > 0)
    return least, most


def _by_level(readings: Readings, levels: Levels) -> bool:
    view = readings.finest([levels.name])
    tiles = None if view is None else view.key[0]
    return tiles is not None and tiles.tile_of == tuple(range(levels.size))


def _present(levels: Levels) -> Floats:
    """1 for every level but what is missing."""
    found = np.ones(levels.size)
    if levels.has_missing:
        found[levels.missing] = 0.0
    return found


def _deviations(confidence: float) -> float:
    """How many standard deviations on either side hold a normal variable with this probability."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _within(value: float, low: float, high: float) -> float:
    return float(min(max(value, low), high))
