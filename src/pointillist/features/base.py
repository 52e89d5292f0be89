"""What a feature map is: a pure, public function from a record to a vector with a proven bound on its norm."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features.domain import Domain
from pointillist.features.products import Products
from pointillist.records import Records

Floats = NDArray[np.float64]


class FeatureMap(ABC):
    """A bounded feature map. Subclasses are frozen values."""

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
    def indicator(self) -> bool:
        """Whether exactly one feature is 1 and the rest are 0, so that sums are counts; then `cells` may be called."""
        return False

    def cells(self, records: Records) -> NDArray[np.int64]:
        """For an indicator: the number of the feature that is 1, for each record."""
        raise TypeError(f"{type(self).__name__} is not an indicator")

    @abstractmethod
    def __call__(self, records: Records) -> Floats:
        """The features of a batch, one row for each record."""

    @abstractmethod
    def expectation(self, products: Products) -> Floats:
        """The expected features under each product distribution, one row for each, in closed form."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """The map's own settings as JSON values and arrays, without its parts."""
