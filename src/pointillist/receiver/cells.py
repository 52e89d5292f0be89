"""Cells: how many private rows meet a condition, read off the noisy counts of the columns that it reads.

Whether the condition holds in a cell is found by trying it at a few places of every level: so any formula will do.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from pointillist.features import Tiles
from pointillist.generators.decoding import decode_table, numbers
from pointillist.generators.measured import Interval
from pointillist.generators.readings import Readings
from pointillist.levels import Levels
from pointillist.receiver.function import Function

Floats = NDArray[np.float64]

_PLACES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Where in a bin a condition is tried."""
_MOST_TRIED = 200_000
_CUT = 4.0
"""Where cells that the condition cuts through hold more than so many standard deviations, counts do not answer it."""


def share(
    readings: Readings, levels: Mapping[str, Levels], columns: Sequence[str], event: Function, confidence: float
) -> Interval | None:
    """Where the share of private rows lies that meet a condition on some columns; none if no table tells it."""
    view = readings.finest(columns)
    if view is None:
        return None
    tiles = [each for each in view.key if each is not None]
    tried = [_tried(levels[name]) for name in columns]
    if math.prod(len(codes) for codes, _ in tried) > _MOST_TRIED:
        return None
    grids = np.meshgrid(*(np.arange(len(codes)) for codes, _ in tried), indexing="ij")
    picked = {name: grid.ravel() for name, grid in zip(columns, grids, strict=True)}
    found = event(_table([levels[name] for name in columns], tried, picked)) > 0
    least, most = np.ones(view.values.shape), np.zeros(view.values.shape)
    cells = tuple(
        _cells(each, codes)[picked[name]] for each, (codes, _), name in zip(tiles, tried, columns, strict=True)
    )
    np.minimum.at(least, cells, found)
    np.maximum.at(most, cells, found)
    read = readings.ratios(columns, np.stack([least, most], axis=-1), np.ones_like(least))
    if read is None:
        return Interval(0.0, 1.0, math.inf)
    (low, high), errors = read
    if high - low > _CUT * errors.max():
        return None
    wide = float(stats.norm.ppf((1 + confidence) / 2)) * errors
    ends = float(np.clip(low - wide[0], 0, 1)), float(np.clip(high + wide[1], 0, 1))
    return Interval(*ends, float(errors.max()))


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
    levels: list[Levels], tried: list[tuple[NDArray[np.uint16], Floats]], picked: Mapping[str, NDArray[np.int64]]
) -> pa.Table:
    codes = {each.name: one[picked[each.name]] for each, (one, _) in zip(levels, tried, strict=True)}
    drawn = {
        each.name: numbers(each, codes[each.name], spread[picked[each.name]])
        for each, (_, spread) in zip(levels, tried, strict=True)
        if each.numeric
    }
    return decode_table(tuple(levels), codes, np.random.default_rng(0), drawn)


def _cells(tiles: Tiles, codes: NDArray[np.uint16]) -> NDArray[np.int64]:
    return tiles.table[codes].astype(np.int64)
