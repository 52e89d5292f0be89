"""Pixels: an image as it is, shortened to a public length if it is brighter than that."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.images.base import ImageMap, flat, image_facts, shortened
from pointillist.files.facts import real
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor


@MAPS.register("pixels")
@dataclass(frozen=True)
class Pixels(ImageMap):
    """p / radius for pixels p in [0, 1] of Euclidean length at most `radius`; longer ones are shortened to it."""

    image: str
    height: int
    width: int
    channels: int
    radius: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.radius) and self.radius > 0):
            raise ValueError(f"radius must be finite and above 0, not {self.radius}")

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and (self.height, self.width, self.channels) == domain.shape

    @property
    def dimension(self) -> int:
        return self.height * self.width * self.channels

    @property
    def nonnegative(self) -> bool:
        return True

    def __call__(self, records: Records) -> Floats:
        pixels = records.images[self.image].reshape(records.rows, self.dimension).astype(np.float64)
        squared = np.einsum("ij,ij->i", pixels, pixels)  # whole numbers: exact in any order
        # A little shorter than the limit, so that rounding does not take a record over it.
        return pixels * ((1 - 1e-12) / np.maximum(255 * self.radius, np.sqrt(squared)))[:, None]

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        return shortened(flat(images), self.radius) / self.radius

    def describe(self) -> dict[str, Any]:
        return {
            "image": self.image,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "radius": self.radius,
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(*image_facts(facts), real(facts, "radius"))
