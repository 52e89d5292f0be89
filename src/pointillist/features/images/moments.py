"""Image moments: first and second moments of an image's low frequencies around a public centre.

A class has one centre or several, one for each kind of image in it; an image's is the nearest of its class. With v the
coefficients less that centre, shortened to a public radius, the features are all products
of two entries of u = (lift, v) / length: a count, the moments of first order and those of second order in one vector. Its
inner products are squares, <u, u'>^2, so none is negative, and one record replaced by another moves the sum by sqrt 2 at
most where it could be 2.

A record's features must not depend, to the last bit, on the batch it is in. So pixels, basis and centres are whole numbers,
and every sum over pixels or coefficients is one of whole numbers below 2^53: exact, in any order.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.device import Copies
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.description import array
from pointillist.features.domain import Domain
from pointillist.features.images.base import CentredImageMap, centred_facts, flat, shortened
from pointillist.features.images.cosines import SCALE
from pointillist.features.indicator import MOST_LEVELS
from pointillist.files.facts import real, whole
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

_EXACT = 1 << 53


@MAPS.register("image-moments")
@dataclass(frozen=True, eq=False)
class ImageMoments(CentredImageMap):
    """All products u_i u_j with i <= j, those with i < j times sqrt 2, so that the norm is that of u squared."""

    image: str
    label: str | None
    vectors: NDArray[np.int16]
    """The basis: one row for each coefficient, one column for each pixel and channel."""
    centres: NDArray[np.int64]
    """One row for each kind of each level of the label: coefficients of pixels from 0 to 255 in the whole-number basis."""
    radius: float
    """Longest v, for pixels in [0, 1] and a basis of length 1."""
    lift: float
    kinds: int = 1
    """Centres of a class."""

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.centres.ndim != 2 or self.centres.shape[1] != len(self.vectors):
            raise ValueError("centres must have one column for each vector of the basis")
        if self.vectors.dtype != np.int16 or self.centres.dtype != np.int64:
            raise ValueError("the basis must be whole numbers of 16 bits, the centres of 64")
        if self.kinds < 1 or len(self.centres) % self.kinds:
            raise ValueError("every class must have the same number of centres, at least one")
        if not all(math.isfinite(each) and each > 0 for each in (self.radius, self.lift)):
            raise ValueError("radius and lift must be finite and above 0")
        if self._farthest >= _EXACT or 3 * self._coarse**2 * len(self.vectors) >= _EXACT:
            raise ValueError("basis or centres are too large: their sums would not be exact")

    def fits(self, domain: Domain) -> bool:
        sizes = (len(self.centres), self.vectors.shape[1])
        return super().fits(domain) and sizes == (domain.classes * self.kinds, domain.pixels)

    @property
    def size(self) -> int:
        """Entries of u."""
        return 1 + len(self.vectors)

    @property
    def dimension(self) -> int:
        return self.size * (self.size + 1) // 2

    @property
    def nonnegative(self) -> bool:
        return False

    @property
    def positive(self) -> bool:
        return True

    @cached_property
    def _kept(self) -> Floats:
        return self.vectors.astype(np.float64).T

    @cached_property
    def _farthest(self) -> int:
        """No coefficient, less its centre, is beyond this."""
        reach = 255 * int(np.abs(self.vectors.astype(np.int64)).sum(axis=1).max())
        farthest = (int(self.centres.min(initial=0)), int(self.centres.max(initial=0)))
        return reach + max(map(abs, farthest))  # Python's integers: the least 64-bit number has no opposite

    @cached_property
    def _shift(self) -> int:
        """How many bits coefficients are cut by, so that their squares, and distances between them, add up exactly."""
        room = (50 - math.ceil(math.log2(len(self.vectors)))) // 2
        return max(0, self._farthest.bit_length() - room)

    @property
    def _coarse(self) -> int:
        return (self._farthest >> self._shift) + 1

    @property
    def coarse_unit(self) -> float:
        """What one unit of a cut coefficient is, for pixels in [0, 1] and a basis of length 1."""
        return float(1 << self._shift) / (255 * SCALE)

    def __call__(self, records: Records) -> Floats:
        u = self.lifted(records)
        first, second = self.pairs
        found = u[:, first]
        found *= u[:, second]
        found *= self.weights
        return np.asarray(found)

    def lifted(self, records: Records) -> Floats:
        """u, one row for each record."""
        found = self._coefficients(records)
        found -= self.centres[self._cells(records, found)]
        found = self._cut(found)
        squared = np.einsum("ij,ij->i", found, found)
        radius = self.radius / self.coarse_unit
        length = math.hypot(self.lift, self.radius) / self.coarse_unit
        # A little shorter than the limit, so that rounding does not take a record over it.
        shortened = np.minimum(1.0, radius / np.sqrt(np.maximum(squared, 1.0))) * ((1 - 1e-9) / length)
        u = np.empty((records.rows, self.size))
        u[:, 0] = (1 - 1e-9) * self.lift / math.hypot(self.lift, self.radius)
        np.multiply(found, shortened[:, None], out=u[:, 1:])
        return u

    def cells(self, records: Records) -> NDArray[np.int64]:
        """The number of the centre that each record is measured around."""
        return self._cells(records, self._coefficients(records) if self.kinds > 1 else None)

    def _coefficients(self, records: Records) -> Floats:
        pixels = records.images[self.image].reshape(records.rows, self.vectors.shape[1]).astype(np.float64)
        return np.asarray(pixels @ self._kept)

    def _cut(self, coefficients: Floats) -> Floats:
        return np.trunc(coefficients / (1 << self._shift))

    @cached_property
    def _cut_centres(self) -> tuple[Floats, Floats]:
        """Twice the centres, cut, as columns, and their squared lengths: all whole numbers."""
        cut = self._cut(self.centres.astype(np.float64))
        return 2 * cut.T, np.einsum("ij,ij->i", cut, cut)

    def _cells(self, records: Records, coefficients: Floats | None) -> NDArray[np.int64]:
        """Of the class's centres the nearest, the first of several that are: sums of whole numbers, so no order matters."""
        codes = self.classes(records)
        if self.kinds == 1 or coefficients is None:
            return codes
        doubled, squared = self._cut_centres
        distances = squared - self._cut(coefficients) @ doubled  # the image's own squared length is the same for all
        own = codes[:, None] * self.kinds + np.arange(self.kinds)
        if records.rows and int(own.max()) >= len(self.centres):
            raise IndexError("an image is of a class that has no centre")
        nearest = np.take_along_axis(distances, own, axis=1).argmin(axis=1)
        return np.asarray(own[np.arange(records.rows), nearest])

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The two entries of u that each feature is the product of."""
        return np.triu_indices(self.size)

    @cached_property
    def weights(self) -> Floats:
        """sqrt 2 for products of two entries, 1 for squares."""
        first, second = self.pairs
        return np.where(first == second, 1.0, math.sqrt(2.0))

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return self.soft_products(images, labels, slice(None))

    def soft_products(self, images: "Tensor", labels: "Tensor | None", part: slice) -> "Tensor":
        """Some of the features, with gradients."""
        import torch

        one, other, weights = (each.beside(images)[part] for each in self._soft_pairs)
        coefficients = flat(images) @ self._soft_basis[0].beside(images).T
        centres = self._soft_basis[1].beside(images)[self._soft_cells(coefficients, labels)]
        deviations = shortened(coefficients - centres, self.radius)
        lift = deviations.new_full((len(deviations), 1), self.lift)
        u = torch.cat([lift, deviations], dim=1) / math.hypot(self.lift, self.radius)
        return u[:, one] * u[:, other] * weights

    def soft_kinds(self, images: "Tensor", labels: "Tensor | None") -> "Tensor":
        """Which centre is nearest, as indicators: no slope leads from one to another."""
        import torch

        cells = self._soft_cells(flat(images) @ self._soft_basis[0].beside(images).T, labels)
        return torch.nn.functional.one_hot(cells, len(self.centres)).to(images.dtype)

    def _soft_cells(self, coefficients: "Tensor", labels: "Tensor | None") -> "Tensor":
        import torch

        if self.label is None:
            labels = torch.zeros(len(coefficients), dtype=torch.int64, device=coefficients.device)
        elif labels is None:
            raise ValueError("moments around the centre of a class need the images' labels")
        own = labels.long()[:, None] * self.kinds + torch.arange(self.kinds, device=labels.device)
        centres = self._soft_basis[1].beside(coefficients)
        nearest = torch.cdist(coefficients.detach(), centres).gather(1, own).argmin(dim=1, keepdim=True)
        return own.gather(1, nearest)[:, 0]

    @cached_property
    def _soft_basis(self) -> tuple[Copies, Copies]:
        """The basis and the centres, for pixels in [0, 1] and a basis of length 1."""
        import torch

        basis, centres = self.vectors / SCALE, self.centres / (255 * SCALE)
        one, other = (torch.as_tensor(each, dtype=torch.float32, device="cpu") for each in (basis, centres))
        return Copies(one), Copies(other)

    @cached_property
    def _soft_pairs(self) -> tuple[Copies, Copies, Copies]:
        """The entries of u that are multiplied, and the products' weights."""
        import torch

        one, other = self.pairs
        weights = torch.as_tensor(self.weights, dtype=torch.float32, device="cpu")
        return Copies(torch.as_tensor(one, device="cpu")), Copies(torch.as_tensor(other, device="cpu")), Copies(weights)

    def describe(self) -> dict[str, Any]:
        return {
            "image": self.image,
            "label": self.label,
            "vectors": self.vectors,
            "centres": self.centres,
            "radius": self.radius,
            "lift": self.lift,
            "kinds": self.kinds,
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        arrays = array(facts, "vectors"), array(facts, "centres")
        lengths = real(facts, "radius"), real(facts, "lift")
        return cls(*centred_facts(facts), *arrays, *lengths, whole(facts, "kinds", 1, MOST_LEVELS))
