"""Embedding: the exact sum of the features of all records, in integers.

Each record's features are put on an integer grid, and clipped to the limit on their norm (see `clipping`). Then integers
are added. So the sum is the same bits whatever the batch size,
the number of threads or the order of the rows, and its sensitivity holds in the arithmetic that ran.

Where every feature is -1, 0 or 1 all of this is known before a row is seen. A record adds the block's integer weight to
one cell of each block of indicators, and adds it to or takes it from as many products of scores as there are. There the
pass only counts, and multiplies at the end: the same integers, a thousand times faster.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.curator.clipping import Integers, quantise
from pointillist.curator.counting import count_cells
from pointillist.engines import Partial
from pointillist.features import FeatureMap, Product, Records
from pointillist.features.algebra import outer
from pointillist.features.base import is_own
from pointillist.features.indicator import one_hot
from pointillist.features.lookup import look_up
from pointillist.privacy.grid import Grid

_DENSE_CELLS = 1 << 20
"""Features held at a time on the dense path: memory does not grow with rows times features."""
_EXACT = 1 << 53
"""Floats hold every integer up to here."""
_MOST_LEAVES = 5


@dataclass(frozen=True)
class _Dense:
    """A block whose features are not all counts."""

    cells: Product | None
    """Its indicators: a record's features stand in the part of its cell, and the rest is 0."""
    factors: tuple[FeatureMap, ...]
    """Its features are all products of one feature from each of these."""
    weight: float
    place: slice

    @property
    def size(self) -> int:
        """Features of one cell."""
        return math.prod(factor.dimension for factor in self.factors)


