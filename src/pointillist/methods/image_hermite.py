"""Hermite for images: features of every pixel, and of some pixels together, by class, in one release.

After DP-HP (Vinaroz, Charusaie, Harder, Adamczewski and Park, 2022; Sec. 6 and Table 9). Where the paper draws the pixels
of the product kernel anew in every epoch and releases each draw by itself, this draws as many groups of pixels once and
releases them side by side: the same mechanism, but every step of a fit can use all of them.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from pointillist.errors import UsageError
from pointillist.features import FeatureMap, ImageHermiteProducts
from pointillist.features import ImageHermite as HermiteFeatures
from pointillist.generators.image_network.settings import ImageNetworkSettings
from pointillist.methods.base import METHODS, ImageMethod
from pointillist.methods.image_parts import image_of, require_images, spent_on_counts, with_counts
from pointillist.methods.parts import Part, joined, require_share, round_of
from pointillist.model import Model
from pointillist.plan import Plan, Request
from pointillist.progress import Progress
from pointillist.release import Measurement, Release

MOST_FEATURES = 2_000_000
"""More than this, classes and all, would not be of use to anyone."""


@METHODS.register("hermite", place=80)
@dataclass(frozen=True, kw_only=True)
class ImageHermite(ImageMethod):
    """Hermite features of every pixel, and of some pixels together, by class (DP-HP)."""

    order: int = 10
    """Of the features of single pixels."""
    length_scale: float = 0.3
    """Of their kernel, in parts of a pixel's range. The paper's numbers are squares: 0.005 is 0.071, 0.15 is 0.387."""
    products: int = 0
    """How many groups of pixels are multiplied; the paper has one for each of its 10 epochs."""
    product_pixels: int = 2
    """Pixels in a group."""
    product_order: int = 20
    """Of each pixel's features in a product."""
    product_length_scale: float = 0.3
    """Of the kernel of a pixel in a product."""
    product_share: float = 0.1
    """Part of the budget (of mu^2, after the counts') for products, if there are any."""
    count_share: float = 0.05
    """Part of the budget for the class counts. 0: classes are taken to be equally frequent."""
    product_seed: int = 0
    """The seed by which groups of pixels are drawn; public."""

    def __post_init__(self) -> None:
        for name in ("order", "product_order", "products"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must not be negative, not {getattr(self, name)}.")
        for name in ("length_scale", "product_length_scale"):
            if not 1e-6 < getattr(self, name) < 1e6:
                raise UsageError(f"{name} must be above 0, in parts of a pixel's range, not {getattr(self, name)}.")
        require_share("count_share", self.count_share, zero=True)
        require_share("product_share", self.product_share)
        if self.product_pixels < 2:
            raise UsageError(f"product_pixels must be at least 2, not {self.product_pixels}.")

    def plan(self, request: Request) -> Plan:
        require_images(request, self.name, self.count_share)
        parts = self._parts(request)
        size = sum(part.map.dimension for part in parts)
        if size > MOST_FEATURES:
            raise UsageError(f"{size:,} features are too many: lower order, product_order, product_pixels or products.")
        return Plan.make(self.name, asdict(self), request, (round_of(parts, 1.0),), ())

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        return joined(self._parts(plan.request))

    def _parts(self, request: Request) -> list[Part]:
        share = spent_on_counts(request, self.count_share)
        name, image = image_of(request.schema, self.name)
        if self.product_pixels > math.prod(image.shape):
            raise UsageError(f"product_pixels is {self.product_pixels}, more than an image has.")
        multiplied = (1 - share) * self.product_share if self.products else 0.0
        single = HermiteFeatures.spread(name, *image.shape, self.order, self.length_scale)
        parts = [Part("single pixels", single, 1 - share - multiplied)]
        if self.products:
            groups = ImageHermiteProducts.draw(
                name,
                *image.shape,
                self.product_order,
                self.product_length_scale,
                groups=self.products,
                size=self.product_pixels,
                seed=self.product_seed,
            )
            parts.append(Part("products of pixels", groups, multiplied))
        return with_counts(parts, request.schema, share)

    def fit(self, release: Release, *, seed: int, progress: Progress) -> Model:
        return Model.fitted(release, self.network, seed=seed, progress=progress)

    @property
    def network(self) -> ImageNetworkSettings:
        """What is fitted unless the caller asks for another."""
        return ImageNetworkSettings(loss="likelihood")
