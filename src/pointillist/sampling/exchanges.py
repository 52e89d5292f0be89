"""Exchanges: rows exchange values until the sample's tables are the model's, and all else is as random as can be.

Rows drawn by chance differ from their model by chance, and a mixture ties columns together in threes and fours more than
its tables call for. Both are mended by exchanges: two rows swap their values in one column. No column by itself changes.
An exchange that brings the held tables nearer to the model's is made; one that takes them away is made too, by a chance
that falls to nothing (annealing). What the tables do not hold fast is mixed meanwhile: the sample goes towards the most
random one with these tables, the one of maximum entropy.

Exchanges forget whatever is not held, so what a release measured must be: pairs of columns; where pairs were split by a
target, those pairs within each of its classes that show more than noise; and tables of three columns and more that do.
Only the model is looked at.

Many rows exchange values in parts, each on a thread of its own. How they are parted depends on their number alone, so the
same seed gives the same rows, however many threads there are.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.base import Sampler, Tiled
from pointillist.generators.drawing import grouped
from pointillist.generators.held_tables import HeldClique, HeldTables, PairsByClass, Places, Single
from pointillist.records import Records
from pointillist.sampling.exchange_sweep import (
    ClassGaps,
    CliqueGaps,
    PairGaps,
    Spots,
    count_classes,
    count_cliques,
    count_pairs,
    sweep,
)

Integers = NDArray[np.int64]
Bools = NDArray[np.bool_]

_LEAST_TOGETHER, _MOST_TOGETHER = 50_000, 250_000
"""About how many rows exchange values among each other: the fewer, the nearer they are to the processor, and the more
parts there are for its cores; but every part has its own rounding to whole rows."""
_PARTS = 2
"""Where rows are enough for parts, their number is a multiple of this one."""
_MOST_THREADS = 4
_WARM, _WARMER = 8.0, 0.01
"""The temperature at the start, in squared rows of a cell: a few rows to and fro, and no more than this part of the rows
that a row shares its cell with."""
_CROWD, _FEWEST = 2.0, 500
"""A row must share its cell with so many others, and there must be so many rows, for exchanges to make sense: in emptier
tables all is chance."""
_WORK = 4e9
"""The most comparisons of cells of pairs; where rows and columns are many, there are fewer sweeps."""
_NEAR, _FAR = 2000, 4
"""Tables of all pairs of so many tiles are near the processor; of more, a comparison takes some times as long."""
_OUTLINE = 8
"""Into about how many parts columns with more tiles are cut, in outline."""
_LOOK = 16
"""How many comparisons it is worth to look at a column of two rows."""
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
    # Of a target and two columns nothing can be forgotten: a table by class holds all three together. So does a clique.
    together = max([1, *(3 for _ in held.by_class), *(len(clique.columns) for clique in held.cliques)])
    if held.pairs is None or columns <= together:
        return
    parts = max(1, min(_PARTS, count // _LEAST_TOGETHER), _PARTS * (count // (_PARTS * _MOST_TOGETHER)))

    def mix(part: int, own: np.random.Generator) -> None:  # every so many rows: each part has its share of components
        rows = np.ascontiguousarray(tiles[part::parts])
        exchange(rows, held, own)
        tiles[part::parts] = rows

    if parts == 1:
        exchange(tiles, held, rng)
        return
    with ThreadPoolExecutor(min(parts, _workers())) as pool:
        for done in [pool.submit(mix, part, own) for part, own in enumerate(rng.spawn(parts))]:
            done.result()


def _workers() -> int:
    """How many parts are worked on at a time: memory is held for each."""
    return min(_MOST_THREADS, os.cpu_count() or 1)


def exchange(tiles: Places, held: HeldTables, rng: np.random.Generator) -> None:
    """Exchange values in place among all of the rows; `tiles` are tile numbers, rows x columns."""
    rows, columns = tiles.shape
    assert held.pairs is not None
    linked, wanted = _links(held, rows), np.float32(rows) * held.pairs
    crowd = _crowd(wanted, held.starts, linked)
    if rows < _FEWEST or crowd < _CROWD:
        return
    placed = (tiles + held.starts.astype(np.int32)).astype(np.uint32)
    pairs = _pair_gaps(wanted, linked, placed)
    by_class = _class_gaps([*held.by_class, *_in_outline(held, linked)], tiles, placed, sum(held.sizes))
    cliques = _clique_gaps(held.cliques, held.starts, placed, sum(held.sizes))
    looked_at = rows * (np.sum(linked) + _LOOK * columns)
    sweeps = int(np.clip(2 * _WORK / max(1, looked_at), _LEAST, _MOST))
    for number in range(sweeps):
        # Rows meet that agree in one column: they are more alike than any two, and more exchanges succeed. Every other
        # time they agree in their class, too: then the tables by class stand less in the way of forgetting the rest.
        shuffled = rng.permutation(rows)
        column = int(rng.integers(columns))
        alike = placed[:, column].astype(np.int64) - held.starts[column]
        if held.by_class and number % 2:
            alike += held.sizes[column] * by_class.classes[rng.integers(len(held.by_class))].astype(np.int64)
        met = shuffled[grouped(alike[shuffled])]
        temperature = min(_WARM, _WARMER * crowd) * (1 - (number + 1) / sweeps)
        sweep(placed, met, pairs, by_class, cliques, temperature, int(rng.integers(2**31)))
    tiles[:] = placed.astype(np.int32) - held.starts.astype(np.int32)


def _in_outline(held: HeldTables, linked: Bools) -> list[PairsByClass]:
    """The same pairs over fewer tiles, as tables of one class that all rows are of.

    Where a table has about as many cells as there are rows, what the cells lack is less than a row, and a trend that all
    of them show together would move no row. In outline it does.
    """
    assert held.pairs is not None
    many = np.array(held.sizes) > _OUTLINE
    shown = linked & (many[:, None] | many)
    if not shown.any():
        return []
    place_of, ends, count = np.empty(sum(held.sizes), np.int32), np.append(held.starts, sum(held.sizes)), 0
    for column, other in enumerate(np.where(np.arange(len(many)) > 0, 0, len(many) - 1)):
        own = slice(ends[column], ends[column + 1])
        share = held.pairs[own, ends[other] : ends[other + 1]].sum(axis=1, dtype=np.float64)
        middle = (np.cumsum(share) - share / 2) / max(share.sum(), 1e-12)
        parts = np.unique((middle * _OUTLINE).astype(np.int64), return_inverse=True)[1] if many[column] else None
        place_of[own] = count + (np.arange(held.sizes[column]) if parts is None else parts)
        count = int(place_of[own].max()) + 1
    joins = np.zeros((len(place_of), count), np.float32)
    joins[np.arange(len(place_of)), place_of] = 1
    wanted: Single = (joins.T @ held.pairs @ joins).astype(np.float32)
    return [PairsByClass(-1, np.zeros(1, np.int32), place_of, wanted[None], shown)]


def _links(held: HeldTables, rows: int) -> Bools:
    """Which pairs of columns are held: those that the release speaks about, the strongest if they are too many."""
    assert held.pairs is not None
    columns = len(held.sizes)
    found = np.ones((columns, columns), np.bool_) if held.linked is None else held.linked.copy()
    np.fill_diagonal(found, val=False)
    most = int(_WORK / (_LEAST * max(rows, 1) * (_FAR if len(held.pairs) > _NEAR else 1)))
    if np.sum(found) // 2 <= most:
        return found
    strength = np.where(np.triu(found), _dependence(held.pairs, held.starts), 0.0)
    weakest = -np.partition(-strength, most, axis=None)[most]
    found = strength > weakest
    return np.asarray(found | found.T)


def _dependence(pairs: Single, starts: Integers) -> NDArray[np.float64]:
    """How far every two columns are from independent ones: the mean square contingency of their table."""
    column_of = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(pairs))))
    shares = np.maximum(np.add.reduceat(pairs, starts, axis=1)[np.arange(len(pairs)), column_of], 1e-12)
    squares = np.square(pairs, dtype=np.float64)
    squares /= shares[:, None]
    squares /= shares
    return _by_pair(squares, starts) - 1


def _by_pair(table: NDArray[np.floating[Any]], starts: Integers) -> NDArray[np.float64]:
    """What the cells of every pair of columns add up to."""
    return np.add.reduceat(np.add.reduceat(table, starts, axis=0, dtype=np.float64), starts, axis=1)


def _crowd(wanted: Single, starts: Integers, linked: Bools) -> float:
    """With how many rows a row shares its cell, in all but the emptiest tenth of pairs of columns."""
    above = np.triu(linked)
    if not above.any():
        return 0.0
    squares, totals = _by_pair(np.square(wanted, dtype=np.float64), starts), _by_pair(wanted, starts)
    return float(np.quantile(squares[above] / np.maximum(totals[above], 1.0), 0.1))


def _lists(linked: Bools) -> tuple[Integers, Integers]:
    """For each row of a matrix the numbers of its marked entries, one after the other, and where each row's end."""
    return np.cumsum([0, *linked.sum(axis=1)]).astype(np.int64), np.nonzero(linked)[1].astype(np.int64)


