"""Gallery: features that say which images of a public gallery a class of private ones is like.

For an image at z in the space of a gallery (`GallerySpace`; |z| is at most 1) and of class y, three maps stand side by
side:

    phi(x) = ( a  e_y (x) z ,   b  e_y ,   c  z z^T ),

the sum of z by class, the number of images of each class, and one second moment for all classes together; a product of two
different coordinates occurs once, times sqrt 2. The squared length is at most a^2 + b^2 + c^2.

Sensitivity where one image replaces another. With s = <z, z'> in [-1, 1], two images have the inner product

    c^2 s^2                    if they are of two classes, and
    b^2 + a^2 s + c^2 s^2      if they are of one.

The first is never negative. The second is least at s = -1 if a^2 >= 2 c^2, where it is b^2 + c^2 - a^2, and otherwise at s
= -a^2 / (2 c^2), where it is b^2 - a^4 / (4 c^2). Where that is not negative (`positive`), one image moves the sum by sqrt
2 times the length and not by twice it. The count pays for that: it serves as the constant that lifts all z to one side.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.algebra import Concat, Labelled, Weighted
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.constant import Constant
from pointillist.features.images.base import ImageMap
from pointillist.features.images.gallery_space import GallerySpace
from pointillist.features.indicator import Tiles
from pointillist.files.facts import text
from pointillist.records import Records

_MARGIN = 1e-9
"""By so much more than 0 an inner product is to be, for what floats round off."""


@MAPS.register("gallery-point")
@dataclass(frozen=True, eq=False, repr=False)
class GalleryPoint(ImageMap):
    """Where an image lies: z."""

    image: str
    space: GallerySpace

    @property
    def dimension(self) -> int:
        return self.space.directions

    @property
    def device(self) -> str:
        return self.space.extractor.device

    @property
    def nonnegative(self) -> bool:
        return False

    def __call__(self, records: Records) -> Floats:
        return self.space.unit(self.space.located(self.image, records))

    def describe(self) -> dict[str, Any]:
        return {"image": self.image, **self.space.describe()}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(text(facts, "image"), GallerySpace.from_facts(facts))


@dataclass(frozen=True, eq=False, repr=False)
class _View(ImageMap):
    """Something else of where an image lies."""

    point: GalleryPoint

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return (self.point,)

    @property
    def image_columns(self) -> frozenset[str]:
        return self.point.image_columns

    def describe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        (point,) = parts
        if not isinstance(point, GalleryPoint):
            raise ValueError("squares and distances are those of a gallery-point")
        return cls(point)


@MAPS.register("gallery-squares")
class GallerySquares(_View):
    """Products of two coordinates, those of two different ones times sqrt 2: <,> of two images is <z, z'>^2."""

    @property
    def dimension(self) -> int:
        return self.point.dimension * (self.point.dimension + 1) // 2

    @property
    def nonnegative(self) -> bool:
        return False

    @property
    def positive(self) -> bool:
        return True

    def __call__(self, records: Records) -> Floats:
        z = self.point(records)
        first, second, weights = self._pairs
        found = z[:, first]
        found *= z[:, second]
        found *= weights
        return np.asarray(found)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        """The two coordinates that each feature is the product of, and what it is multiplied by."""
        first, second = np.triu_indices(self.point.dimension)
        return first, second, np.where(first == second, 1.0, np.sqrt(2.0))

    def matrices(self, sums: Floats) -> Floats:
        """Sums of the features as symmetric matrices of sums of z z^T."""
        first, second, weights = self._pairs
        found = np.zeros((self.point.dimension, self.point.dimension))
        found[first, second] = sums / weights
        found[second, first] = found[first, second]
        return found


@MAPS.register("gallery-outside")
class GalleryOutside(_View):
    """What of an image the gallery's space does not show, as a part of its deviation from the usual."""

    @property
    def dimension(self) -> int:
        return 1

    @property
    def nonnegative(self) -> bool:
        return True

    def __call__(self, records: Records) -> Floats:
        space = self.point.space
        return space.outside(space.located(self.point.image, records))[:, None]


@MAPS.register("gallery-moments")
class GalleryMoments(Concat):
    """Sums by class, numbers of images by class, and one second moment, each with its weight."""

    @classmethod
    def of(cls, point: GalleryPoint, label: Tiles | None, weights: tuple[float, float, float]) -> Self:
        """Weights of means, counts and squares."""
        means = point if label is None else Labelled.of(point, label)
        counts = Constant() if label is None else label
        maps: tuple[FeatureMap, ...] = (means, counts, GallerySquares(point))
        return cls(tuple(Weighted(each, weight) for each, weight in zip(maps, weights, strict=True)))

    def __post_init__(self) -> None:
        """What is said of signs holds for just this make: sums, counts and squares of the same points and classes."""
        kinds = [each.map for each in self.maps if isinstance(each, Weighted)]
        if len(kinds) != 3 or len(self.maps) != 3:
            raise ValueError("gallery-moments are means, counts and squares, each with a weight")
        means, counts, squares = kinds
        alike = isinstance(squares, GallerySquares)
        if isinstance(means, Labelled):
            alike = alike and means.label is counts and means.features is squares.parts[0]
        else:
            alike = alike and isinstance(counts, Constant) and means is squares.parts[0]
        if not alike:
            raise ValueError("gallery-moments are means, counts and squares of the same images")

    @property
    def weights(self) -> tuple[float, float, float]:
        """Of means, counts and squares."""
        means, counts, squares = (each.bound for each in self.maps)
        return means, counts, squares

    @property
    def point(self) -> GalleryPoint:
        """What all is taken of."""
        return self.squares.point

    @property
    def squares(self) -> GallerySquares:
        found = self.maps[2].parts[0]
        assert isinstance(found, GallerySquares)
        return found

    @property
    def positive(self) -> bool:
        return least_product(*self.weights) >= 0


def least_product(means: float, counts: float, squares: float) -> float:
    """The least inner product of two images of one class, less a margin for rounding."""
    if means**2 >= 2 * squares**2:
        return counts**2 + squares**2 - means**2 - _MARGIN
    return counts**2 - means**4 / (4 * squares**2) - _MARGIN


def positive_count(means: float, squares: float) -> float:
    """The least weight of counts with which no inner product is negative."""
    least = means**2 - squares**2 if means**2 >= 2 * squares**2 else means**4 / (4 * squares**2)
    # Weights are brought to length 1 together, and the margin is to be left then.
    return float(np.sqrt(least + 2 * _MARGIN * (1 + means**2 + squares**2 + least)))
