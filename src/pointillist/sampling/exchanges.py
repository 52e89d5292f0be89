"""Exchanges: rows exchange values until the sample's tables are the model's, and all else is as random as can be.

Rows drawn by chance differ from their model by chance, and a mixture ties columns together in threes and fours more than
its tables call for. Both are mended by exchanges: two rows swap their values in one column. No column by itself changes.
An exchange that brings the held tables nearer to the model's is made; one that takes them away is made too, by a chance
that falls to nothing (annealing). What the tables do not hold fast is mixed meanwhile: the sample goes towards the most
random one with these tables, the one of maximum entropy.

Exchanges forget whatever is not held, so what a release measured must be: pairs of columns and, where pairs were split by
a target, those pairs within each of its classes that show more than noise. Only the model is looked at.
"""

from collections.abc import Sequence

import numba
import numpy as np
from numpy.typing import NDArray

from pointillist.generators.base import Sampler, Tiled
from pointillist.generators.held_tables import HeldTables, PairsByClass, Places, Single
from pointillist.records import Records

_MOST_TOGETHER = 500_000
"""About how many rows exchange values among each other, which keeps them near the processor."""
_WARM, _WARMER = 8.0, 0.01
"""The temperature at the start, in squared rows of a cell: a few rows to and fro, and no more than this part of the rows
that a row shares its cell with."""
_CROWD = 50.0
"""A row must share its cell with so many others for exchanges to make sense: emptier tables are all chance."""
_WORK = 4e9
"""The most comparisons of cells of pairs; where rows and columns are many, there are fewer sweeps."""
_LEAST, _MOST = 6, 40
"""How many sweeps there are at least and at most."""


def draw_records(sampler: Sampler, count: int, rng: np.random.Generator) -> Records:
    """`count` records of a sampler. Where it holds tables, its rows exchange values before they are done."""
    if not isinstance(sampler, Tiled) or sampler.held is None:
        return sampler.sample(count, rng)
    tiles = sampler.draw_tiles(count, rng)
    exchange_all(tiles, sampler.held, rng)
    return sampler.with_levels(tiles, rng)


