"""How feature maps compose: `Concat` adds kernels, `Product` multiplies them, `Weighted` scales one."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.indicator import Tiles
from pointillist.features.products import Products
from pointillist.files.facts import real
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftRecords


@MAPS.register("concat")
@dataclass(frozen=True)
class Concat(FeatureMap):
    """Features side by side: kernels add, squared norms add."""

    maps: tuple[FeatureMap, ...]

    def __post_init__(self) -> None:
        if not self.maps:
            raise ValueError("Concat needs at least one map")

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return self.maps

    @cached_property
    def dimension(self) -> int:
        return sum(part.dimension for part in self.maps)

    @cached_property
    def bound(self) -> float:
        return math.sqrt(math.fsum(part.bound**2 for part in self.maps))

    @cached_property
    def nonnegative(self) -> bool:
        return all(part.nonnegative for part in self.maps)

    @cached_property
    def positive(self) -> bool:
        return all(part.positive for part in self.maps)

    @cached_property
    def slices(self) -> tuple[slice, ...]:
        """Where each part's features stand."""
        ends = np.cumsum([part.dimension for part in self.maps])
        return tuple(slice(int(end) - part.dimension, int(end)) for end, part in zip(ends, self.maps, strict=True))

    def blocks(self, weight: float = 1.0) -> list[tuple[FeatureMap, float]]:
        return [block for part in self.maps for block in part.blocks(weight)]

    def __call__(self, records: Records) -> Floats:
        return np.concatenate([part(records) for part in self.maps], axis=1)

    def expectation(self, products: Products) -> Floats:
        return np.concatenate([part.expectation(products) for part in self.maps], axis=1)

    def soft(self, records: "SoftRecords") -> "Tensor":
        import torch

        return torch.cat([part.soft(records) for part in self.maps], dim=1)

    def describe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(parts)


@MAPS.register("product")
@dataclass(frozen=True)
class Product(FeatureMap):
    """All products of one feature from each map: kernels multiply, norms multiply. The last map's feature runs fastest.

    The maps must read different columns: then expectations under a product distribution multiply too. Maps of images have
    no such expectation, and may read the label as well.
    """

    maps: tuple[FeatureMap, ...]

    def __post_init__(self) -> None:
        if not self.maps:
            raise ValueError("Product needs at least one map")
        columns = [
            name for part in self.maps if not part.image_columns for name in part.code_columns | part.unit_columns
        ]
        if len(set(columns)) != len(columns):
            raise ValueError("the maps of a Product must read different columns")

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return self.maps

    @cached_property
    def dimension(self) -> int:
        return math.prod(part.dimension for part in self.maps)

    @cached_property
    def bound(self) -> float:
        return math.prod(part.bound for part in self.maps)

    @cached_property
    def nonnegative(self) -> bool:
        return all(part.nonnegative for part in self.maps)

    @cached_property
    def positive(self) -> bool:
        return all(part.positive for part in self.maps)

    @cached_property
    def indicator(self) -> bool:
        return all(part.indicator for part in self.maps)

    def cells(self, records: Records) -> NDArray[np.int64]:
        cells = self.maps[0].cells(records)
        for part in self.maps[1:]:
            cells = cells * part.dimension + part.cells(records)
        return cells

    @cached_property
    def most_ones(self) -> int | None:
        found = [part.most_ones for part in self.maps]
        return None if None in found else math.prod(each for each in found if each is not None)

    def totals(self, records: Records) -> NDArray[np.int64]:
        if self.indicator:
            return super().totals(records)
        *front, last = self.maps
        if not all(part.indicator for part in front):  # rare, so the long way: floats hold whole numbers exactly
            return self(records).sum(axis=0).astype(np.int64)
        cells = Product(tuple(front)).cells(records)
        by_cell = [
            last.totals(records.part(np.flatnonzero(cells == cell))) for cell in range(self.dimension // last.dimension)
        ]
        return np.concatenate(by_cell)

    @property
    def factors(self) -> tuple[FeatureMap, ...]:
        return tuple(factor for part in self.maps for factor in part.factors)

    def __call__(self, records: Records) -> Floats:
        return outer([part(records) for part in self.maps])

    def expectation(self, products: Products) -> Floats:
        return outer([part.expectation(products) for part in self.maps])

    def soft(self, records: "SoftRecords") -> "Tensor":
        found = self.maps[0].soft(records)
        for part in self.maps[1:]:
            found = (found[:, :, None] * part.soft(records)[:, None, :]).flatten(1)
        return found

    def describe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(parts)


@MAPS.register("labelled")
class Labelled(Product):
    """A map for each class of a label: the map's features stand in the block of the record's class."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.maps) != 2 or not isinstance(self.maps[0], Tiles):
            raise ValueError("Labelled needs a label and one map")

    @classmethod
    def of(cls, features: FeatureMap, label: Tiles) -> Self:
        return cls((label, features))

    @property
    def label(self) -> Tiles:
        label = self.maps[0]
        assert isinstance(label, Tiles)
        return label

    @property
    def features(self) -> FeatureMap:
        return self.maps[1]


@MAPS.register("weighted")
@dataclass(frozen=True)
class Weighted(FeatureMap):
    """A map times a public number >= 0: the larger, the less noise its features get, at the others' cost."""

    map: FeatureMap
    weight: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ValueError(f"weight must be finite and not negative, not {self.weight}")

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return (self.map,)

    @property
    def dimension(self) -> int:
        return self.map.dimension

    @property
    def bound(self) -> float:
        return self.weight * self.map.bound

    @property
    def nonnegative(self) -> bool:
        return self.map.nonnegative

    @property
    def positive(self) -> bool:
        return self.map.positive

    def blocks(self, weight: float = 1.0) -> list[tuple[FeatureMap, float]]:
        return self.map.blocks(weight * self.weight)

    def __call__(self, records: Records) -> Floats:
        return self.weight * self.map(records)

    def expectation(self, products: Products) -> Floats:
        return self.weight * self.map.expectation(products)

    def soft(self, records: "SoftRecords") -> "Tensor":
        return self.weight * self.map.soft(records)

    def describe(self) -> dict[str, Any]:
        return {"weight": self.weight}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        (weighted,) = parts
        return cls(weighted, real(facts, "weight", 0.0))


def outer(blocks: list[Floats]) -> Floats:
    result = blocks[0]
    for block in blocks[1:]:
        width = result.shape[1] * block.shape[1]  # in so many words: no rows would leave it open
        result = (result[:, :, None] * block[:, None, :]).reshape(len(result), width)
    return result
