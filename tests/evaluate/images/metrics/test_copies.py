"""Copies: found where they are, and not where they are not."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images import copies

Bars = Callable[..., pt.Images]


def noisy(images: pt.Images, scale: float) -> pt.Images:
    noise = np.random.default_rng(9).normal(0, scale, images.pixels.shape)
    pixels = np.clip(images.pixels + noise, 0, 255).astype(np.uint8)
    return pt.Images(pixels, images.codes, images.classes)


def test_fresh_images_are_no_copies(bars: Bars) -> None:
    found = copies(bars(800, 1, noise=40.0), bars(800, 2, noise=40.0), bars(800, 3, noise=40.0))
    assert (found.exact, found.expected_exact) == (0.0, 0.0)
    assert not found.suspicious  # both fire beyond five standard deviations: a false alarm in three million
    assert not found.lopsided
    assert abs(found.deviations) < 5


def test_exact_and_noisy_copies_are_found(bars: Bars) -> None:
    real, held = bars(800, 1, noise=40.0), bars(800, 3, noise=40.0)
    exact = copies(real, real, held)
    assert (exact.exact, exact.pointed, exact.nearer) == (1.0, 1.0, 1.0)
    assert exact.suspicious
    assert exact.lopsided
    found = copies(real, noisy(real, 5.0), held)
    assert found.exact == 0.0
    assert found.pointed > 0.9
    assert found.suspicious


def test_a_few_copies_among_many(bars: Bars) -> None:
    real, fresh, held = (bars(1_000, seed, noise=40.0) for seed in (1, 2, 3))
    mixed = np.concatenate([fresh.pixels[:950], real.pixels[:50]])
    found = copies(real, pt.Images(mixed, fresh.codes, fresh.classes), held)
    assert found.exact == pytest.approx(0.05)
    assert found.suspicious


def test_many_synthetic_images_with_one_nearest_are_no_evidence(bars: Bars) -> None:
    """A single image repeated has one nearest neighbour: all votes fall on one side, by chance."""
    real, held, made = bars(300, 1, noise=40.0), bars(300, 3, noise=40.0), bars(1, 2, noise=40.0)
    repeated = pt.Images(np.repeat(made.pixels, 500, axis=0), np.zeros(500, dtype=np.uint16), made.classes)
    found = copies(real, repeated, held)
    assert found.nearer in (0.0, 1.0)
    assert abs(found.deviations) < 1.1
    assert not found.lopsided


def test_nothing_to_look_among(bars: Bars) -> None:
    real = bars(10, 1)
    empty = pt.Images(real.pixels[:0], np.zeros(0, dtype=np.uint16), real.classes)
    with pytest.raises(UsageError, match="held-out"):
        copies(real, real, empty)
