"""Pivoted Cholesky: the pivots' span explains the kernel matrix to within the tolerance."""

import numpy as np
import pytest

from pointillist.features import Gaussian, Records
from pointillist.features.cholesky import pivoted_cholesky


def rows(count: int, seed: int = 0) -> Records:
    places = np.random.default_rng(seed).random((2, count))
    return Records(count, {}, {"x": places[0], "y": places[1]})


KERNEL = Gaussian(("x", "y"), (0.4, 0.4))


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6])
def test_the_rest_is_below_the_tolerance_on_the_diagonal(tolerance: float) -> None:
    points = rows(150)
    whole, found = KERNEL(points, points), pivoted_cholesky(KERNEL, points, tolerance=tolerance)
    rest = whole - found.factor @ found.factor.T
    assert np.diag(rest).max() <= tolerance * (1 + 1e-6)
    assert np.linalg.eigvalsh(rest).min() >= -1e-9
    assert 1 < found.rank < 150
    assert len(set(found.pivots.tolist())) == found.rank
    assert found.missed[0] == 1.0
    assert (np.diff(found.missed) <= 0).all()
    triangle = found.triangle(found.rank)
    np.testing.assert_allclose(triangle @ triangle.T, whole[np.ix_(found.pivots, found.pivots)], atol=1e-8)


def test_no_more_pivots_than_are_asked_for_and_none_twice_the_same() -> None:
    points = rows(200, 1)
    assert pivoted_cholesky(KERNEL, points, tolerance=1e-9, most=7).rank == 7
    twice = points.part(np.repeat(np.arange(5), 4))
    assert pivoted_cholesky(KERNEL, twice, tolerance=1e-9).rank == 5
