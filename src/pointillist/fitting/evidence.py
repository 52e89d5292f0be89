"""Evidence: a release as tables of noisy counts and sums of scores, in the form that a mixture is fitted to."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, Product, Records, Score, ScoreProducts, Tiles
from pointillist.plan import PublishedBlock, PublishedRound
from pointillist.release import Measurement, Release

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEAST_SPLIT = 3
"""So many tables of three columns with the first in common are pairs, split by a label."""


@dataclass(frozen=True, eq=False)
class Table:
    """Noisy counts over the product of some columns' tiles."""

    leaves: tuple[Tiles, ...]
    values: Floats
    sigma: float
    """Standard deviation of the noise on each cell, in rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(leaf.column for leaf in self.leaves)

    def count(self, records: Records) -> Floats:
        """The same table for other rows, without noise."""
        cells = Product(self.leaves).cells(records)
        return np.bincount(cells, minlength=self.values.size).astype(np.float64).reshape(self.values.shape)


@dataclass(frozen=True, eq=False)
class ScoreSums:
    """Noisy sums of products of scores over all rows, or over those of each class of a label."""

    products: ScoreProducts
    label: Tiles | None
    values: Floats
    """Classes x products."""
    sigma: float
    """Standard deviation of the noise on each of them, in rows."""


def scores_of(measurement: Measurement) -> list[ScoreSums]:
    """The blocks of a measurement that are products of scores."""
    found = []
    for block in measurement.blocks():
        *front, last = block.map.factors
        if isinstance(last, ScoreProducts) and len(front) <= 1 and all(isinstance(each, Tiles) for each in front):
            label = next((each for each in front if isinstance(each, Tiles)), None)
            values = (block.values / block.added).reshape(-1, last.dimension)
            found.append(ScoreSums(last, label, values, block.sigma / block.added))
    return found


def tables_of(measurement: Measurement) -> list[Table]:
    """A measurement of weighted indicators as tables of noisy counts."""
    found = list(_tables(measurement))
    tables = [table for table in found if table is not None]
    if len(tables) != len(found):
        raise UsageError(
            "mosaic fits tables of counts, and the release holds other features. Fit it by its own method."
        )
    return tables


def readable_tables(measurement: Measurement) -> list[Table]:
    """The blocks of a measurement that are weighted indicators, as tables of noisy counts."""
    return [table for table in _tables(measurement) if table is not None]


def _tables(measurement: Measurement) -> Iterator[Table | None]:
    """For each block of a measurement its table of noisy counts, or none if it is of another kind."""
    for block in measurement.blocks():
        leaves = tuple(leaf for leaf in block.map.factors if isinstance(leaf, Tiles))
        if len(leaves) != len(block.map.factors):
            yield None
            continue
        shape = [leaf.dimension for leaf in leaves]
        yield Table(leaves, (block.values / block.added).reshape(shape), block.sigma / block.added)


def measured_blocks(release: Release) -> Iterator[tuple[PublishedRound, PublishedBlock, list[Table]]]:
    """Every block of tables that a release measured: its round and itself as planned, and its tables."""
    for planned, measurement in zip(release.plan.rounds, release.measurements, strict=True):
        found = list(_tables(measurement))
        for block in planned.blocks:
            part, found = found[: block.count], found[block.count :]
            tables = [table for table in part if table is not None]
            if tables and len(tables) == len(part):
                yield planned, block, tables


def raw_error(cells: float, sigma: float, rows: float) -> float:
    """Expected total variation distance of a table of noisy counts, from noise alone: half of all E|noise|, by row."""
    return 0.5 * cells * math.sqrt(2 / math.pi) * sigma / rows


def estimated_rows(tables: list[Table]) -> float:
    """The number of rows, at least 1: every table's cells add up to it, and the fewer cells, the less noise."""
    precision = [1 / (table.values.size * table.sigma**2) for table in tables]
    return max(1.0, float(np.average([table.values.sum() for table in tables], weights=precision)))


@dataclass(frozen=True, eq=False)
class Evidence:
    """All tables of a release, and all sums of scores."""

    rows: float
    tables: tuple[Table, ...]
    scores: tuple[ScoreSums, ...] = ()
    tiles: Mapping[str, Tiles] = field(default_factory=dict)
    """For columns that only scores tie to others: over which tiles they are to be modelled."""

    @cached_property
    def cliques(self) -> tuple[Table, ...]:
        """Tables of three columns and more that stand by themselves, not split by a label as many others are."""
        labels = Counter(table.leaves[0] for table in self.tables if len(table.leaves) == 3)
        return tuple(
            table
            for table in self.tables
            if len(table.leaves) > 3 or (len(table.leaves) == 3 and labels[table.leaves[0]] < _LEAST_SPLIT)
        )

    @cached_property
    def base(self) -> dict[str, Tiles]:
        """For each column the coarsest tiling that refines every tiling of it in tables of two columns or more."""
        found: dict[str, list[Tiles]] = {}
        for table in sorted(self.tables, key=lambda table: len(table.leaves) == 1):  # in the order of pairs, if any
            for leaf in table.leaves:
                found.setdefault(leaf.column, [])
                if len(table.leaves) > 1 and leaf not in found[leaf.column]:
                    found[leaf.column].append(leaf)
        for column, leaves in found.items():
            if self.scores and not leaves and column in self.tiles:
                leaves.append(self.tiles[column])
        sizes = {leaf.column: len(leaf.tile_of) for table in self.tables for leaf in table.leaves}
        return {column: refine(column, sizes[column], leaves) for column, leaves in found.items()}


def measured_tiles(column: str, feature_maps: Sequence[FeatureMap]) -> list[Tiles]:
    """The different tilings of a column that some maps read."""
    leaves = [leaf for each in feature_maps for leaf in each.leaves]
    tilings = [leaf.tiling if isinstance(leaf, Score) else leaf for leaf in leaves if isinstance(leaf, Score | Tiles)]
    return list(dict.fromkeys(each for each in tilings if each.column == column))


def refine(column: str, size: int, leaves: list[Tiles]) -> Tiles:
    """The coarsest tiling of a column that refines all of `leaves`."""
    numbers: dict[tuple[int, ...], int] = {}
    finest = [
        leaf for leaf in leaves if leaf.dimension == len(set(zip(*(each.tile_of for each in leaves), strict=True)))
    ]
    if finest:
        return finest[0]  # one of them refines all others: keep its numbering
    keys = [tuple(leaf.tile_of[level] for leaf in leaves) for level in range(size)]
    return Tiles(column, tuple(numbers.setdefault(key, len(numbers)) for key in keys))


def joint_tiles(first: Tiles, second: Tiles) -> tuple[Integers, Integers]:
    """The finest unions of tiles that two tilings of a column have in common: for each tile of either its union."""
    links = coo_array(
        (np.ones(len(first.table), dtype=np.int8), (first.table, first.dimension + second.table)),
        shape=(first.dimension + second.dimension,) * 2,
    )
    found = connected_components(links, directed=False)[1].astype(np.int64)
    return found[: first.dimension], found[first.dimension :]
