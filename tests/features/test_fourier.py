"""Random Fourier features: norm, kernel, and the same bits in any batch."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from tests.fixtures.maps import FOURIER, batches, wild

from pointillist.curator.clipping import quantise
from pointillist.features import FeatureMap, RandomFourier, Records
from pointillist.privacy.grid import Grid


@given(batch=batches(wild))
def test_fourier_features_of_positions_that_are_not_numbers_are_bounded_by_the_grid(batch: Records) -> None:
    with np.errstate(invalid="ignore", over="ignore"):
        values = quantise(FOURIER(batch), Grid(20))
    assert all(sum(int(v) ** 2 for v in row) <= 4**20 for row in values)


@given(batch=batches())
def test_fourier_features_have_norm_one(batch: Records) -> None:
    np.testing.assert_allclose(np.linalg.norm(FOURIER(batch), axis=1), 1.0, rtol=1e-12)


def test_fourier_inner_products_approximate_the_gaussian_kernel() -> None:
    """Mean of 20,000 cos terms: standard error at most 0.0071/sqrt 2; 0.03 is over four of them at 100 pairs."""
    fourier = RandomFourier.draw(("x", "z"), 40_000, 0.5, seed=5)
    rng = np.random.default_rng(6)
    x, y = rng.random((10, 2)), rng.random((10, 2))
    left = fourier(Records(10, {}, {"x": x[:, 0].copy(), "z": x[:, 1].copy()}))
    right = fourier(Records(10, {}, {"x": y[:, 0].copy(), "z": y[:, 1].copy()}))
    distance = ((x[:, None] - y[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(left @ right.T, np.exp(-distance / (2 * 0.5**2)), atol=0.03)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RandomFourier(("x",), np.zeros((2, 2))),
        lambda: RandomFourier(("x",), np.full((2, 1), np.nan)),
        lambda: RandomFourier.draw(("x",), 3, 1.0, seed=0),
        lambda: RandomFourier.draw(("x",), 4, 0.0, seed=0),
    ],
)
def test_impossible_maps_are_refused(make: Callable[[], FeatureMap]) -> None:
    with pytest.raises(ValueError):
        make()


@pytest.mark.parametrize("function", [np.exp, np.log, np.sin, np.cos])
def test_a_number_has_the_same_bits_wherever_it_stands(function: np.ufunc) -> None:
    """A record's integers must not depend on its neighbours; these are the functions that are not exact by IEEE's rules."""
    rng = np.random.default_rng(0)
    values = np.abs(rng.standard_normal(64)) * 10.0 ** rng.integers(-8, 6, 64)
    if function is np.exp:
        values = -np.minimum(values, 700.0)
    alone = np.array([function(values[i : i + 1])[0] for i in range(len(values))])
    for offset in range(17):
        for size in range(1, len(values) - offset + 1):
            part = slice(offset, offset + size)
            assert np.array_equal(function(values[part]), alone[part])
    wide, out = np.repeat(values[:, None], 3, axis=1), np.zeros((len(values), 7))
    function(wide, out=out[:, 2:5])
    assert np.array_equal(out[:, 2:5], np.repeat(alone[:, None], 3, axis=1))
    with np.errstate(all="ignore"):
        for stranger in (np.nan, np.inf, 1e300, 5e-324):
            mixed = np.insert(values, np.arange(0, 64, 5), stranger)
            kept = np.isin(mixed, values)
            assert np.array_equal(function(mixed)[kept], alone)
