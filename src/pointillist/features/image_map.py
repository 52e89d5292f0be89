"""Image map: what all feature maps of images have in common."""

from pointillist.features.base import FeatureMap, Floats
from pointillist.features.records import Products


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
