"""Bounds of DP-MEPF, held against simulations.

Bounds must hold for any noise; they are asked to be near the truth where there are many coordinates, as in any release.

False alarms: counts of failures are compared with their expectation plus 5.5 standard deviations, means with 6 standard
errors; seeds are fixed, and either would go wrong less than once in a million.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.methods.perceptual_bounds import (
    Noise,
    expected_error,
    farther,
    likely_error,
    optimistic_excess,
    uniform_error,
    worst_excess,
)

Floats = NDArray[np.float64]

PARTS = {
    "even": [(0.01, 400)],
    "two moments": [(0.02, 100), (0.005, 300)],
    "one coordinate": [(0.3, 1)],
}
DRAWS = 20_000


def deviations(parts: list[tuple[float, int]]) -> Floats:
    return np.concatenate([np.full(count, each) for each, count in parts])


def draws(parts: list[tuple[float, int]], seed: int = 0, count: int = DRAWS) -> Floats:
    scales = deviations(parts)
    return standard(seed, count, len(scales)) * scales


@cache
def standard(seed: int, count: int, size: int) -> Floats:
    return np.random.default_rng(seed).standard_normal((count, size))


def most(failure: float, count: int = DRAWS) -> float:
    """How many failures are still in keeping with a bound."""
    return failure * count + 5.5 * math.sqrt(failure * (1 - failure) * count)


@pytest.mark.parametrize("name", PARTS)
def test_noise_is_its_covariance(name: str) -> None:
    covariance = np.diag(deviations(PARTS[name]) ** 2)
    noise = Noise.of(PARTS[name])
    assert noise.trace == pytest.approx(np.trace(covariance))
    assert noise.frobenius == pytest.approx(np.linalg.norm(covariance))
    assert noise.largest == pytest.approx(np.linalg.norm(covariance, 2))


@pytest.mark.parametrize("failure", [0.3, 0.05, 0.005])
@pytest.mark.parametrize("name", PARTS)
def test_radius(name: str, failure: float) -> None:
    lengths = np.linalg.norm(draws(PARTS[name]), axis=1)
    radius = Noise.of(PARTS[name]).radius(failure)
    assert np.count_nonzero(lengths > radius) <= most(failure)
    if name == "even":  # many like coordinates: there is next to nothing to give away
        assert radius <= 1.05 * np.quantile(lengths, 1 - failure)


@pytest.mark.parametrize("distance", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("name", PARTS)
def test_expected_error(name: str, distance: float) -> None:
    noise, found = Noise.of(PARTS[name]), draws(PARTS[name])
    scales = deviations(PARTS[name])
    a = np.zeros(len(scales))
    a[np.argmax(scales)] = distance  # along the largest noise, where the bound is meant to be near
    errors = np.abs(((found + a) ** 2).sum(axis=1) - (a**2).sum())
    margin = 6 * errors.std() / math.sqrt(DRAWS)
    bound = expected_error(noise, distance)
    assert errors.mean() <= bound + margin
    assert bound <= 2 * (errors.mean() + margin)
    if distance == 0:
        assert bound == pytest.approx(errors.mean(), abs=margin)


@pytest.mark.parametrize("failure", [0.3, 0.05])
@pytest.mark.parametrize("distance", [0.0, 0.05, 1.0])
@pytest.mark.parametrize("name", PARTS)
def test_likely_error(name: str, distance: float, failure: float) -> None:
    found, scales = draws(PARTS[name], seed=1), deviations(PARTS[name])
    a = np.zeros(len(scales))
    a[np.argmax(scales)] = distance
    errors = np.abs(((found + a) ** 2).sum(axis=1) - (a**2).sum())
    bound = likely_error(Noise.of(PARTS[name]), distance, failure)
    assert np.count_nonzero(errors > bound) <= most(failure)
    if name != "one coordinate":
        assert bound <= 3 * np.quantile(errors, 1 - failure)


@pytest.mark.parametrize("name", PARTS)
def test_uniform_error(name: str) -> None:
    """The worst pair of data sets for a noise n lies along n, as far apart as features allow: |n|^2 + 2 |n| farthest."""
    lengths = np.linalg.norm(draws(PARTS[name], seed=2), axis=1)
    worst = lengths**2 + 2 * math.sqrt(2) * lengths
    bound = uniform_error(Noise.of(PARTS[name]), math.sqrt(2), 0.05)
    assert np.count_nonzero(worst > bound) <= most(0.05)
    if name != "one coordinate":
        assert bound <= 1.2 * np.quantile(worst, 0.95)


def excesses(adversary: Callable[[Floats], Floats], best: float, count: int = 3000) -> Floats:
    """For draws of noise: how much larger |a|^2 is for the best fit to the noisy embedding than for the best fit.

    Generators are differences a = mu(D) - mu(t); one of them has length `best` and no other is shorter.
    """
    rng = np.random.default_rng(3)
    found = draws(PARTS["two moments"], seed=4, count=count)
    size = found.shape[1]
    fixed = rng.standard_normal((20, size))
    fixed *= (best + rng.random((20, 1))) / np.linalg.norm(fixed, axis=1, keepdims=True)
    fixed[0] *= best / np.linalg.norm(fixed[0])
    result = np.empty(count)
    for row, n in enumerate(found):
        known = np.vstack([fixed, adversary(n)])
        lengths = (known**2).sum(axis=1)
        chosen = np.argmin(((known + n) ** 2).sum(axis=1))
        result[row] = lengths[chosen] - lengths.min()
    return result


def along_noise(factor: float) -> Callable[[Floats], Floats]:
    return lambda n: -factor * n[None, :]


@pytest.mark.parametrize("best", [0.0, 0.1, 0.5])
def test_excess_of_the_best_noisy_fit(best: float) -> None:
    noise = Noise.of(PARTS["two moments"])
    found = excesses(along_noise(1.0), best)
    for bound in (optimistic_excess(noise, best, 0.05), worst_excess(noise, 2 + 2 * best, 0.05)):
        assert np.count_nonzero(found > bound) <= most(0.05, len(found))
    # As distances: no more than 2 R farther.
    gained = np.sqrt(found + best**2) - best
    assert np.count_nonzero(gained > farther(noise, 0.05)) <= most(0.05, len(found))


def test_the_optimistic_bound_is_attained() -> None:
    """A generator whose features are off by nearly -2 n is as near to the noisy embedding as the true one."""
    found = excesses(along_noise(1.999), 0.0)
    bound = optimistic_excess(Noise.of(PARTS["two moments"]), 0.0, 0.05)
    assert np.quantile(found, 0.95) > 0.85 * bound
    assert np.count_nonzero(found > bound) <= most(0.05, len(found))


@given(
    st.lists(st.tuples(st.floats(1e-6, 1.0), st.integers(1, 10**6)), min_size=1, max_size=3),
    st.floats(0, 2),
    st.floats(1e-6, 0.9),
)
def test_never_above_the_papers_bounds_with_their_constants_put_right(
    parts: list[tuple[float, int]], distance: float, failure: float
) -> None:
    noise = Noise.of(parts)
    log = math.log(2 / failure)
    root, most_noise = math.sqrt(noise.trace), math.sqrt(noise.largest)
    square = noise.trace + 2 * noise.frobenius * math.sqrt(log) + 2 * noise.largest * log
    length = root + most_noise * math.sqrt(2 * log)
    a2 = square + 2 * most_noise * distance * (math.sqrt(2 / math.pi) + math.sqrt(2 * log))
    a3 = square + 4 * length
    a5 = (6 + 2 * math.sqrt(2)) * square + 4 * length * distance
    slack = 1 + 1e-9
    assert likely_error(noise, distance, failure) <= a2 * slack
    assert uniform_error(noise, 2, failure) <= a3 * slack
    assert worst_excess(noise, 2, failure) <= 2 * a3 * slack
    assert optimistic_excess(noise, distance, failure) <= a5 * slack


def test_out_of_range() -> None:
    noise = Noise.of([(0.1, 2)])
    with pytest.raises(UsageError, match="failure must lie between 0 and 1"):
        noise.radius(1.0)
    with pytest.raises(UsageError, match="a distance must be finite"):
        expected_error(noise, -1)
    with pytest.raises(UsageError, match="noise needs parts"):
        Noise.of([])
