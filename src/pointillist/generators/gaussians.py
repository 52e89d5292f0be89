"""Gaussians: images as waves with Gaussian coefficients, one distribution for each class, cut off at black and white.

Pixels pile up at black and at white, and a Gaussian does not. So a pixel is clip(place + spread * g) with g a standard
Gaussian that all pixels of an image share through their waves, and place and spread are such that mean and variance of the
clipped pixel are the wanted ones.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pointillist.generators.drawing import quota

Floats = NDArray[np.float64]

_AT_A_TIME = 4096
_NARROWEST = 1e-4
_DROWNED = 1.5
_DEEPEST = 2.0


@dataclass(frozen=True, eq=False)
class Gaussians:
    """A painter in closed form."""

    kind: ClassVar[str] = "gaussians"

    size: tuple[int, int, int]
    """Height, width and channels."""
    shares: tuple[float, ...]
    """Of the label's levels; none for images without labels."""
    waves: NDArray[np.float32]
    """One row for each coefficient, one column for each pixel and channel."""
    factors: NDArray[np.float32]
    """For each class a square root of the coefficients' covariance: coefficients are standard Gaussians times it."""
    places: NDArray[np.float32]
    spreads: NDArray[np.float32]
    """For each class and pixel: what the standard Gaussian is moved and multiplied by."""

    def __post_init__(self) -> None:
        classes, pixels, number = max(1, len(self.shares)), int(np.prod(self.size)), len(self.waves)
        if self.waves.shape != (number, pixels) or self.factors.shape != (classes, number, number):
            raise ValueError("waves and factors do not fit together")
        if self.places.shape != (classes, pixels) or self.spreads.shape != (classes, pixels):
            raise ValueError("places and spreads must be given for each class and pixel")

    @classmethod
    def matching(
        cls,
        size: tuple[int, int, int],
        shares: tuple[float, ...],
        waves: Floats,
        means: Floats,
        mean_noise: Floats,
        covariances: Floats,
    ) -> Self:
        """For each class, images whose pixels have the mean and the variance that the coefficients' moments give them.

        `mean_noise` is the deviation of the noise on a class's means: where a pixel's mean drowns in it, the pixel is black.
        """
        factors, places, spreads = [], [], []
        reach = np.linalg.norm(waves, axis=0)
        for mean, noise, covariance in zip(means, mean_noise, covariances, strict=True):
            factor = square_root(covariance)
            spread = np.linalg.norm(factor @ waves, axis=0)
            bright = visible(np.clip(mean @ waves, 0.0, 1.0), noise * reach)
            # No number in [0, 1] varies more than one that is 0 or 1: so background stays dark, whatever the noise says.
            place, stretched = clipped_to(bright, np.minimum(spread, np.sqrt(bright * (1 - bright))))
            factors.append(factor)
            places.append(place)
            spreads.append(stretched / np.maximum(spread, _NARROWEST))  # waves come with a spread of their own
        return cls(size, shares, *(np.asarray(each, dtype=np.float32) for each in (waves, factors, places, spreads)))

    def describe(self) -> str:
        return f"Gaussians of {len(self.waves)} coefficients, cut off at black and white"

    def paint(
        self, count: int, generator: np.random.Generator, codes: NDArray[np.uint16] | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint16] | None]:
        """`count` images, and their labels' levels: as asked for, or by the shares of the labels."""
        if codes is not None and not self.shares:
            raise ValueError("these images have no labels")
        if codes is None and self.shares:
            codes = generator.permutation(quota(np.array(self.shares), count, generator)).astype(np.uint16)
        classes = np.zeros(count, dtype=np.uint16) if codes is None else codes
        pixels = np.empty((count, self.places.shape[1]), dtype=np.uint8)
        for start in range(0, count, _AT_A_TIME):
            part = slice(start, min(start + _AT_A_TIME, count))
            drawn = generator.standard_normal((part.stop - start, len(self.waves)), dtype=np.float32)
            for each in np.unique(classes[part]):
                own = classes[part] == each
                values = (drawn[own] @ self.factors[each]) @ self.waves
                values = np.clip(self.places[each] + self.spreads[each] * values, 0.0, 1.0)
                pixels[part][own] = np.rint(255 * values).astype(np.uint8)
        return pixels.reshape(count, *self.size), codes

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        arrays = {name: getattr(self, name) for name in ("waves", "factors", "places", "spreads")}
        return {"size": list(self.size), "shares": list(self.shares)}, arrays

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        height, width, channels = (int(each) for each in facts["size"])
        shares = tuple(float(share) for share in facts["shares"])
        stored = (np.asarray(arrays[name], dtype=np.float32) for name in ("waves", "factors", "places", "spreads"))
        return cls((height, width, channels), shares, *stored)


def square_root(covariance: Floats) -> Floats:
    """A symmetric matrix whose square is the covariance; what noise has made negative counts as 0."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def visible(mean: Floats, noise: Floats) -> Floats:
    """Means less what noise may well have added: nothing is left of those within `_DROWNED` deviations, most of the rest."""
    return np.asarray(mean * np.maximum(0.0, 1 - (_DROWNED * noise / np.maximum(mean, 1e-12)) ** 2))


def clipped_to(mean: Floats, deviation: Floats, steps: int = 60) -> tuple[Floats, Floats]:
    """Place and spread of a Gaussian that has this mean and deviation once it is clipped to [0, 1]; nearly so at the ends.

    A fixed point: move the place by what the mean lacks, multiply the spread by what the deviation lacks. The place stays
    within `_DEEPEST` spreads of black: farther off, a pixel would be a rare white speck.
    """
    mean = np.clip(mean, 0.0, 1.0)
    place, spread = mean.copy(), np.maximum(deviation, _NARROWEST)
    for _ in range(steps):
        found_mean, found_deviation = clipped_moments(place, spread)
        place = np.clip(place + 0.7 * (mean - found_mean), -3.0, 4.0)
        spread = np.clip(spread * ((deviation + 1e-3) / (found_deviation + 1e-3)) ** 0.7, _NARROWEST, 3.0)
        place = np.maximum(place, -_DEEPEST * spread)
    return place, spread


def clipped_moments(place: Floats, spread: Floats) -> tuple[Floats, Floats]:
    """Mean and deviation of a Gaussian that is clipped to [0, 1]."""
    low, high = -place / spread, (1 - place) / spread
    inside = ndtr(high) - ndtr(low)
    density_low, density_high = (
        np.exp(-0.5 * np.minimum(each**2, 1400.0)) / np.sqrt(2 * np.pi) for each in (low, high)
    )
    above = ndtr(-high)
    mean = place * inside + spread * (density_low - density_high) + above
    square = (
        (place**2 + spread**2) * inside
        + 2 * place * spread * (density_low - density_high)
        + spread**2 * (low * density_low - high * density_high)
        + above
    )
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
