"""Marginals from histograms at two resolutions: possible, near, and without ghosts."""

import numpy as np
import pytest
from numpy.typing import NDArray

import pointillist as pt
from pointillist.features import Concat, OneHot, Tiles, Weighted
from pointillist.fitting.marginals import Marginals, _empty_ends
from pointillist.privacy.grid import Grid
from pointillist.release import Measurement
from pointillist.schema.levels import Levels, coarse

LEVELS = Levels("x", pt.Integer(min=0, max=255, missing=True, special=(0,)))
BINS = coarse(LEVELS)


def measured(counts: NDArray[np.float64], sigma: float, seed: int, *, twice: bool = True) -> Measurement:
    """Noisy histograms of a column: in bins and at its finest, or only that; noise of `sigma` rows on each count."""
    grid, rng = Grid.counting(), np.random.default_rng(seed)
    part = np.sqrt(0.5)
    fine, bins = OneHot("x", LEVELS.size), Tiles("x", tuple(BINS.tolist()))
    maps = (Weighted(bins, part), Weighted(fine, part)) if twice else (Weighted(fine, part),)
    sums = [np.bincount(BINS, weights=counts), counts] if twice else [counts]
    added = grid.weight(part)
    values = np.concatenate(sums) * added
    noise = sigma * added * rng.standard_normal(len(values))
    return Measurement(Concat(maps), np.rint(values + noise).astype(np.int64), grid, sigma * added)


def truth() -> NDArray[np.float64]:
    """Two thousand rows: a hump, an atom of 500 at zero, nothing missing."""
    counts = np.zeros(LEVELS.size)
    counts[60:140] = 1500 * np.hanning(80) / np.hanning(80).sum()
    counts[LEVELS.regular] = 500
    return counts


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sigma", [0.1, 10.0, 300.0])
@pytest.mark.parametrize("twice", [True, False])
def test_counts_are_possible(sigma: float, seed: int, twice: bool) -> None:
    found = Marginals.of(measured(truth(), sigma, seed, twice=twice), (LEVELS,), None)
    assert (found.counts["x"] >= 0).all()
    assert found.counts["x"].sum() == pytest.approx(found.rows)
    assert found.shares["x"].sum() == pytest.approx(1.0)


def test_without_noise_they_are_exact() -> None:
    found = Marginals.of(measured(truth(), 1e-3, 0), (LEVELS,), 2000)
    np.testing.assert_allclose(found.counts["x"], truth(), atol=0.1)


def test_coarse_counts_help_in_bins() -> None:
    """Five seeds; sixteen levels in a bin carry four times the noise of the bin itself."""
    errors = {}
    for twice in (True, False):
        found = [Marginals.of(measured(truth(), 15.0, seed, twice=twice), (LEVELS,), 2000) for seed in range(5)]
        errors[twice] = sum(np.abs(np.bincount(BINS, weights=each.counts["x"] - truth())).sum() for each in found)
    assert errors[True] < 0.8 * errors[False]


def test_nothing_missing_stays_nothing_missing() -> None:
    for seed in range(5):
        assert Marginals.of(measured(truth(), 15.0, seed), (LEVELS,), 2000).counts["x"][LEVELS.missing] == 0


def test_ends_that_noise_explains_are_empty_and_never_all_is() -> None:
    noise = np.full(8, 10.0)
    found = _empty_ends(np.array([5.0, -8, 400, 300, 12, -5, 9, -2]), noise)
    assert found.tolist() == [True, True, False, False, True, True, True, True]
    assert not _empty_ends(np.array([9.0, -9, 9, -9, 9, -9, 9, -9]), noise).any()
    together = _empty_ends(np.array([500.0, 0, 0, 0, 15, 15, 15, 15]), noise)  # a thin tail that is there all the same
    assert not together[:5].any()
