"""Spectrum: how much there is of each frequency in an image, coarse waves to fine ones, on a logarithmic scale.

An image's brightness is written as waves (the cosine transform, along both directions), and waves of like length make a
band. A band's feature is the logarithm of the mean square of its waves, moved and scaled from a public range to [0, 1]; all
features together have length 1 at most. A photograph's spectrum falls steeply, and says how sharp it is.

A record's features are a function of that record alone: brightness and waves are whole numbers, so small that all their
sums stay below 2^53 and are exact in whatever order they are added up; the rest looks at one number at a time.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.base import MAPS, FeatureMap, Floats
from pointillist.features.domain import Domain
from pointillist.features.images.base import ImageMap, image_facts
from pointillist.files.facts import whole
from pointillist.records import Records

MOST_BANDS = 32
_WAVE_BITS = 12
_CUT_BITS = 15
"""Of the fineness of waves, so many bits are cut off before they are squared. The squares of all waves add up to what those
of the pixels do, at most 765^2 x 128^2 < 2^34; times (2^24 / 2^15)^2 that is 2^52."""
_LOWEST, _HIGHEST = math.log(1e-6), math.log(1e3)
"""The public range of a band's mean square, for brightness in [0, 1]: the least is what rounding to bytes leaves."""


def cosine_waves(size: int) -> Floats:
    """All waves of the cosine transform (type II) along one direction, at length 1, one in each row."""
    number = np.arange(size)[:, None]
    waves = np.cos(np.pi * number * (np.arange(size)[None, :] + 0.5) / size)
    return np.asarray(waves / np.linalg.norm(waves, axis=1, keepdims=True))


def wave_bands(height: int, width: int, bands: int) -> NDArray[np.int64]:
    """For each wave the number of its band, bands being equally broad on a logarithmic scale; -1 for what has no wave."""
    down, across = np.meshgrid(np.arange(height) / height, np.arange(width) / width, indexing="ij")
    radius = np.hypot(down, across)
    lowest = 1 / max(height, width)
    place = np.log(np.maximum(radius, lowest) / lowest) / math.log(math.sqrt(2) / lowest)
    numbers = np.minimum((place * bands).astype(np.int64), bands - 1)
    numbers[0, 0] = -1
    # Among coarse waves some bands have none: bands are numbered without gaps.
    known, found = np.unique(numbers, return_inverse=True)
    return found.reshape(numbers.shape) - int(known[0] == -1)


@MAPS.register("image-spectrum")
@dataclass(frozen=True)
class ImageSpectrum(ImageMap):
    """Logarithms of the power in bands of frequencies."""

    image: str
    height: int
    width: int
    channels: int
    bands: int = 12
    """How many bands there are, at most."""

    def __post_init__(self) -> None:
        if not (1 <= self.bands <= MOST_BANDS and self.height * self.width > 1):
            raise ValueError(f"a spectrum needs an image of two pixels or more, and from 1 to {MOST_BANDS} bands")

    def fits(self, domain: Domain) -> bool:
        return super().fits(domain) and domain.shape == (self.height, self.width, self.channels)

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The band of each wave."""
        return wave_bands(self.height, self.width, self.bands)

    @property
    def dimension(self) -> int:
        return int(self.numbers.max()) + 1

    @property
    def nonnegative(self) -> bool:
        return True

    @cached_property
    def _waves(self) -> tuple[Floats, Floats]:
        return tuple(np.rint(cosine_waves(size) * (1 << _WAVE_BITS)) for size in (self.height, self.width))  # type: ignore[return-value]

    @cached_property
    def _members(self) -> Floats:
        """1 where a wave is of a band."""
        return (self.numbers.reshape(-1, 1) == np.arange(self.dimension)).astype(np.float64)

    def __call__(self, records: Records) -> Floats:
        grey = records.images[self.image].astype(np.float64).sum(axis=3)  # at most 765
        down, across = self._waves
        waves = np.matmul(np.matmul(down, grey), across.T)
        waves = np.trunc(waves / (1 << _CUT_BITS)).reshape(records.rows, self._members.shape[0])
        squares = (waves * waves) @ self._members
        unit = (1 << (2 * _WAVE_BITS)) / (1 << _CUT_BITS) * 255 * self.channels
        powers = squares / (self._members.sum(axis=0) * unit**2)
        return self.scaled(np.log(np.maximum(powers, math.exp(_LOWEST))))

    def scaled(self, logarithms: Floats) -> Floats:
        """Features of logarithms of powers."""
        inside = np.clip((logarithms - _LOWEST) / (_HIGHEST - _LOWEST), 0.0, 1.0)
        return np.asarray(inside * ((1 - 1e-9) / math.sqrt(self.dimension)))

    def logarithms(self, features: Floats) -> Floats:
        """The inverse, of mean features."""
        return np.asarray(features * (math.sqrt(self.dimension) * (_HIGHEST - _LOWEST)) + _LOWEST)

    def describe(self) -> dict[str, Any]:
        size = {"height": self.height, "width": self.width, "channels": self.channels}
        return {"image": self.image, **size, "bands": self.bands}

    @classmethod
    def from_description(cls, facts: Mapping[str, Any], parts: tuple[FeatureMap, ...]) -> Self:
        return cls(*image_facts(facts), whole(facts, "bands", 1, MOST_BANDS))
