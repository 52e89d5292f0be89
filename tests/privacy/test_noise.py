"""The noise: on its grid, of the right size, never twice the same, from a source that has no seed."""

import inspect
import random

import numpy as np
import pytest
from scipy import stats

from pointillist.privacy import noise
from pointillist.privacy.noise import add_noise


def test_noise_has_the_right_variance_and_shape() -> None:
    """200,000 draws: the chi^2 and Kolmogorov tests at 1e-6 each; they false-alarm twice in a million runs."""
    sigma = 12_345.6
    drawn = add_noise(np.zeros(200_000, dtype=np.int64), sigma)
    assert drawn.dtype == np.int64
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], len(drawn)) / len(drawn)
    assert low < np.mean((drawn / sigma) ** 2) < high
    assert stats.kstest(drawn / sigma, "norm").pvalue > 1e-6


def test_noise_is_added_to_the_sums_coordinate_by_coordinate() -> None:
    """Noise of 3 against sums of millions: off by over 30 sigma has no chance."""
    sums = np.arange(100_000, dtype=np.int64) * 1_000_003
    assert np.abs(add_noise(sums, 3.0) - sums).max() <= 90


def test_noise_is_independent_between_coordinates() -> None:
    """Lag correlations of 100,000 draws, |z| below 5.5: one false alarm in ten million."""
    drawn = add_noise(np.zeros(100_000, dtype=np.int64), 1e6) / 1e6
    for lag in (1, 2, 1 << 15):
        assert abs(np.mean(drawn[:-lag] * drawn[lag:])) * np.sqrt(len(drawn) - lag) < 5.5


def test_no_two_runs_repeat_whatever_is_seeded() -> None:
    runs = []
    for _ in range(3):
        random.seed(1)
        np.random.seed(1)
        runs.append(add_noise(np.zeros(50, dtype=np.int64), 1e9))
    assert not (runs[0] == runs[1]).any()
    assert not (runs[1] == runs[2]).any()


def test_the_noise_takes_no_seed() -> None:
    assert set(inspect.signature(add_noise).parameters) == {"sums", "sigma", "threads"}
    assert "random" not in vars(noise)


def test_the_sums_are_not_changed() -> None:
    sums = np.zeros(10, dtype=np.int64)
    add_noise(sums, 100.0)
    assert not sums.any()


def test_nothing_gets_no_noise() -> None:
    assert add_noise(np.zeros(0, dtype=np.int64), 5.0).size == 0


@pytest.mark.parametrize("sigma", [0.0, -1.0, np.inf, np.nan])
def test_impossible_scales_are_refused(sigma: float) -> None:
    with pytest.raises(ValueError):
        add_noise(np.zeros(1, dtype=np.int64), sigma)


def test_sums_at_the_end_of_the_integers_are_refused() -> None:
    with pytest.raises(OverflowError):
        add_noise(np.array([2**62 + 1], dtype=np.int64), 5.0)
    with pytest.raises(OverflowError):
        add_noise(np.array([-(2**63)], dtype=np.int64), 5.0)
