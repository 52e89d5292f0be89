"""Image map: what all feature maps of images have in common."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.products import Products
from pointillist.files.facts import optional, text, whole
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

    from pointillist.features.soft_records import SoftRecords

LARGEST_SIDE = 4096
"""Pixels each way, of an image that a file may speak of."""


class ImageMap(FeatureMap):
    """A map of pixels, whose features have length 1 at most."""

    image: str
    """The column that holds the images."""

    @property
    def bound(self) -> float:
        return 1.0

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        return ()

    @property
    def image_columns(self) -> frozenset[str]:
        return frozenset([self.image])

    def expectation(self, products: Products) -> Floats:
        raise TypeError("features of images have no expectation in closed form: there are no products over pixels")

    @property
    def has_soft(self) -> bool:
        return type(self).soft_images is not ImageMap.soft_images and all(part.has_soft for part in self.parts)

    def soft(self, records: "SoftRecords") -> "Tensor":
        (image,), labels = self.image_columns, self.code_columns
        label = next((records.labels[name] for name in labels if name in records.labels), None)
        return self.soft_images(records.images[image], label)

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        """Features (number, dimension) of images (number, channels, height, width) in [0, 1], with gradients.

        `labels` are the levels of their label; maps that do not read it need none.
        """
        raise TypeError(f"{type(self).__name__} has no soft form")


class CentredImageMap(ImageMap):
    """A map around public centres, of which every class has its own."""

    label: str | None
    """The column that says which centre is an image's; none: all images are of one class."""

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and self.label == domain.label

    @property
    def code_columns(self) -> frozenset[str]:
        return frozenset() if self.label is None else frozenset([self.label])

    def classes(self, records: Records) -> NDArray[np.int64]:
        """The number of each record's class."""
        if self.label is None:
            return np.zeros(records.rows, dtype=np.int64)
        return records.codes[self.label].astype(np.int64)


def image_facts(facts: Mapping[str, Any]) -> tuple[str, int, int, int]:
    """The column of an image, and its size."""
    height, width = (whole(facts, name, 1, LARGEST_SIDE) for name in ("height", "width"))
    return text(facts, "image"), height, width, whole(facts, "channels", 1, 3)


def centred_facts(facts: Mapping[str, Any]) -> tuple[str, str | None]:
    """The columns of an image and of its label, if there is one."""
    return text(facts, "image"), optional(facts, "label", text)


def flat(images: "Tensor") -> "Tensor":
    """Pixels in the order of feature maps: row by row, a pixel's channels together."""
    return images.permute(0, 2, 3, 1).flatten(1)


def shortened(rows: "Tensor", radius: float) -> "Tensor":
    """Rows, those that are longer than the radius cut to it."""
    # Squares below 1e-12 are raised to it: the root of 0 has no slope.
    length = (rows * rows).sum(dim=1, keepdim=True).clamp_min(1e-12).sqrt()
    return rows * (radius / length).clamp_max(1.0)
