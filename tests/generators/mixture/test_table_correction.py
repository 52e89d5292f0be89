"""Corrections of tables: what is more than noise is taken over, noise alone is not, and marginals stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.generators.mixture.table_correction import corrected

SIZE = 20


def band() -> np.ndarray:
    """A table whose rows lie along the diagonal, most cells of which are empty."""
    apart = np.abs(np.subtract.outer(np.arange(SIZE), np.arange(SIZE)))
    table = np.where(apart < 3, 0.5**apart, 0.0)
    return np.asarray(table / table.sum())


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32), st.sampled_from([1e2, 1e4, 1e8]))
def test_marginals_stay_and_nothing_is_negative(seed: int, precision: float) -> None:
    rng = np.random.default_rng(seed)
    modelled, measured = rng.dirichlet(np.full(30, 0.3)).reshape(5, 6), rng.dirichlet(np.full(30, 0.3)).reshape(5, 6)
    found = corrected(modelled, measured, precision)
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1, abs=0.02)
    np.testing.assert_allclose(found.sum(axis=0), modelled.sum(axis=0), atol=1e-9)  # the last that was scaled


def test_without_noise_the_measurement_has_its_way() -> None:
    modelled = 0.5 * band() + 0.5 * np.outer(band().sum(axis=1), band().sum(axis=0))
    found = corrected(modelled, band(), 1e12)
    assert np.abs(found - band()).sum() < 0.02 * np.abs(modelled - band()).sum()


def test_noise_alone_changes_little() -> None:
    """Twenty tables that are right already: the mean correction is less than a fifth of the noise, in total variation."""
    rng, sigma = np.random.default_rng(0), 2e-3
    moved = [
        np.abs(corrected(band(), band() + sigma * rng.standard_normal((SIZE, SIZE)), sigma**-2) - band()).sum()
        for _ in range(20)
    ]
    assert np.mean(moved) < 0.2 * sigma * SIZE**2 * np.sqrt(2 / np.pi)


def test_empty_cells_stay_empty() -> None:
    """A model that is off in the band, and noise that hides every empty cell: all corrections are in the band."""
    rng, sigma = np.random.default_rng(1), 2e-3
    weights = np.exp(0.5 * rng.standard_normal((SIZE, SIZE)))
    truth = band() * weights / (band() * weights).sum()
    found = corrected(band(), truth + sigma * rng.standard_normal((SIZE, SIZE)), sigma**-2)
    assert found[band() == 0].sum() < 1e-9
    assert np.abs(found - truth).sum() < np.abs(band() - truth).sum()


def test_an_empty_table_stays_empty() -> None:
    assert not corrected(np.zeros((2, 3)), np.ones((2, 3)), 1.0).any()
