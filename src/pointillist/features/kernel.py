"""Kernels on records of mixed types: a small algebra of frozen values.

A kernel tells how alike two records are, and is an inner product k(x, y) = <k(x, .), k(y, .)> in some space. `Gaussian`
compares the positions of numbers, `Delta` whether categories are equal; `Times` multiplies kernels and `Plus` adds them with
weights. k(x, x) is the same number for every record, and never above 1: that is all that privacy asks of a kernel.

Everything is done element by element, column by column, never as a matrix product: so the similarity of two records is the
same bits whatever records stand beside them.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from pointillist.errors import UsageError
from pointillist.features.indicator import MOST_LEVELS, Tiles
from pointillist.features.products import Products
from pointillist.files.facts import listed, real, reals, table, text, texts, wholes
from pointillist.records import Records

Floats = NDArray[np.float64]

_MOST_TERMS = 256
"""Products of sums, multiplied out, have at most so many terms."""
_NARROW = 1e-6
"""A span narrower than this many length scales counts as a point: a difference of two erfs would be all rounding."""


class Kernel(ABC):
    """A positive definite function of two records."""

    @property
    @abstractmethod
    def peak(self) -> float:
        """k(x, x), the same for every record, at most 1."""

    @property
    @abstractmethod
    def code_columns(self) -> frozenset[str]:
        """Columns that the kernel reads as levels."""

    @property
    @abstractmethod
    def unit_columns(self) -> frozenset[str]:
        """Columns that the kernel reads as positions in [0, 1]."""

    @abstractmethod
    def __call__(self, a: Records, b: Records) -> Floats:
        """k(x, y) for every record x of `a` and y of `b`: one row for each x."""

    @property
    def sizes(self) -> Iterator[tuple[str, int]]:
        """Every column that is read as levels, with the number of levels that are told apart there."""
        for _, factors in self.terms:
            for factor in factors:
                yield from factor.sizes

    @property
    @abstractmethod
    def terms(self) -> tuple[tuple[float, tuple["Factor", ...]], ...]:
        """The kernel multiplied out: a weighted sum of products of factors."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The kernel as JSON values."""

    def __mul__(self, other: "Kernel") -> "Times":
        return Times((self, other))

    def expectation(self, products: Products, points: Records) -> Floats:
        """E k(X, z) for X from each product distribution (rows) and every point z (columns), in closed form.

        A column may occur in several factors of a term (a number's position and whether it is missing), so factors are
        multiplied level by level before they are averaged.
        """
        found = np.zeros((products.count, points.rows))
        for weight, factors in self.terms:
            by_column: dict[str, Floats] = {}
            for factor in factors:
                for name in sorted(factor.code_columns | factor.unit_columns):
                    values = factor.by_level(name, products, points)
                    by_column[name] = by_column[name] * values if name in by_column else values
            term = np.full(found.shape, weight)
            for name, values in by_column.items():
                term *= products.probabilities[name] @ values
            found += term
        return found


class Factor(Kernel):
    """A kernel that compares columns one by one and multiplies what it finds."""

    @property
    def peak(self) -> float:
        return 1.0

    @property
    def terms(self) -> tuple[tuple[float, tuple["Factor", ...]], ...]:
        return ((1.0, (self,)),)

    @property
    def sizes(self) -> Iterator[tuple[str, int]]:
        yield from ()

    @abstractmethod
    def by_level(self, name: str, products: Products, points: Records) -> Floats:
        """What a column contributes, on average over each of its levels (rows), beside every point (columns)."""