class Embedding:
    """An exact sum in the making. Secret until noise is added."""

    def __init__(self, feature_map: FeatureMap, grid: Grid, before: Partial | None = None):
        """`before` is what was added up already, perhaps elsewhere."""
        self.feature_map, self.grid = feature_map, grid
        weighted = feature_map.blocks()
        self._counting = all(_whole(block) for block, _ in weighted)
        self.rows = 0 if before is None else before.rows
        self._counts = np.zeros(feature_map.dimension, dtype=np.int64) if before is None else before.values
        """Counts of cells when counting, by parts where a person's records share; sums of integer features otherwise."""
        if self._counts.shape != (feature_map.dimension,):
            raise ValueError("a sum of another length than the feature map's")
        if self._counting:
            self._weights = [grid.part_weight(weight) for _, weight in weighted]
            lengths = [
                weight**2 * (block.most_ones or 0) for weight, (block, _) in zip(self._weights, weighted, strict=True)
            ]
            if sum(lengths) * grid.parts**2 > grid.squared_norm:
                raise ValueError("the weights of the feature map exceed its norm bound on the grid")
            self._layout([block for block, _ in weighted])
        elif grid.shared:
            raise ValueError("records of a person can share counts alone")
        else:
            self._dense_layout(weighted)

    def _dense_layout(self, weighted: list[tuple[FeatureMap, float]]) -> None:
        """Tell blocks of counts from others, and in the others the indicators in front from the features behind."""
        exact = max(self.grid.squared_norm, _DENSE_CELLS * self.grid.scale) <= _EXACT
        if not (self.grid.holds(self.feature_map.dimension) and exact):
            raise OverflowError(
                f"a grid of {self.grid.bits} bits is too fine for {self.feature_map.dimension} features"
            )
        self._dense: list[_Dense] = []
        self._counted: list[tuple[int, FeatureMap, slice]] = []
        start = 0
        for block, weight in weighted:
            place = slice(start, start + block.dimension)
            start = place.stop
            if block.indicator:
                self._counted.append((self.grid.weight(weight), block, place))
                continue
            parts = block.factors
            front = tuple(itertools.takewhile(lambda part: part.indicator, parts))
            cells = Product(front) if front else None
            self._dense.append(_Dense(cells, parts[len(front) :], weight, place))

    def _layout(self, maps: list[FeatureMap]) -> None:
        """Settle how each block's counts come about.

        Most blocks are products of a few columns' tiles: the compiled kernel counts those. A block whose columns
        all occur in a larger block needs no counting: its counts are sums of the larger one's, exactly. The rest, of
        rarer shape, is counted one by one.
        """
        self._sizes = [block.dimension for block in maps]
        offsets = np.concatenate([[0], np.cumsum(self._sizes)])
        places = [slice(int(offsets[i]), int(offsets[i + 1])) for i in range(len(maps))]
        numbers: dict[FeatureMap, int] = {}
        entries: dict[int, tuple[int, ...]] = {}
        self._rest: list[tuple[FeatureMap, slice]] = []
        for number, block in enumerate(maps):
            leaves = block.factors
            if len(leaves) <= _MOST_LEAVES and all(leaf.lookup is not None for leaf in leaves):
                entries[number] = tuple(numbers.setdefault(leaf, len(numbers)) for leaf in leaves)
            else:
                self._rest.append((block, places[number]))
        self._lookups = [leaf.lookup for leaf in numbers if leaf.lookup is not None]
        # The compiled kernel writes where a lookup sends it, so a map from elsewhere is held to its own dimension here.
        for leaf, (_, table) in zip(numbers, self._lookups, strict=True):
            if table.dtype != np.uint16 or (len(table) and int(np.max(table)) >= leaf.dimension):
                raise ValueError(f"the lookup of {type(leaf).__name__} leaves its dimension")
        if int(offsets[-1]) != self.feature_map.dimension:
            raise ValueError("the blocks of the feature map do not add up to its dimension")
        self._leaf_sizes = np.array([leaf.dimension for leaf in numbers], dtype=np.int64)
        parents = _parents(entries)
        self._margins = [
            (places[child], places[parent], entries[child], entries[parent]) for child, parent in parents.items()
        ]
        counted = [number for number in entries if number not in parents]
        padded = [entries[number] + (-1,) * (_MOST_LEAVES - len(entries[number])) for number in counted]
        self._table = np.array(padded, dtype=np.int64).reshape(-1, _MOST_LEAVES)
        self._starts = np.array([places[number].start for number in counted], dtype=np.int64)

    def add(self, records: Records) -> None:
        """Add a batch of records."""
        self.rows += records.rows
        if self._counting:
            self._count(records)
        else:
            self._sum(records)

    def add_parts(self, records: Records, parts: int) -> None:
        """Add a batch of records each of which counts so many parts of a person's weight: the grid says of how many."""
        if not (self.grid.shared and 0 < parts <= self.grid.parts):
            raise ValueError("a record counts at least one part of its person's weight, and at most all")
        before, self._counts = self._counts, np.zeros_like(self._counts)
        self.add(records)
        self._counts = before + parts * self._counts

    def _count(self, records: Records) -> None:
        cells = np.empty((len(self._lookups), records.rows), dtype=np.uint16)
        for row, (column, table) in zip(cells, self._lookups, strict=True):
            look_up(
                table, records.codes[column], row
            )  # a code out of range stops the pass rather than hit another cell
        count_cells(cells, self._table, self._leaf_sizes, self._starts, self._counts)
        for block, place in self._rest:
            self._counts[place] += block.totals(records)

    def _sum(self, records: Records) -> None:
        cells = [part.cells.dimension for part in self._dense if part.cells is not None]
        widest = max(1, sum(part.size for part in self._dense), *cells)
        step = max(1, _DENSE_CELLS // widest)
        for start in range(0, records.rows, step):
            self._sum_part(records.part(slice(start, start + step)))

    def _sum_part(self, records: Records) -> None:
        """Add the features of a few records: by their cell of a block's indicators, never as records x cells x features.

        Floats hold integers exactly here: the grid keeps the squared norm of a record that is within the limit, and sums
        over this many records, to 2^53. A record over the limit goes the long way, where it is clipped.
        """
        squared = np.full(records.rows, float(sum(weight**2 for weight, _, _ in self._counted)))
        dense = []
        known: dict[FeatureMap, NDArray[np.float64]] = {}  # a column's features occur in many products
        for part in self._dense:
            for factor in part.factors:
                if factor not in known:
                    known[factor] = factor(records)
            values = outer([known[factor] for factor in part.factors]) * (part.weight * self.grid.scale)
            np.trunc(values, out=values)
            squared += np.einsum("ij,ij->i", values, values)
            dense.append(values)
        within = squared <= self.grid.squared_norm  # false for NaN, too
        if not within.all():
            for row in np.flatnonzero(~within):
                self._counts += quantise(self.feature_map(records.part(slice(row, row + 1))), self.grid)[0]
            records = records.part(np.flatnonzero(within))
            dense = [values[within] for values in dense]
        for part, values in zip(self._dense, dense, strict=True):
            if part.cells is None:
                self._counts[part.place] += values.sum(axis=0).astype(np.int64)
            else:
                sums = _sums_by_cell(part.cells.cells(records), values, part.cells.dimension)
                self._counts[part.place] += sums.astype(np.int64).ravel()
        for weight, block, place in self._counted:
            self._counts[place] += weight * np.bincount(block.cells(records), minlength=block.dimension)

    def _fill_margins(self) -> None:
        for child, parent, kept, leaves in self._margins:
            table = self._counts[parent].reshape([self._leaf_sizes[leaf] for leaf in leaves])
            margin = table.sum(axis=tuple(axis for axis, leaf in enumerate(leaves) if leaf not in kept))
            order = [leaf for leaf in leaves if leaf in kept]
            self._counts[child] = margin.transpose([order.index(leaf) for leaf in kept]).ravel()

    def partial(self) -> Partial:
        """What has been added up so far, for merging with other parts of the same sum."""
        return Partial(self._counts, self.rows)

    def sums(self) -> Integers:
        """The exact sum in grid units."""
        if not self._counting:
            if self.rows * self.grid.scale > 1 << 62:
                raise OverflowError("more rows than the grid can add up")
            return self._counts.copy()
        self._fill_margins()
        most = int(np.abs(self._counts).max(initial=0)) * max(self._weights)
        if most > 1 << 62:
            raise OverflowError("more rows than the grid can add up")
        return self._counts * np.repeat(np.array(self._weights, dtype=np.int64), self._sizes)


def _sums_by_cell(cells: Integers, values: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Sums of rows over each cell: a matrix product where cells are few, feature by feature where they are many."""
    if size <= values.shape[1]:
        return np.asarray(one_hot(cells, size).T @ values)
    return np.stack([np.bincount(cells, weights=column, minlength=size) for column in values.T], axis=1)


def _whole(block: FeatureMap) -> bool:
    """Whether a block's sums are whole numbers, taken by the map itself. What a map from elsewhere says of its own features
    is not believed, unless its cells are looked at: it goes the long way, where it is clipped."""
    return block.indicator or (block.most_ones is not None and is_own(block))


def _parents(entries: dict[int, tuple[int, ...]]) -> dict[int, int]:
    """For every block whose leaves all occur in a larger one: such a larger one."""
    largest: dict[frozenset[int], int] = {}
    for number, entry in entries.items():
        for size in range(1, len(entry)):
            for subset in itertools.combinations(entry, size):
                largest.setdefault(frozenset(subset), number)
    parents = {number: largest[frozenset(entry)] for number, entry in entries.items() if frozenset(entry) in largest}
    return {child: _top(child, parents) for child in parents}


def _top(number: int, parents: dict[int, int]) -> int:
    """The end of a chain of parents: only that one is counted."""
    while number in parents:
        number = parents[number]
    return number
