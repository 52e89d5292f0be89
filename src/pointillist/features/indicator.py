"""Indicators: exactly one feature is 1. Their sums are counts, so sums over records are exact histograms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.products import Products
from pointillist.files.facts import text, whole, wholes
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftColumn, SoftRecords

MOST_LEVELS = 1 << 16
"""Levels are numbers of 16 bits."""


@MAPS.register("tiles")
@dataclass(frozen=True)
class Tiles(FeatureMap):
    """One indicator for each tile of a column; a tile is a set of levels."""

    column: str
    tile_of: tuple[int, ...]
    """The tile of every level of the column."""

    def __post_init__(self) -> None:
        if not 1 <= len(self.tile_of) <= MOST_LEVELS:
            raise ValueError(f"a column has from 1 to {MOST_LEVELS:,} levels")
        tiles = set(self.tile_of)
        if min(tiles) != 0 or max(tiles) != len(tiles) - 1:
            raise ValueError("tiles must be numbered from 0 without gaps")

    @cached_property
    def table(self) -> NDArray[np.uint16]:
        """`tile_of` as an array to look levels up in."""
        return np.asarray(self.tile_of, dtype=np.uint16)

    @cached_property
    def dimension(self) -> int:
        return max(self.tile_of) + 1

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def nonnegative(self) -> bool:
        return True

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset([self.column])

    @property
    def indicator(self) -> bool:
        return True

    def fits(self, domain: Domain) -> bool:
        return domain.sizes.get(self.column) == len(self.tile_of)

    @property
    def lookup(self) -> tuple[str, NDArray[np.uint16]]:
        return self.column, self.table

    def cells(self, records: Records) -> NDArray[np.int64]:
        return self.table[records.codes[self.column]].astype(np.int64)

    def __call__(self, records: Records) -> Floats:
        return one_hot(self.cells(records), self.dimension)

    def expectation(self, products: Products) -> Floats:
        return products.probabilities[self.column] @ one_hot(self.table.astype(np.int64), self.dimension)

    def soft(self, records: "SoftRecords") -> "Tensor":
        column = records.columns[self.column]
        if column.tiles is None and self.dimension == 1:  # every row counts 1
            import torch

            return torch.ones(records.rows, 1)
        probabilities = records.probabilities[self.column]
        if column.tiles == self:
            return probabilities
        return probabilities @ column.matrix(self)

    def soft_levels(self, column: "SoftColumn") -> Floats:
        assert column.tiles is not None
        return aggregation(column.tiles, self)

    @property
    def levels_held(self) -> int:
        return len(self.tile_of)

    def describe(self) -> dict[str, Any]:
        return {"column": self.column, "tile_of": list(self.tile_of)}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "column"), wholes(facts, "tile_of", 0, MOST_LEVELS - 1))


@MAPS.register("one-hot")
class OneHot(Tiles):
    """One indicator for each level of a column."""

    def __init__(self, column: str, size: int):
        super().__init__(column, tuple(range(size)))

    def describe(self) -> dict[str, Any]:
        return {"column": self.column, "size": self.dimension}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "column"), whole(facts, "size", 1, MOST_LEVELS))


def aggregation(fine: Tiles, coarse: Tiles) -> Floats:
    """The 0/1 matrix that adds fine tiles up to coarse ones."""
    matrix = np.zeros((fine.dimension, coarse.dimension))
    matrix[fine.table, coarse.table] = 1.0
    if not (matrix.sum(axis=1) == 1).all():
        raise ValueError(f"the tiles of column {fine.column!r} do not nest")
    return matrix


def one_hot(cells: NDArray[np.int64], dimension: int) -> Floats:
    """A row for each cell number, with a 1 in that place."""
    values = np.zeros((len(cells), dimension))
    values[np.arange(len(cells)), cells] = 1.0
    return values
