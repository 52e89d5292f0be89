"""Landmarks: coordinates of a record in the span of public points, after Balog et al. (2018), Algorithm 1.

For a kernel k and landmarks z_1 ... z_r, k(x, .) is projected on the span of k(z_1, .) ... k(z_r, .) and written in an
orthonormal basis of it: phi(x) = A k(x, z), where A is the inverse of the Cholesky factor of the landmarks' kernel matrix.

Why the bound holds. A projection shortens: |phi(x)|^2 <= |k(x, .)|^2 = k(x, x) <= 1. What is computed are the features of
a matrix A~ near A and of kernel values rounded by at most 2^-27. As k(x, z) = L phi(x), their norm is at most

    |A~ L| |phi(x)| + |A~| sqrt(r) 2^-27  <=  1 + |A~ L - 1|_F + |A~|_F sqrt(r) 2^-27,

and they are divided by the right-hand side. That keeps records from being clipped. What enforces the bound is the
curator's check of every record's integers, which trusts no floating-point number.

Why a record's features are a function of that record alone. The basis calls for a matrix product, and the last bit of a
matrix product depends on the batch. So it is made exact: kernel values are whole numbers up to 2^26, and the rows of A~
are whole numbers whose absolute values add up to at most 2^27. Every product, and every sum of them in whatever order,
is a whole number of at most 2^53, and floats hold those exactly.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from pointillist.errors import UsageError
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.cholesky import PivotedCholesky, pivoted_cholesky
from pointillist.features.domain import Domain
from pointillist.features.kernel import Delta, Kernel, kernel_from_json
from pointillist.features.products import Products
from pointillist.files.facts import listed, real, table, texts
from pointillist.records import Records

_KERNEL_BITS = 26
_ROW_BITS = 53 - _KERNEL_BITS
"""The sum of a row of the basis, in absolute values, is at most 2 to this."""
_MOST_LOSS = 0.05
"""The largest part of a record's length that rounding may cost."""
_CELLS = 1 << 20
"""Kernel values held at a time."""


