"""Image map: what all feature maps of images have in common."""

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.products import Products
from pointillist.records import Records


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