def _pair_gaps(wanted: Single, linked: Bools, placed: Spots) -> PairGaps:
    """Pair tables as compiled code wants them."""
    found = PairGaps(-wanted, linked, *_lists(linked))
    count_pairs(placed, found)
    return found


def _class_gaps(by_class: Sequence[PairsByClass], tiles: Places, placed: Spots, size: int) -> ClassGaps:
    """All tables by class as compiled code wants them."""
    rows, columns = tiles.shape
    shape = np.max([own.wanted.shape for own in by_class] or [(1, 1, 1)], axis=0)
    classes, places = np.zeros((len(by_class), rows), np.int32), np.zeros((len(by_class), size), np.int32)
    gap, ends = np.zeros((len(by_class), *shape), np.float32), np.zeros((len(by_class), columns + 1), np.int64)
    others = [np.zeros(0, np.int64)]
    for number, own in enumerate(by_class):
        classes[number] = 0 if own.label < 0 else own.class_of[tiles[:, own.label]]
        places[number] = own.place_of
        kinds, each, _ = own.wanted.shape
        gap[number, :kinds, :each, :each] = np.float32(-rows) * own.wanted
        own_ends, own_others = _lists(own.held)
        ends[number] = own_ends + sum(len(each) for each in others)
        others.append(own_others)
    labels = np.array([own.label for own in by_class], dtype=np.int64)
    found = ClassGaps(labels, classes, places, gap, ends, np.concatenate(others))
    count_classes(placed, found)
    return found


def _clique_gaps(cliques: Sequence[HeldClique], starts: Integers, placed: Spots, size: int) -> CliqueGaps:
    """All cliques as compiled code wants them."""
    rows, columns = placed.shape
    member = np.zeros((len(cliques), columns), np.bool_)
    steps = np.zeros((len(cliques), size), np.int32)
    gap = np.zeros((len(cliques), max([1, *(clique.wanted.size for clique in cliques)])), np.float32)
    for number, clique in enumerate(cliques):
        member[number, list(clique.columns)] = True
        steps[number] = clique.steps(starts, size)
        gap[number, : clique.wanted.size] = np.float32(-rows) * clique.wanted.ravel()
    found = CliqueGaps(*_lists(member.T), *_lists(member), steps, gap)
    count_cliques(placed, found)
    return found
