"""Hermite features of images (DP-HP): of every pixel by itself, and of some pixels together.

A pixel has 256 values, so its features are rows of a small table: looking them up is exact, and quick.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.hermite import Hermite, curve_facts
from pointillist.features.images.base import LARGEST_SIDE, ImageMap, flat, image_facts
from pointillist.files.facts import listed, wholes
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

_MOST_PIXELS = 16
"""In a group: the number of features is a power of it."""


@dataclass(frozen=True)
class _Pixels(ImageMap):
    """What features of single pixel values have in common. Pixel and channel numbers run row by row."""

    image: str
    height: int
    width: int
    channels: int
    order: int
    length_scale: float
    """Of the Gaussian kernel, in parts of a pixel's range."""
    scale: float
    """What positions and length scale are multiplied by (see `Hermite`)."""

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and (self.height, self.width, self.channels) == domain.shape

    @cached_property
    def curve(self) -> Hermite:
        """The features of one pixel."""
        return Hermite(self.image, self.order, self.length_scale, self.scale)

    @cached_property
    def table(self) -> Floats:
        """The features of a pixel for each of its 256 values."""
        return self.curve.at(np.arange(256) / 255 - 0.5)

    @property
    def pixels(self) -> int:
        """Numbers in one image."""
        return self.height * self.width * self.channels

    @property
    def nonnegative(self) -> bool:
        return self.order == 0

    def describe(self) -> dict[str, Any]:
        return {
            "image": self.image,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            **self.curve.describe_curve(),
        }

    def _flat(self, records: Records) -> NDArray[np.uint8]:
        return records.images[self.image].reshape(records.rows, self.pixels)


@MAPS.register("image-hermite")
@dataclass(frozen=True)
class ImageHermite(_Pixels):
    """The sum kernel: features 0 to `order` of every pixel, divided by the root of their number."""

    def __post_init__(self) -> None:
        _ = self.curve  # its checks

    @classmethod
    def spread(
        cls, image: str, height: int, width: int, channels: int, order: int, length_scale: float
    ) -> "ImageHermite":
        """With a scale that suits the order."""
        return cls(
            image, height, width, channels, order, length_scale, Hermite.spread(image, order, length_scale).scale
        )

    @property
    def dimension(self) -> int:
        return self.pixels * (self.order + 1)

    @cached_property
    def _shares(self) -> Floats:
        return self.table / math.sqrt(self.pixels)

    def __call__(self, records: Records) -> Floats:
        return self._shares[self._flat(records)].reshape(records.rows, self.dimension)

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        curves: Tensor = _curves().apply(flat(images) - 0.5, self.curve)
        return 1 / math.sqrt(self.pixels) * curves.permute(1, 2, 0).flatten(1)

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(*image_facts(facts), *curve_facts(facts))


