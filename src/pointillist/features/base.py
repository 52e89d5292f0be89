"""What a feature map is: a pure, public function from a record to a vector with a proven bound on its norm.

A new map is one new file: a frozen class with what is abstract below, entered in `MAPS` by the name that files call it by.
`describe` and `from_description` take it into files and back, `soft` lets networks, points and mixtures be fitted to it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.device import CPU
from pointillist.features.domain import Domain
from pointillist.features.products import Products
from pointillist.records import Records
from pointillist.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftColumn, SoftRecords

Floats = NDArray[np.float64]


class FeatureMap(ABC):
    """A bounded feature map. Subclasses are frozen values, and import torch late if at all."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """The number of features."""

    @property
    @abstractmethod
    def bound(self) -> float:
        """No record's features have a Euclidean norm above this."""

    @property
    @abstractmethod
    def nonnegative(self) -> bool:
        """Whether no feature is ever below zero; it makes replace-one cheaper by sqrt 2."""

    @property
    def positive(self) -> bool:
        """Whether no two records' features have an inner product below zero; it makes replace-one cheaper by sqrt 2, too."""
        return self.nonnegative

    @property
    @abstractmethod
    def parts(self) -> tuple["FeatureMap", ...]:
        """The maps that this one is made of."""

    @property
    def leaves(self) -> tuple["FeatureMap", ...]:
        """The simplest maps that this one is made of, in order, with repeats."""
        if not self.parts:
            return (self,)
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    def blocks(self, weight: float = 1.0) -> "list[tuple[FeatureMap, float]]":
        """The maps that stand side by side in this one, with their weights, in the order of their features."""
        return [(self, weight)]

    @property
    def factors(self) -> "tuple[FeatureMap, ...]":
        """The maps that this one is the product of, products of products taken apart; itself if it is none."""
        return (self,)

    def fits(self, domain: Domain) -> bool:
        """Whether a schema has the columns that this map reads, in the size that it reads them. Asked of leaves."""
        known = self.code_columns <= domain.sizes.keys() and self.unit_columns <= domain.numbers
        return known and self.image_columns <= {domain.image}

    @property
    def code_columns(self) -> frozenset[str]:
        """Columns that the map reads as levels."""
        return frozenset[str]().union(*(part.code_columns for part in self.parts))

    @property
    def unit_columns(self) -> frozenset[str]:
        """Columns that the map reads as positions in [0, 1]."""
        return frozenset[str]().union(*(part.unit_columns for part in self.parts))

    @property
    def image_columns(self) -> frozenset[str]:
        """Columns that the map reads as pixels."""
        return frozenset[str]().union(*(part.image_columns for part in self.parts))

    @property
    def columns_known(self) -> frozenset[str]:
        """Columns of which rows can be made from the features."""
        return self.code_columns | self.unit_columns | self.image_columns

    @property
    def device(self) -> str:
        """What a network that looks at private records for this map runs on; the sums are the processor's, always."""
        return next((part.device for part in self.parts if part.device != CPU), CPU)

    @property
    def indicator(self) -> bool:
        """Whether exactly one feature is 1 and the rest are 0, so that sums are counts; then `cells` may be called."""
        return False

    def cells(self, records: Records) -> NDArray[np.int64]:
        """For an indicator: the number of the feature that is 1, for each record."""
        raise TypeError(f"{type(self).__name__} is not an indicator")

    @property
    def most_ones(self) -> int | None:
        """Where every feature is -1, 0 or 1: how many of a record's are not 0, at most. Then sums are whole numbers, norms
        are known before a record is seen, and `totals` may be called. None for other maps."""
        return 1 if self.indicator else None

    def totals(self, records: Records) -> NDArray[np.int64]:
        """Where every feature is -1, 0 or 1: their sum over a batch, exactly."""
        return np.bincount(self.cells(records), minlength=self.dimension)

    @property
    def lookup(self) -> tuple[str, NDArray[np.uint16]] | None:
        """For an indicator of one column's levels: the column, and the number of the feature that is 1 for each level."""
        return None

    @abstractmethod
    def __call__(self, records: Records) -> Floats:
        """The features of a batch, one row for each record."""

    @abstractmethod
    def expectation(self, products: Products) -> Floats:
        """The expected features under each product distribution, one row for each, in closed form."""

    @property
    def has_soft(self) -> bool:
        """Whether `soft` may be called."""
        return type(self).soft is not FeatureMap.soft and all(part.has_soft for part in self.parts)

    def soft(self, records: "SoftRecords") -> "Tensor":
        """The expected features of records in the making, (rows, dimension), with gradients. Needs torch."""
        raise TypeError(f"{type(self).__name__} has no soft form")

    def soft_levels(self, column: "SoftColumn") -> Floats:
        """What `soft` needs to know of a column: here the expected features in each of its tiles."""
        spans = {column.level.name: column.level.spans} if column.level.numeric else {}
        return self.expectation(Products({column.level.name: column.inside}, spans))

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The map's own settings as JSON values and arrays, without its parts."""

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: "tuple[FeatureMap, ...]") -> Self:
        """The inverse of `describe`. Facts may come in a stranger's file: what does not hold is a `ValueError`."""
        raise TypeError(f"{cls.__name__} cannot be read from a file")

    @property
    def levels_held(self) -> int:
        """How many levels the map holds in memory, where its file has but a few letters for them."""
        return 0


MAPS: Registry[type[FeatureMap]] = Registry("feature map", "pointillist.features")
"""Every map that a file may hold, by the name that it has there."""


def is_own(feature_map: FeatureMap) -> bool:
    """Whether a map and all its parts are this library's, by what they are and not by what they inherit.

    What such a map says of the signs of its features is proved and tested. What a map from elsewhere says is not relied on
    where privacy rests on it: the bound on its norm is enforced, its signs are not.
    """
    own = type(feature_map).__module__.startswith("pointillist.features.")
    return own and any(type(feature_map) is each for _, each in MAPS.entries) and all(map(is_own, feature_map.parts))
