"""Image kinds: first moments for each kind of image in a class, second moments for each class, in one vector.

How images of a kind differ from each other is much the same for all kinds of a class, so second moments, which are many,
are added up over them; where kinds lie is not, so first moments are kept apart. With u = (lift, v) as in `ImageMoments`, a
record gives the products of lift with all of u in the place of its kind, and those of two entries of v in that of its class.

Two records of one kind have the inner product <u, u'>^2 / length^4 then; of one class but two kinds <v, v'>^2 / length^4; of
two classes 0. None is negative, though those of the first part by itself may be: so one record replaced by another moves the
sum by sqrt 2 at most. Both parts together have the length of u, squared: at most 1.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.algebra import Concat, Product
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.images.base import ImageMap
from pointillist.features.images.moments import ImageMoments
from pointillist.features.indicator import Tiles
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, eq=False)
class _View(ImageMap):
    """Something of the moments of an image."""

    moments: ImageMoments

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return (self.moments,)

    @property
    def image_columns(self) -> frozenset[str]:
        return self.moments.image_columns

    @property
    def code_columns(self) -> frozenset[str]:
        return self.moments.code_columns

    @property
    def nonnegative(self) -> bool:
        return False

    def describe(self) -> dict[str, Any]:
        return {}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        (moments,) = parts
        if not isinstance(moments, ImageMoments):
            raise ValueError("kinds and moments are those of image-moments")
        return cls(moments)


@MAPS.register("image-kinds")
class ImageKinds(_View):
    """One feature for each kind of each class: 1 for an image's own, 0 for the rest."""

    @property
    def dimension(self) -> int:
        return len(self.moments.centres)

    @property
    def nonnegative(self) -> bool:
        return True

    @property
    def indicator(self) -> bool:
        return True

    def cells(self, records: Records) -> NDArray[np.int64]:
        return self.moments.cells(records)

    def __call__(self, records: Records) -> Floats:
        return np.eye(self.dimension)[self.cells(records)]

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return self.moments.soft_kinds(images, labels)


@MAPS.register("first-moments")
class FirstMoments(_View):
    """The products of lift with all of u: the square of lift, and sqrt 2 lift times v."""

    @property
    def dimension(self) -> int:
        return self.moments.size

    def __call__(self, records: Records) -> Floats:
        u = self.moments.lifted(records)
        return np.asarray(u * u[:, :1] * self.moments.weights[: self.dimension])

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return self.moments.soft_products(images, labels, slice(0, self.moments.size))


@MAPS.register("second-moments")
class SecondMoments(_View):
    """The products of two entries of v, those of two different ones times sqrt 2."""

    @property
    def dimension(self) -> int:
        return self.moments.dimension - self.moments.size

    @property
    def positive(self) -> bool:
        return True

    def __call__(self, records: Records) -> Floats:
        u = self.moments.lifted(records)
        first, second = (each[self.moments.size :] for each in self.moments.pairs)
        found = u[:, first]
        found *= u[:, second]
        found *= self.moments.weights[self.moments.size :]
        return np.asarray(found)

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return self.moments.soft_products(images, labels, slice(self.moments.size, None))


@MAPS.register("kind-moments")
class KindMoments(Concat):
    """First moments by kind and second moments by class."""

    @classmethod
    def of(cls, moments: ImageMoments, label: Tiles | None) -> "KindMoments":
        second = SecondMoments(moments)
        return cls(
            (
                Product((ImageKinds(moments), FirstMoments(moments))),
                second if label is None else Product((label, second)),
            )
        )

    def __post_init__(self) -> None:
        """Bound and positivity hold for just this make: moments of the same images, and classes no finer than kinds."""
        if not (len(self.maps) == 2 and self._is_first(self.maps[0]) and self._is_second(self.maps[1])):
            raise ValueError("KindMoments are first moments by kind and second moments by class of the same images")

    def _is_first(self, part: FeatureMap) -> bool:
        kinds, first = _two(part)
        return isinstance(kinds, ImageKinds) and isinstance(first, FirstMoments) and kinds.moments is first.moments

    def _is_second(self, part: FeatureMap) -> bool:
        moments = self.moments
        if moments.label is None:
            return isinstance(part, SecondMoments) and part.moments is moments
        label, second = _two(part)
        named = isinstance(label, Tiles) and label.column == moments.label
        return named and isinstance(second, SecondMoments) and second.moments is moments

    @property
    def moments(self) -> ImageMoments:
        """What both are taken of."""
        kinds = self.maps[0].parts[0]
        assert isinstance(kinds, ImageKinds)
        return kinds.moments

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def positive(self) -> bool:
        return True


def _two(part: FeatureMap) -> Sequence[FeatureMap | None]:
    return part.parts if isinstance(part, Product) and len(part.parts) == 2 else (None, None)
