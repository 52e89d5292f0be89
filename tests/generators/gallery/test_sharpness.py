"""Sharpness: filtered images have the spectrum that is wanted."""

import numpy as np
import pytest

from pointillist.features import ImageSpectrum
from pointillist.generators.gallery.sharpness import filtered, gains, mean_logarithms

SPECTRUM = ImageSpectrum("image", 16, 16, 3)


def noise(spread: float, seed: int) -> np.ndarray:  # type: ignore[type-arg]
    found = np.random.default_rng(seed).normal(128, spread, (64, 16, 16, 3))
    return np.clip(np.rint(found), 0, 255).astype(np.uint8)


def even(pixels: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    return mean_logarithms(SPECTRUM, pixels, np.full(len(pixels), 1 / len(pixels)))


def test_images_get_the_spectrum_that_is_wanted() -> None:
    wanted, given = even(noise(30, 0)), noise(15, 1)
    factors = gains(wanted, even(given), 0.0)
    assert factors[-1] == pytest.approx(2, rel=0.1)
    made = filtered(given, SPECTRUM, factors)
    assert even(made) == pytest.approx(wanted, abs=0.15)
    assert made.mean() == pytest.approx(given.mean(), abs=0.5)


def test_what_noise_explains_is_left_alone() -> None:
    wanted, found = np.array([0.5, 4.0]), np.zeros(2)
    assert gains(wanted, found, 0.6)[0] == 1
    assert gains(wanted, found, 0.6)[1] > 3
    assert gains(np.array([40.0]), np.zeros(1), 0.0)[0] == pytest.approx(4)
    given = noise(15, 2)
    assert filtered(given, SPECTRUM, np.ones(SPECTRUM.dimension)) is given
