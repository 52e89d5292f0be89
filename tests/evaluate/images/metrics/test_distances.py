"""Fréchet distances: by formula, within their bounds, and each with the name of its space."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.evaluate.images.feature_space import NOT_COMPARABLE, Space
from pointillist.evaluate.images.metrics.distances import Distances, distances, frechet

Bars = Callable[..., pt.Images]


def test_of_gaussians_by_formula() -> None:
    """Diagonal covariances: |m - m'|² + Σ (s - s')²."""
    rng = np.random.default_rng(0)
    first = rng.normal(size=(20_000, 3)) * [1.0, 2.0, 3.0]
    second = rng.normal(size=(20_000, 3)) * [2.0, 2.0, 1.0] + [1.0, 0.0, 0.0]
    assert frechet(first, second) == pytest.approx(1 + 1 + 0 + 4, rel=0.05)


@given(st.integers(1, 5), st.integers(2, 30), st.integers(0, 1000))
def test_bounds(width: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, count, width))
    there, back = frechet(first, second), frechet(second, first)
    assert there >= 0
    assert there == pytest.approx(back, rel=1e-6, abs=1e-6)
    assert frechet(first, first) == pytest.approx(0.0, abs=1e-6)
    assert frechet(first + 3.0, second + 3.0) == pytest.approx(there, rel=1e-6, abs=1e-6)


def test_every_distance_says_what_it_is(bars: Bars) -> None:
    found = distances(bars(300, 1), bars(300, 2, noise=60.0), bars(300, 3))
    assert len(found) == 2
    for each in found:
        assert each.note == NOT_COMPARABLE == each.to_json()["note"]
        assert each.floor is not None
        assert each.value > 2 * each.floor  # noise shows in either space
        assert each.images == 300


def test_one_mean_image_lies_at_one(bars: Bars) -> None:
    """Only the variance is missing: the distance is the real variance itself."""
    real = bars(400, 1)
    space = Space("numbers", lambda pixels: pixels.reshape(len(pixels), -1) / 255)
    mean = np.repeat(real.pixels.mean(axis=0, keepdims=True).round().astype(np.uint8), 400, axis=0)
    (found,) = distances(real, pt.Images(mean, real.codes, real.classes), spaces=(space,))
    assert found.value == pytest.approx(1.0, abs=0.01)
    assert (found.space, found.floor) == ("numbers", None)


def test_what_is_said_of_them(bars: Bars) -> None:
    found = Distances(distances(bars(100, 1), bars(100, 2)))
    assert [line.split(":")[0] for line in found.lines()] == [f"Fréchet distance in {one.space}" for one in found.each]
    assert list(found.headlines().values()) == [one.value for one in found.each]
    assert found.points() == ()  # relative: not graded
    (section,) = found.sections()
    assert all(f"{one.space} ({NOT_COMPARABLE})" in str(section.__html__()) for one in found.each)