@dataclass(frozen=True)
class Gaussian(Factor):
    """exp(-sum of ((x - y) / scale)^2 / 2) over the positions in [0, 1] of some numbers."""

    columns: tuple[str, ...]
    scales: tuple[float, ...]
    """A length scale for each column, in parts of its range."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "scales", tuple(float(scale) for scale in self.scales))
        if not self.columns or len(set(self.columns)) != len(self.columns) or len(self.columns) != len(self.scales):
            raise UsageError("a Gaussian kernel needs different columns, at least one, and a length scale for each.")
        for name, scale in zip(self.columns, self.scales, strict=True):
            if not 0 < scale < math.inf:
                raise UsageError(f"the length scale of column {name!r} must be above 0, not {scale}.")

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset()

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset(self.columns)

    def __call__(self, a: Records, b: Records) -> Floats:
        found = np.zeros((a.rows, b.rows))
        for name, scale in zip(self.columns, self.scales, strict=True):
            gap = (a.units[name] / scale)[:, None] - (b.units[name] / scale)[None, :]
            gap *= gap
            found += gap
        found *= -0.5
        np.exp(found, out=found)
        return found

    def by_level(self, name: str, products: Products, points: Records) -> Floats:
        scale = self.scales[self.columns.index(name)]
        low, high = (np.asarray(each)[:, None] for each in products.spans[name])
        place = points.units[name][None, :]
        middle = np.exp(-0.5 * (((low + high) / 2 - place) / scale) ** 2)
        width = np.maximum(high - low, _NARROW * scale)
        reach = math.sqrt(2) * scale
        spread = math.sqrt(math.pi / 2) * scale / width * (erf((high - place) / reach) - erf((low - place) / reach))
        return np.where(high - low > _NARROW * scale, spread, middle)

    def to_json(self) -> dict[str, Any]:
        return {"kernel": "gaussian", "columns": list(self.columns), "scales": list(self.scales)}


@dataclass(frozen=True)
class Delta(Factor):
    """1 for records in the same tile of a column, `floor` for others: floor + (1 - floor) [same], a sum of two kernels."""

    tiles: Tiles
    floor: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.floor < 1:
            raise UsageError(f"the floor of column {self.tiles.column!r} must be from 0 to below 1, not {self.floor}.")

    @property
    def code_columns(self) -> frozenset[str]:
        return self.tiles.code_columns

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset()

    @property
    def sizes(self) -> Iterator[tuple[str, int]]:
        yield self.tiles.column, len(self.tiles.tile_of)

    def __call__(self, a: Records, b: Records) -> Floats:
        cells = self.tiles.table
        mine, theirs = cells[a.codes[self.tiles.column]], cells[b.codes[self.tiles.column]]
        return np.where(mine[:, None] == theirs[None, :], 1.0, self.floor)

    def by_level(self, name: str, products: Products, points: Records) -> Floats:
        cells = self.tiles.table
        return np.where(cells[:, None] == cells[points.codes[name]][None, :], 1.0, self.floor)

    def to_json(self) -> dict[str, Any]:
        facts = {"column": self.tiles.column, "tile_of": list(self.tiles.tile_of)}
        return {"kernel": "delta", **facts, "floor": self.floor}


@dataclass(frozen=True)
class Times(Kernel):
    """A product of kernels: records must be alike in every one of them."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", tuple(self.kernels))
        if not self.kernels:
            raise UsageError("a product of kernels needs at least one.")
        positions = [name for kernel in self.kernels for name in kernel.unit_columns]
        if len(set(positions)) != len(positions):
            raise UsageError("the kernels of a product must compare the positions of different columns.")

    @property
    def peak(self) -> float:
        return math.prod(kernel.peak for kernel in self.kernels)

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset[str]().union(*(kernel.code_columns for kernel in self.kernels))

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset[str]().union(*(kernel.unit_columns for kernel in self.kernels))

    def __call__(self, a: Records, b: Records) -> Floats:
        found = self.kernels[0](a, b)
        for kernel in self.kernels[1:]:
            found *= kernel(a, b)
        return found

    @property
    def terms(self) -> tuple[tuple[float, tuple[Factor, ...]], ...]:
        found: tuple[tuple[float, tuple[Factor, ...]], ...] = ((1.0, ()),)
        for kernel in self.kernels:
            terms = kernel.terms
            if len(found) * len(terms) > _MOST_TERMS:
                raise UsageError(f"a product of sums of kernels has over {_MOST_TERMS} terms: add up fewer kernels.")
            found = tuple((one * two, a + b) for one, a in found for two, b in terms)
        return found

    def to_json(self) -> dict[str, Any]:
        return {"kernel": "times", "kernels": [kernel.to_json() for kernel in self.kernels]}


@dataclass(frozen=True)
class Plus(Kernel):
    """A weighted sum of kernels: each sees its part of how alike records are."""

    kernels: tuple[Kernel, ...]
    weights: tuple[float, ...]
    """Not negative, and adding up to at most 1."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", tuple(self.kernels))
        object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
        if not self.kernels or len(self.kernels) != len(self.weights):
            raise UsageError("a sum of kernels needs at least one, and a weight for each.")
        if not (min(self.weights) >= 0 and 0 < math.fsum(self.weights) <= 1 + 1e-12):
            raise UsageError("the weights of a sum of kernels must not be negative, and add up to at most 1.")

    @property
    def peak(self) -> float:
        return min(1.0, math.fsum(w * k.peak for w, k in zip(self.weights, self.kernels, strict=True)))

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset[str]().union(*(kernel.code_columns for kernel in self.kernels))

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset[str]().union(*(kernel.unit_columns for kernel in self.kernels))

    def __call__(self, a: Records, b: Records) -> Floats:
        found = np.zeros((a.rows, b.rows))
        for weight, kernel in zip(self.weights, self.kernels, strict=True):
            found += weight * kernel(a, b)
        return found

    @property
    def terms(self) -> tuple[tuple[float, tuple[Factor, ...]], ...]:
        parts = zip(self.weights, self.kernels, strict=True)
        return tuple((weight * inner, factors) for weight, kernel in parts for inner, factors in kernel.terms)

    def to_json(self) -> dict[str, Any]:
        return {
            "kernel": "plus",
            "kernels": [kernel.to_json() for kernel in self.kernels],
            "weights": list(self.weights),
        }


def kernel_from_json(facts: Mapping[str, Any]) -> Kernel:
    """The inverse of `to_json`; the kernel's own checks run again."""
    match facts["kernel"]:
        case "gaussian":
            return Gaussian(texts(facts, "columns"), reals(facts, "scales"))
        case "delta":
            tiles = Tiles(text(facts, "column"), wholes(facts, "tile_of", 0, MOST_LEVELS - 1))
            return Delta(tiles, real(facts, "floor"))
        case "times":
            return Times(tuple(map(kernel_from_json, listed(facts, "kernels", table))))
        case "plus":
            return Plus(tuple(map(kernel_from_json, listed(facts, "kernels", table))), reals(facts, "weights"))
    raise ValueError(f"unknown kernel {str(facts['kernel'])[:50]!r}")
