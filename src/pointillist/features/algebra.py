"""How feature maps compose: `Concat` adds kernels, `Product` multiplies them, `Weighted` scales one."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import FeatureMap, Floats
from pointillist.features.indicator import Tiles
from pointillist.features.products import Products
from pointillist.records import Records


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

    def __call__(self, records: Records) -> Floats:
        return np.concatenate([part(records) for part in self.maps], axis=1)

    def expectation(self, products: Products) -> Floats:
        return np.concatenate([part.expectation(products) for part in self.maps], axis=1)

    def describe(self) -> dict[str, Any]:
        return {}


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

    def __call__(self, records: Records) -> Floats:
        return outer([part(records) for part in self.maps])

    def expectation(self, products: Products) -> Floats:
        return outer([part.expectation(products) for part in self.maps])

    def describe(self) -> dict[str, Any]:
        return {}


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

    def __call__(self, records: Records) -> Floats:
        return self.weight * self.map(records)

    def expectation(self, products: Products) -> Floats:
        return self.weight * self.map.expectation(products)

    def describe(self) -> dict[str, Any]:
        return {"weight": self.weight}


def blocks(feature_map: FeatureMap, weight: float = 1.0) -> list[tuple[FeatureMap, float]]:
    """The blocks of a map with their weights, in the order of their features."""
    if isinstance(feature_map, Concat):
        return [block for part in feature_map.maps for block in blocks(part, weight)]
    if isinstance(feature_map, Weighted):
        return blocks(feature_map.map, weight * feature_map.weight)
    return [(feature_map, weight)]


def factors(feature_map: FeatureMap) -> tuple[FeatureMap, ...]:
    """The maps that a map is the product of, products of products taken apart; itself if it is none."""
    if not isinstance(feature_map, Product):
        return (feature_map,)
    return tuple(factor for part in feature_map.maps for factor in factors(part))


def outer(blocks: list[Floats]) -> Floats:
    result = blocks[0]
    for block in blocks[1:]:
        width = result.shape[1] * block.shape[1]  # in so many words: no rows would leave it open
        result = (result[:, :, None] * block[:, None, :]).reshape(len(result), width)
    return result