@MAPS.register("landmarks")
@dataclass(frozen=True, eq=False, repr=False)
class Landmarks(FeatureMap):
    """A record's coordinates in the span of some public points."""

    kernel: Kernel
    points: Records
    """Public rows, with all columns of the table: the landmarks are among them."""
    pivots: NDArray[np.int64]
    """The numbers of the landmarks."""
    basis: NDArray[np.int32]
    """The lower triangle of the matrix from kernel values to coordinates, row by row, in whole numbers."""
    exponents: NDArray[np.int64]
    """Row i of the matrix is its whole numbers times 2^-exponents[i]."""
    shrink: float
    """What coordinates are multiplied by, so that rounding makes none too long."""

    @classmethod
    def spanned(cls, kernel: Kernel, points: Records, *, tolerance: float = 1e-6, most: int | None = None) -> Self:
        """The span of `points` to within `tolerance`, or of at most so many of them."""
        _check(kernel, points)
        return cls.of(kernel, points, pivoted_cholesky(kernel, points, tolerance=tolerance, most=most))

    @classmethod
    def of(cls, kernel: Kernel, points: Records, found: PivotedCholesky, number: int | None = None) -> Self:
        """The span of the first `number` pivots."""
        rank = found.rank if number is None else number
        triangle = found.triangle(rank)
        inverse = solve_triangular(triangle, np.eye(rank), lower=True, overwrite_b=True)
        # A margin of rank for rounding: each of a row's numbers moves by at most a half.
        room = (1 << _ROW_BITS) - rank
        sums = np.abs(inverse).sum(axis=1)
        exponents = np.floor(np.log2(room / sums)).astype(np.int64)
        whole = np.rint(np.ldexp(inverse, exponents[:, None]))
        rounded = np.ldexp(whole, -exponents[:, None])
        loss = float(np.linalg.norm(rounded @ triangle - np.eye(rank)))
        loss += float(np.linalg.norm(rounded)) * math.sqrt(rank) * 2.0 ** -(_KERNEL_BITS + 1)
        if not loss <= _MOST_LOSS:
            raise UsageError(
                f"{rank} landmarks are too much alike to be told apart in exact arithmetic. Raise the tolerance, shorten "
                "the length scale, or ask for fewer landmarks."
            )
        lower = whole[np.tril_indices(rank)].astype(np.int32)
        return cls(kernel, points, found.pivots[:rank], lower, exponents, 1 / (1 + loss))

    def __post_init__(self) -> None:
        rank = len(self.pivots)
        if not rank or self.pivots.ndim != 1 or self.pivots.min() < 0 or self.pivots.max() >= self.points.rows:
            raise ValueError("landmarks must be among the points, and at least one")
        if self.basis.shape != (rank * (rank + 1) // 2,) or self.exponents.shape != (rank,):
            raise ValueError("the basis does not fit the landmarks")
        if not (0 < self.shrink <= 1 and self.exponents.min() > -500 and self.exponents.max() < 500):
            raise ValueError("the basis is out of range")
        if np.abs(self._matrix).sum(axis=0).max() > 1 << _ROW_BITS:
            raise ValueError("the basis is too large for exact arithmetic")
        _check(self.kernel, self.points)

    @cached_property
    def _matrix(self) -> Floats:
        """From kernel values to coordinates, in whole numbers: one column for each coordinate."""
        rank = len(self.pivots)
        found = np.zeros((rank, rank))
        found[np.tril_indices(rank)] = self.basis
        return np.ascontiguousarray(found.T)

    @cached_property
    def _steps(self) -> Floats:
        """What a coordinate's whole numbers count in."""
        return np.ldexp(self.shrink, -self.exponents - _KERNEL_BITS)

    @cached_property
    def landmarks(self) -> Records:
        """The points that span the space."""
        return self.points.part(self.pivots)

    @property
    def dimension(self) -> int:
        return len(self.pivots)

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def nonnegative(self) -> bool:
        return False

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def code_columns(self) -> frozenset[str]:
        return self.kernel.code_columns

    @property
    def unit_columns(self) -> frozenset[str]:
        return self.kernel.unit_columns

    @property
    def columns_known(self) -> frozenset[str]:
        return frozenset(self.points.codes)

    def fits(self, domain: Domain) -> bool:
        """The points must be whole rows of the schema, as they are what is weighted later."""
        told = all(domain.sizes.get(name) == size for name, size in self.kernel.sizes)
        if not told or self.points.units.keys() != domain.numbers:
            return False
        codes = self.points.codes
        return codes.keys() == domain.sizes.keys() and all(codes[name].max() < domain.sizes[name] for name in codes)

    def __call__(self, records: Records) -> Floats:
        found = np.empty((records.rows, self.dimension))
        step = max(1, _CELLS // self.dimension)
        for start in range(0, records.rows, step):
            part = slice(start, start + step)
            alike = self.kernel(records.part(part), self.landmarks)
            alike *= 1 << _KERNEL_BITS
            np.rint(alike, out=alike)
            np.matmul(alike, self._matrix, out=found[part])  # exact: see above
        found *= self._steps
        return found

    def expectation(self, products: Products) -> Floats:
        alike = self.kernel.expectation(products, self.landmarks)
        return np.asarray(alike @ self._matrix * (self._steps * (1 << _KERNEL_BITS)))

    def describe(self) -> dict[str, Any]:
        return {
            "kernel": [self.kernel.to_json()],
            "pivots": self.pivots,
            "basis": self.basis,
            "exponents": self.exponents,
            "shrink": self.shrink,
            "columns": list(self.points.codes),
            "numbers": list(self.points.units),
            **{f"codes.{place}": codes for place, codes in enumerate(self.points.codes.values())},
            **{f"units.{place}": units for place, units in enumerate(self.points.units.values())},
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        codes = {name: _row(facts, f"codes.{place}", np.uint16) for place, name in enumerate(texts(facts, "columns"))}
        units = {name: _row(facts, f"units.{place}", np.float64) for place, name in enumerate(texts(facts, "numbers"))}
        points = Records(len(next(iter(codes.values()))), codes, units)
        pivots, exponents = (_row(facts, name, np.int64) for name in ("pivots", "exponents"))
        (kernel,) = listed(facts, "kernel", table)
        shrink = real(facts, "shrink", 0.0, 1.0)
        return cls(kernel_from_json(kernel), points, pivots, _row(facts, "basis", np.int32), exponents, shrink)


def _row(facts: Mapping[str, Any], name: str, kind: type[np.generic]) -> NDArray[Any]:
    """An array of one dimension and one kind of numbers."""
    found = facts[name]
    if not isinstance(found, np.ndarray) or found.ndim != 1 or found.dtype != kind:
        raise ValueError(f"{name} must be an array of {kind.__name__}")
    return found


def _check(kernel: Kernel, points: Records) -> None:
    """The points must be rows that the kernel can compare."""
    columns: list[NDArray[Any]] = [*points.codes.values(), *points.units.values()]
    if any(len(values) != points.rows for values in columns):
        raise ValueError("the points' columns do not fit together")
    if not all(((units >= 0) & (units <= 1)).all() for units in points.units.values()):
        raise ValueError("the points' positions must lie in [0, 1]")
    absent = (kernel.code_columns - set(points.codes)) | (kernel.unit_columns - set(points.units))
    if absent:
        raise UsageError(f"the kernel compares column {sorted(absent)[0]!r}, which the points do not have.")
    for _, factors in kernel.terms:
        for factor in factors:
            if isinstance(factor, Delta):
                codes = points.codes[factor.tiles.column]
                if points.rows and int(codes.max()) >= len(factor.tiles.tile_of):
                    raise ValueError(f"the points have unknown levels of column {factor.tiles.column!r}")
