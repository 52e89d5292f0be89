"""Hermite features: the eigenfunctions of a Gaussian kernel, ordered by how much of the kernel they carry.

By Mehler's formula exp(-(x - y)^2 / (2 l^2)) is the sum over c of phi_c(x) phi_c(y), where phi_c is the c-th Hermite
function, scaled. So the features' inner products approach the kernel from below in norm: phi_0(x)^2 + ... is at most
k(x, x) = 1 at any order, which is the bound.

The kernel stays the same if positions and length scale are multiplied by one number, the `scale`; the features do not.
The c-th Hermite function wiggles within about sqrt(2c + 1) of the middle and dies out beyond. So a scale that spreads the
column's range over what the highest feature covers makes the most of every feature; docs/explanation/kernels.md has the
figures.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.products import Products
from pointillist.files.facts import real, text, whole
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftRecords

_SPREAD = 1.7
_NODES = 64
"""Points at which an integral over one bin is evaluated."""
_HIGHEST_ORDER = 1 << 16
"""That a file may ask for."""


@MAPS.register("hermite")
@dataclass(frozen=True)
class Hermite(FeatureMap):
    """Features 0 to `order` of one numeric column, whose positions in [0, 1] are centred at 0."""

    column: str
    order: int
    length_scale: float
    """Of the Gaussian kernel, in units of the column's range."""
    scale: float = 1.0
    """What positions and length scale are multiplied by."""

    @classmethod
    def spread(cls, column: str, order: int, length_scale: float) -> Self:
        """With a scale that suits the order."""
        return cls(column, order, length_scale, _SPREAD * math.sqrt(2 * order + 1))

    def __post_init__(self) -> None:
        if self.order < 0:
            raise ValueError(f"order must not be negative, not {self.order}")
        if not (self.length_scale > 0 and math.isfinite(self.length_scale)):
            raise ValueError(f"length_scale must be above 0, not {self.length_scale}")
        if not (self.scale > 0 and math.isfinite(self.scale)):
            raise ValueError(f"scale must be above 0, not {self.scale}")

    @cached_property
    def rho(self) -> float:
        """The ratio at which eigenvalues fall: rho / (1 - rho^2) = 1 / (2 l^2)."""
        square = (self.scale * self.length_scale) ** 2
        return 1 / (square + math.sqrt(square * square + 1))  # the textbook form cancels to 0 for large l

    @property
    def dimension(self) -> int:
        return self.order + 1

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def nonnegative(self) -> bool:
        return self.order == 0

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def unit_columns(self) -> frozenset[str]:
        return frozenset([self.column])

    def __call__(self, records: Records) -> Floats:
        return self.at(records.units[self.column] - 0.5)

    def at(self, x: Floats) -> Floats:
        """The features of centred positions, one row for each, by the three-term recursion of DP-HP (eq. 91).

        It works on the features themselves, never on the polynomials, so nothing overflows at any order.
        """
        rho, x = self.rho, self.scale * x
        found = np.empty((len(x), self.dimension))
        found[:, 0] = (1 - rho * rho) ** 0.25 * np.exp(-rho / (1 + rho) * x * x)
        if self.order >= 1:
            found[:, 1] = math.sqrt(2 * rho) * x * found[:, 0]
        for k in range(1, self.order):
            found[:, k + 1] = math.sqrt(2 * rho / (k + 1)) * x * found[:, k]
            found[:, k + 1] -= rho * math.sqrt(k / (k + 1)) * found[:, k - 1]
        return found

    def expectation(self, products: Products) -> Floats:
        """Each bin is a uniform, integrated by Gauss and Legendre's rule; each atom is a point."""
        low, high = products.spans[self.column]
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        places = (low + high)[:, None] / 2 + (high - low)[:, None] / 2 * nodes
        features = self.at(places.ravel() - 0.5).reshape(len(low), _NODES, self.dimension)
        means = np.einsum("n,lnf->lf", weights / 2, features)
        return products.probabilities[self.column] @ means

    def soft(self, records: "SoftRecords") -> "Tensor":
        column, place = records.columns[self.column], records.places.get(self.column)
        found = None if place is None else self._soft_at(place - 0.5)
        if column.tiles is None:
            assert found is not None
            return found
        probabilities = records.probabilities[self.column]
        held = probabilities @ column.matrix(self)
        return held if found is None else held + (probabilities @ column.regular())[:, None] * found

    def _soft_at(self, x: "Tensor") -> "Tensor":
        """The recursion of `at`, with gradients."""
        import torch

        rho, x = self.rho, self.scale * x
        found = [(1 - rho * rho) ** 0.25 * torch.exp(-rho / (1 + rho) * x * x)]
        if self.order >= 1:
            found.append((2 * rho) ** 0.5 * x * found[0])
        for k in range(1, self.order):
            found.append((2 * rho / (k + 1)) ** 0.5 * x * found[k] - rho * (k / (k + 1)) ** 0.5 * found[k - 1])
        return torch.stack(found, dim=1)

    def describe(self) -> dict[str, Any]:
        return {"column": self.column, **self.describe_curve()}

    def describe_curve(self) -> dict[str, Any]:
        """What of a description tells the features' shape, whatever they are features of."""
        return {"order": self.order, "length_scale": self.length_scale, "scale": self.scale}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "column"), *curve_facts(facts))


def curve_facts(facts: Mapping[str, Any]) -> tuple[int, float, float]:
    """Order, length scale and scale, as `describe_curve` gives them."""
    return whole(facts, "order", 0, _HIGHEST_ORDER), real(facts, "length_scale"), real(facts, "scale")
