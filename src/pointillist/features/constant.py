"""Constant: one feature that is 1 for every record, so that its sum is the number of records."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.products import Products
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftRecords


@MAPS.register("constant")
@dataclass(frozen=True)
class Constant(FeatureMap):
    """1 for every record. For data without a column of levels, such as images without labels."""

    @property
    def dimension(self) -> int:
        return 1

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
    def indicator(self) -> bool:
        return True

    def cells(self, records: Records) -> NDArray[np.int64]:
        return np.zeros(records.rows, dtype=np.int64)

    def __call__(self, records: Records) -> Floats:
        return np.ones((records.rows, 1))

    def expectation(self, products: Products) -> Floats:
        return np.ones((products.count, 1))

    def soft(self, records: "SoftRecords") -> "Tensor":
        import torch

        return torch.ones(records.rows, 1)

    def describe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls()
