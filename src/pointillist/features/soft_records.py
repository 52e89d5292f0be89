"""Soft records: a batch of rows or images in the making, which gradients can flow through. `FeatureMap.soft` takes them.

A row's column is a distribution: probabilities over tiles, a position in [0, 1], or both (a number that may also be a
special value or missing). Columns are independent given the row, so expected features of products are products of
expected features. The same form serves rows of a network, which all count the same, and components of a mixture, which
have weights. Images are pixels, and their labels are settled. Needs torch, once it is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import FeatureMap
from pointillist.features.indicator import Tiles, aggregation
from pointillist.schema.levels import Levels

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SoftColumn:
    """What is settled about a column before any row is made."""

    level: Levels
    tiles: Tiles | None
    """What its probabilities are over; none: it has a position only."""
    placed: bool
    """Whether rows give regular levels a position of their own; otherwise positions follow from the tiles."""
    _matrices: "dict[FeatureMap, Tensor]" = field(default_factory=dict, repr=False)

    @cached_property
    def inside(self) -> Floats:
        """The chances of the levels in each tile, all equally likely; (tiles, levels).

        Tiles whose levels are placed by the row itself read 0: what they give is added from the row's position.
        """
        assert self.tiles is not None
        found = aggregation(Tiles(self.level.name, tuple(range(self.level.size))), self.tiles).T
        found /= found.sum(axis=1, keepdims=True)
        if self.placed:
            found[self._regular() > 0] = 0.0
        return found

    def matrix(self, leaf: FeatureMap) -> "Tensor":
        """What a map needs to know of the column, `FeatureMap.soft_levels`, worked out once; (tiles, ...)."""
        import torch

        if leaf not in self._matrices:
            self._matrices[leaf] = torch.as_tensor(leaf.soft_levels(self), dtype=torch.float32)
        return self._matrices[leaf]

    def regular(self) -> "Tensor":
        """1 for tiles of regular levels, 0 for atoms and gaps."""
        import torch

        return torch.as_tensor(self._regular(), dtype=torch.float32)

    def _regular(self) -> Floats:
        assert self.tiles is not None
        found = np.zeros(self.tiles.dimension)
        found[np.unique(self.tiles.table[: self.level.regular])] = 1.0
        return found


@dataclass(frozen=True, eq=False)
class SoftRecords:
    """A batch of rows or images in the making."""

    rows: int
    columns: Mapping[str, SoftColumn] = field(default_factory=dict)
    probabilities: "Mapping[str, Tensor]" = field(default_factory=dict)
    """For each column with tiles, one row of probabilities for each record."""
    places: "Mapping[str, Tensor]" = field(default_factory=dict)
    """For each placed column the position of every record, if it is regular."""
    weights: "Tensor | None" = None
    """How much each record counts, 1 in all; none: all the same."""
    images: "Mapping[str, Tensor]" = field(default_factory=dict)
    """Pixels by column, as (rows, channels, height, width) in [0, 1]."""
    labels: "Mapping[str, Tensor]" = field(default_factory=dict)
    """Levels by column, of images whose label is settled."""

    def weigh(self, features: "Tensor") -> "Tensor":
        """Features (..., rows, dimension) such that a plain sum over records is their mean."""
        return features / self.rows if self.weights is None else self.weights[:, None] * features