def exchange_all(tiles: Places, held: HeldTables, rng: np.random.Generator) -> None:
    """Exchange values in place, a part of the rows at a time; `tiles` are tile numbers, rows x columns."""
    count, columns = tiles.shape
    # Of a target and two columns nothing can be forgotten: a table by class holds all three together.
    if held.pairs is None or columns <= (3 if held.by_class else 1):
        return
    parts = max(1, count // _MOST_TOGETHER)
    for part in range(parts):  # every so many rows: each part has its share of every component
        rows = np.ascontiguousarray(tiles[part::parts])
        exchange(rows, np.float32(len(rows)) * held.pairs, held.starts, rng, held.by_class)
        tiles[part::parts] = rows


def exchange(
    tiles: Places,
    wanted: Single,
    starts: NDArray[np.int64],
    rng: np.random.Generator,
    by_class: Sequence[PairsByClass] = (),
) -> None:
    """Exchange values in place.

    Arguments:
        tiles: tile numbers, rows x columns.
        wanted: the model's expected counts of every pair of tiles, of all columns side by side.
        starts: where each column's tiles begin in `wanted`.
        by_class: pair tables by class that are held as well.
    """
    rows, columns = tiles.shape
    crowd = _crowd(wanted, starts)
    if crowd < _CROWD:
        return
    placed = tiles + starts.astype(np.int32)
    gap = -wanted
    _count(placed, gap)
    labels, classes, places, gaps, held = _stacked(by_class, tiles, placed, len(wanted))
    sweeps = int(np.clip(2 * _WORK / max(1, rows * columns**2), _LEAST, _MOST))
    for sweep in range(sweeps):
        # Rows meet that agree in one column: they are more alike than any two, and more exchanges succeed. Every other
        # time they agree in their class, too: then the tables by class stand less in the way of forgetting the rest.
        shuffled = rng.permutation(rows)
        keys = [placed[shuffled, rng.integers(columns)]]
        if by_class and sweep % 2:
            keys.append(classes[rng.integers(len(by_class)), shuffled])
        temperature = min(_WARM, _WARMER * crowd) * (1 - (sweep + 1) / sweeps)
        seed = int(rng.integers(2**31))
        _sweep(placed, gap, shuffled[np.lexsort(keys)], labels, classes, places, gaps, held, temperature, seed)
    tiles[:] = placed - starts.astype(np.int32)


def _crowd(wanted: Single, starts: NDArray[np.int64]) -> float:
    """With how many rows a row shares its cell, in all but the emptiest tenth of pairs of columns."""
    squares = np.add.reduceat(np.add.reduceat(np.square(wanted, dtype=np.float64), starts, axis=0), starts, axis=1)
    totals = np.add.reduceat(np.add.reduceat(wanted.astype(np.float64), starts, axis=0), starts, axis=1)
    above = np.triu_indices(len(starts), 1)
    return float(np.quantile(squares[above] / np.maximum(totals[above], 1.0), 0.1))


def _stacked(
    by_class: Sequence[PairsByClass], tiles: Places, placed: Places, size: int
) -> tuple[NDArray[np.int64], Places, Places, Single, NDArray[np.bool_]]:
    """All tables by class as compiled code wants them: labels, classes of rows, places of tiles, gaps, and what is held."""
    rows, columns = tiles.shape
    shape = np.max([own.wanted.shape for own in by_class] or [(1, 1, 1)], axis=0)
    classes, places = np.zeros((len(by_class), rows), np.int32), np.zeros((len(by_class), size), np.int32)
    gaps, held = np.zeros((len(by_class), *shape), np.float32), np.zeros((len(by_class), columns, columns), np.bool_)
    for number, own in enumerate(by_class):
        classes[number], places[number] = own.class_of[tiles[:, own.label]], own.place_of
        kinds, each, _ = own.wanted.shape
        gaps[number, :kinds, :each, :each] = np.float32(-rows) * own.wanted
        held[number] = own.held
        _count_by_class(placed, classes[number], places[number], gaps[number])
    return np.array([own.label for own in by_class], dtype=np.int64), classes, places, gaps, held


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _count(placed: Places, gap: Single) -> None:
    """Add every row to the pair tables."""
    rows, columns = placed.shape
    for row in range(rows):
        for a in range(columns):
            for b in range(columns):
                if a != b:
                    gap[placed[row, a], placed[row, b]] += 1.0


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _count_by_class(placed: Places, classes: Places, place_of: Places, gap: Single) -> None:
    """Add every row to the pair tables of its class."""
    rows, columns = placed.shape
    for row in range(rows):
        for a in range(columns):
            first = place_of[placed[row, a]]
            for b in range(columns):
                second = place_of[placed[row, b]]
                if a != b and first >= 0 and second >= 0:
                    gap[classes[row], first, second] += 1.0


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _sweep(
    placed: Places,
    gap: Single,
    met: NDArray[np.int64],
    labels: NDArray[np.int64],
    classes: Places,
    places: Places,
    gaps: Single,
    held: NDArray[np.bool_],
    temperature: float,
    seed: int,
) -> None:
    """Every two rows that meet may exchange each of their values, but for a label that is of another class."""
    np.random.seed(seed)  # of compiled code alone
    rows, columns = placed.shape
    differ = np.empty(columns, dtype=np.int64)
    for meeting in range(0, rows - 1, 2):
        i, j = met[meeting], met[meeting + 1]
        one, other = placed[i], placed[j]
        count = 0
        for b in range(columns):
            if one[b] != other[b]:
                differ[count] = b
                count += 1
        for number in range(count if count > 1 else 0):
            column = differ[number]
            gain = _gain(one, other, differ[:count], column, gap)
            for s in range(len(labels)):
                if labels[s] == column and classes[s, i] != classes[s, j]:
                    gain = -np.inf
                gain += _gain_by_class(
                    one, other, column, held[s, column], places[s], gaps[s], classes[s, i], classes[s, j]
                )
            # Twice the gain is how far the sum of squared gaps would fall.
            if gain <= 0.0 and (temperature == 0.0 or gain < temperature * np.log(np.random.random())):
                continue
            for b in differ[:count]:
                if b != column:
                    _move(gap, one[column], other[column], one[b])
                    _move(gap, other[column], one[column], other[b])
            for s in range(len(labels)):
                _move_by_class(one, other, column, held[s, column], places[s], gaps[s], classes[s, i], classes[s, j])
            one[column], other[column] = other[column], one[column]


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _gain(one: Places, other: Places, differ: NDArray[np.int64], column: int, gap: Single) -> float:
    """What an exchange in a column brings to pair tables; only pairs with other columns that differ change."""
    own, foreign = one[column], other[column]
    gain = 0.0
    for b in differ:
        if b != column:
            gain += gap[own, one[b]] + gap[foreign, other[b]] - gap[own, other[b]] - gap[foreign, one[b]] - 2.0
    return gain


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _gain_by_class(
    one: Places,
    other: Places,
    column: int,
    held: NDArray[np.bool_],
    place_of: Places,
    gaps: Single,
    here: int,
    there: int,
) -> float:
    """What an exchange in a column brings to pair tables by class, of two rows that are of these classes."""
    own, foreign = place_of[one[column]], place_of[other[column]]
    gain = 0.0
    for b in range(len(one)) if own != foreign else range(0):
        near, far = place_of[one[b]], place_of[other[b]]
        if held[b] and (here != there or near != far):
            gain += gaps[here, own, near] - gaps[here, foreign, near] - 2.0
            gain += gaps[there, foreign, far] - gaps[there, own, far]
    return gain


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _move_by_class(
    one: Places,
    other: Places,
    column: int,
    held: NDArray[np.bool_],
    place_of: Places,
    gaps: Single,
    here: int,
    there: int,
) -> None:
    """Enter an exchange into the pair tables by class."""
    own, foreign = place_of[one[column]], place_of[other[column]]
    for b in range(len(one)) if own != foreign else range(0):
        if held[b]:
            _move(gaps[here], own, foreign, place_of[one[b]])
            _move(gaps[there], foreign, own, place_of[other[b]])


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def _move(gap: Single, old: int, new: int, beside: int) -> None:
    """A row that has the tile `beside` in another column goes from one tile to another."""
    gap[old, beside] -= 1.0
    gap[beside, old] -= 1.0
    gap[new, beside] += 1.0
    gap[beside, new] += 1.0