@MAPS.register("image-hermite-products")
@dataclass(frozen=True)
class ImageHermiteProducts(_Pixels):
    """The product kernel, over some groups of pixels: all products of one feature of each pixel in a group."""

    groups: tuple[tuple[int, ...], ...]
    """Numbers of the pixels that are multiplied; all groups of one size."""

    def __post_init__(self) -> None:
        _ = self.curve
        if not self.groups or len({len(group) for group in self.groups}) != 1:
            raise ValueError("groups must be of one size, and at least one")
        if not 1 <= self.size <= _MOST_PIXELS:
            raise ValueError(f"groups must have from 1 to {_MOST_PIXELS} pixels")
        if not all(0 <= pixel < self.pixels for group in self.groups for pixel in group):
            raise ValueError(f"groups must name pixels from 0 to {self.pixels - 1}")

    @classmethod
    def draw(
        cls,
        image: str,
        height: int,
        width: int,
        channels: int,
        order: int,
        length_scale: float,
        *,
        groups: int,
        size: int,
        seed: int,
    ) -> Self:
        """So many groups of pixels by chance. The seed is public."""
        generator = np.random.default_rng(seed)
        pixels = height * width * channels
        drawn = tuple(
            tuple(sorted(int(pixel) for pixel in generator.choice(pixels, size=size, replace=False)))
            for _ in range(groups)
        )
        scale = Hermite.spread(image, order, length_scale).scale
        return cls(image, height, width, channels, order, length_scale, scale, drawn)

    @property
    def size(self) -> int:
        """Pixels in a group."""
        return len(self.groups[0])

    @property
    def dimension(self) -> int:
        return len(self.groups) * (self.order + 1) ** self.size

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        return np.array(self.groups, dtype=np.intp)

    def __call__(self, records: Records) -> Floats:
        chosen = self._flat(records)[:, self._numbers]  # (rows, groups, size)
        found = self.table[chosen[:, :, 0]] / math.sqrt(len(self.groups))
        for place in range(1, self.size):
            factor = self.table[chosen[:, :, place]]
            shape = (records.rows, len(self.groups), found.shape[2] * factor.shape[2])
            found = (found[:, :, :, None] * factor[:, :, None, :]).reshape(shape)
        return found.reshape(records.rows, self.dimension)

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "groups": [list(group) for group in self.groups]}

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        import torch

        def curves(place: int) -> "Tensor":
            found: Tensor = _curves().apply(chosen[:, :, place] - 0.5, self.curve)
            return found.permute(1, 2, 0)

        chosen = flat(images)[:, torch.as_tensor(self._numbers, device=images.device)]  # (number, groups, size)
        features = 1 / math.sqrt(len(self.groups)) * curves(0)
        for place in range(1, self.size):
            features = (features[:, :, :, None] * curves(place)[:, :, None, :]).flatten(2)
        return features.flatten(1)

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        groups = listed(facts, "groups", lambda one, each: wholes(one, each, 0, LARGEST_SIDE**2 * 3))
        return cls(*image_facts(facts), *curve_facts(facts), groups)


@cache
def _curves() -> Any:
    """Hermite features of centred positions with gradients, as (features, *positions): a function of torch's, made late."""
    import torch

    class Curves(torch.autograd.Function):
        """The recursion of `Hermite.at`, with its derivative in closed form: no tape of a hundred steps is kept.

        phi_k' = sqrt(2 k rho) phi_(k-1) - 2 rho / (1 + rho) x phi_k, from H_k' = 2 k H_(k-1).
        """

        @staticmethod
        def forward(ctx: Any, x: "Tensor", curve: Hermite) -> "Tensor":
            rho, x = curve.rho, curve.scale * x
            found = x.new_empty((curve.dimension, *x.shape))
            found[0] = (1 - rho * rho) ** 0.25 * torch.exp(-rho / (1 + rho) * x * x)
            if curve.order >= 1:
                found[1] = math.sqrt(2 * rho) * x * found[0]
            for k in range(1, curve.order):
                torch.mul(x, found[k], out=found[k + 1]).mul_(math.sqrt(2 * rho / (k + 1)))
                found[k + 1].sub_(found[k - 1], alpha=rho * math.sqrt(k / (k + 1)))
            ctx.save_for_backward(x, found)
            ctx.curve = curve
            return found

        @staticmethod
        def backward(ctx: Any, *gradients: "Tensor") -> "tuple[Tensor, None]":
            (given,) = gradients
            x, found = ctx.saved_tensors
            curve: Hermite = ctx.curve
            slope = -2 * curve.rho / (1 + curve.rho) * x * (given * found).sum(0)
            if curve.order >= 1:
                numbers = torch.arange(1, curve.dimension, dtype=x.dtype, device=x.device).reshape(-1, *[1] * x.dim())
                slope += (torch.sqrt(2 * curve.rho * numbers) * given[1:] * found[:-1]).sum(0)
            return curve.scale * slope, None

    return Curves
