"""Gaussians: images as waves with Gaussian coefficients, for each kind of image in a class, cut off at black and white.

Pixels pile up at black and at white, and a Gaussian does not. So a pixel is clip(place + spread * g) with g a standard
Gaussian that all pixels of an image share through their waves, and place and spread are such that mean and variance of the
clipped pixel are the wanted ones.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pointillist.files.facts import reals, wholes
from pointillist.generators import stored
from pointillist.generators.drawing import draw
from pointillist.generators.image_generator import USUAL, ImageColumns, ImageGenerator, Outline
from pointillist.schema import Schema

Floats = NDArray[np.float64]

_AT_A_TIME = 4096
_LARGEST_SIDE = 4096
_NARROWEST = 1e-4
_DROWNED = 0.7
_DEEPEST = 2.0
_ROUNDS = 4
_MOST_STRETCHED = 2.0
_ARRAYS = ("waves", "factors", "kinds", "places", "spreads")


@dataclass(frozen=True, eq=False)
class Gaussians(ImageGenerator):
    """A sampler of images in closed form."""

    kind: ClassVar[str] = "gaussians"

    size: tuple[int, int, int]
    """Height, width and channels."""
    shares: tuple[float, ...]
    """Of the label's levels; none for images without labels."""
    waves: NDArray[np.float32]
    """One row for each coefficient, one column for each pixel and channel."""
    factors: NDArray[np.float32]
    """For each class a square root of the coefficients' covariance: coefficients are standard Gaussians times it."""
    kinds: NDArray[np.float32]
    """For each class the shares of its kinds."""
    places: NDArray[np.float32]
    spreads: NDArray[np.float32]
    """For each class, kind and pixel: what the standard Gaussian is moved and multiplied by."""
    columns: ImageColumns = field(default=USUAL, kw_only=True)

    def __post_init__(self) -> None:
        classes, pixels, number = max(1, len(self.shares)), int(np.prod(self.size)), len(self.waves)
        if self.waves.shape != (number, pixels) or self.factors.shape != (classes, number, number):
            raise ValueError("waves and factors do not fit together")
        if self.kinds.ndim != 2 or len(self.kinds) != classes or not (self.kinds >= 0).all():
            raise ValueError("shares of kinds must be given for each class")
        if not np.allclose(self.kinds.sum(axis=1), 1.0, atol=1e-3):
            raise ValueError("the shares of a class's kinds must add up to 1")
        if self.places.shape != (*self.kinds.shape, pixels) or self.spreads.shape != self.places.shape:
            raise ValueError("places and spreads must be given for each class, kind and pixel")

    @classmethod
    def matching(
        cls,
        size: tuple[int, int, int],
        shares: tuple[float, ...],
        waves: Floats,
        kinds: Floats,
        means: Floats,
        mean_noise: Floats,
        covariances: Floats,
        columns: ImageColumns = USUAL,
    ) -> Self:
        """For each class and kind, images whose pixels have the mean and the variance that the coefficients' moments give.

        `kinds`, `means` and `mean_noise` are by class and kind, `covariances` by class. `mean_noise` is the deviation of the
        noise on a kind's means: where a pixel's mean drowns in it, the pixel is black. Some pixels cannot vary as much as
        they should; others vary more for it, so that the variances of a class's pixels add up to what they should.
        """
        factors = np.stack([square_root(covariance) for covariance in covariances])
        reach = np.linalg.norm(waves, axis=0)
        places, spreads = np.empty((2, *kinds.shape, waves.shape[1]))
        for number, factor in enumerate(factors):
            spread = np.linalg.norm(factor @ waves, axis=0)
            bright = visible(np.clip(means[number] @ waves, 0.0, 1.0), mean_noise[number][:, None] * reach)
            places[number], stretched = _varied(bright, spread, kinds[number])
            spreads[number] = stretched / np.maximum(spread, _NARROWEST)  # waves come with a spread of their own
        arrays = (waves, factors, kinds, places, spreads)
        return cls(size, shares, *(np.asarray(each, dtype=np.float32) for each in arrays), columns=columns)

    def describe(self) -> str:
        number = self.kinds.shape[1]
        several = f"{number} kinds of images in each class, " if number > 1 else ""
        return f"{several}Gaussians of {len(self.waves)} coefficients, cut off at black and white"

    @property
    def outline(self) -> Outline:
        return Outline(self.size, self.shares, self.columns)

    def pixels(self, count: int, codes: NDArray[np.uint16] | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`count` images with these labels."""
        classes = np.zeros(count, dtype=np.uint16) if codes is None else codes
        pixels = np.empty((count, self.waves.shape[1]), dtype=np.uint8)
        kinds = draw(self.kinds.astype(np.float64), classes, rng)
        for start in range(0, count, _AT_A_TIME):
            part = slice(start, min(start + _AT_A_TIME, count))
            drawn = rng.standard_normal((part.stop - start, len(self.waves)), dtype=np.float32)
            for each in np.unique(classes[part]):
                own = classes[part] == each
                values = (drawn[own] @ self.factors[each]) @ self.waves
                kind = kinds[part][own]
                values = np.clip(self.places[each][kind] + self.spreads[each][kind] * values, 0.0, 1.0)
                pixels[part][own] = np.rint(255 * values).astype(np.uint8)
        return pixels.reshape(count, *self.size)

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        return {"size": list(self.size), "shares": list(self.shares)}, arrays

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`."""
        height, width, channels = wholes(facts, "size", 1, _LARGEST_SIDE)
        shares = reals(facts, "shares", 0.0, 1.0)
        if shares:
            stored.weights(shares)
        if any(arrays[name].dtype != np.float32 for name in _ARRAYS):
            raise ValueError("arrays must be fractions of 32 bits")
        held = (arrays[name] for name in _ARRAYS)
        return cls((height, width, channels), shares, *held, columns=ImageColumns.of(schema))


def square_root(covariance: Floats) -> Floats:
    """A symmetric matrix whose square is the covariance; what noise has made negative counts as 0."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def visible(mean: Floats, noise: Floats) -> Floats:
    """Means less what noise may well have added: nothing is left of those within `_DROWNED` deviations, most of the rest."""
    return np.asarray(mean * np.maximum(0.0, 1 - (_DROWNED * noise / np.maximum(mean, 1e-12)) ** 2))


def _varied(bright: Floats, spread: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Places and spreads of the pixels of each kind, so that the variances of all pixels together are those asked for."""
    # No number in [0, 1] varies more than one that is 0 or 1: so background stays dark, whatever the noise says.
    most = np.sqrt(bright * (1 - bright))
    wanted, stretch = float(np.sum(spread**2)), 1.0
    for _ in range(_ROUNDS):
        place, stretched = clipped_to(bright, np.minimum(stretch * spread, most))
        found = float(shares @ np.sum(clipped_moments(place, stretched)[1] ** 2, axis=1))
        if not 0 < found < wanted:
            break
        stretch = min(_MOST_STRETCHED, stretch * np.sqrt(wanted / found))
    return place, stretched


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
