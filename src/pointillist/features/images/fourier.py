"""Random Fourier features of images: cos and sin of random projections of all pixels (DP-MERF, Sec. 6).

A record's features must not depend, to the last bit, on the batch it is in, and a matrix product of fractions does. So
frequencies are whole numbers: products with pixels, which are whole numbers too, then add up exactly in any order, as long
as no sum can pass 2^53. One public number turns them into angles. The frequencies are rounded when they are drawn, so the
kernel is that of the rounded ones, and nothing is rounded afterwards.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.device import Copies
from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.description import array
from pointillist.features.domain import Domain
from pointillist.features.images.base import ImageMap, flat, image_facts
from pointillist.files.facts import real
from pointillist.records import Records

if TYPE_CHECKING:
    from torch import Tensor

_EXACT = 1 << 53
"""Floats hold every whole number up to here."""
_LARGEST = 32_767
"""Frequencies are drawn as 16-bit numbers: far finer than the kernel can tell, and half the file."""
_FARTHEST = 7.0
"""In standard deviations: none is drawn beyond (one in 10^11 would be)."""
_KEPT = 1 << 24
"""Frequencies that are kept as floats; more are turned into floats part by part, to save memory."""


@MAPS.register("image-fourier")
@dataclass(frozen=True, eq=False)
class ImageFourier(ImageMap):
    """(cos(a), sin(a)) / sqrt(D/2) with angles a = scale * Wp, p the pixels from 0 to 255, row by row."""

    image: str
    height: int
    width: int
    channels: int
    frequencies: NDArray[np.integer[Any]]
    """W: whole numbers, one row for each pair of features, one column for each pixel and channel."""
    scale: float

    def __post_init__(self) -> None:
        frequencies = self.frequencies
        if not np.issubdtype(frequencies.dtype, np.integer):
            raise ValueError("frequencies must be whole numbers")
        if frequencies.ndim != 2 or not len(frequencies) or frequencies.shape[1] != self.pixels:
            raise ValueError(f"frequencies must have {self.pixels} columns, one for each pixel, and at least one row")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise ValueError(f"scale must be finite and above 0, not {self.scale}")
        if 255 * np.abs(frequencies.astype(np.float64)).sum(axis=1).max() >= _EXACT:
            raise ValueError("frequencies are too large: their sums with pixels would not be exact")

    @classmethod
    def draw(
        cls,
        image: str,
        height: int,
        width: int,
        channels: int,
        features: int,
        length_scales: Sequence[float],
        *,
        seed: int,
    ) -> Self:
        """Frequencies for Gaussian kernels exp(-|x - y|^2 / (2 l^2)) of pixels x, y in [0, 1]. The seed is public.

        Several length scales l share the features out among them: the kernel is the mean of theirs.
        """
        if features < 2 or features % 2:
            raise ValueError(f"features must be even and at least 2, not {features}: they come as cos/sin pairs")
        if not length_scales or not all(0 < each < math.inf for each in length_scales):
            raise ValueError("length_scales must be numbers above 0, at least one")
        generator = np.random.default_rng(seed)
        frequencies = np.empty((features // 2, height * width * channels), dtype=np.int16)
        unit = _FARTHEST / min(length_scales) / _LARGEST
        for row, length_scale in zip(frequencies, itertools.cycle(length_scales), strict=False):
            wanted = generator.standard_normal(len(row)) / (length_scale * unit)
            row[:] = np.rint(np.clip(wanted, -_LARGEST, _LARGEST))
        return cls(image, height, width, channels, frequencies, unit / 255)

    @property
    def pixels(self) -> int:
        """Numbers in one image."""
        return self.height * self.width * self.channels

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and (self.height, self.width, self.channels) == domain.shape

    @property
    def dimension(self) -> int:
        return 2 * len(self.frequencies)

    @property
    def nonnegative(self) -> bool:
        return False

    @cached_property
    def _kept(self) -> Floats:
        return self.frequencies.astype(np.float64)

    def __call__(self, records: Records) -> Floats:
        pixels = records.images[self.image].reshape(records.rows, self.pixels).astype(np.float64)
        pairs = len(self.frequencies)
        angles = np.empty((records.rows, pairs))
        step = max(1, _KEPT // self.pixels)
        for start in range(0, pairs, step):
            part = self._kept if pairs <= step else self.frequencies[start : start + step].astype(np.float64)
            # Whole numbers: exact, whatever the order of additions.
            np.matmul(pixels, part.T, out=angles[:, start : start + step])
        angles *= self.scale
        found = np.empty((records.rows, self.dimension))
        np.cos(angles, out=found[:, :pairs])
        np.sin(angles, out=found[:, pairs:])
        found /= math.sqrt(pairs)
        return found

    @cached_property
    def _soft_frequencies(self) -> Copies:
        import torch

        found = torch.as_tensor(self.frequencies, device="cpu").to(torch.float32)
        found *= 255 * self.scale
        return Copies(found)

    def soft_images(self, images: "Tensor", labels: "Tensor | None" = None) -> "Tensor":
        import torch

        angles = flat(images) @ self._soft_frequencies.beside(images).T
        return torch.cat([torch.cos(angles), torch.sin(angles)], dim=1) / math.sqrt(len(self.frequencies))

    def describe(self) -> dict[str, Any]:
        return {
            "image": self.image,
            "height": self.height,
            "width": self.width,
            "channels": self.channels,
            "frequencies": self.frequencies,
            "scale": self.scale,
        }

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(*image_facts(facts), array(facts, "frequencies"), real(facts, "scale"))
