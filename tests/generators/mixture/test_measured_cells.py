"""Measured cells: the same as with whole matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.generators.mixture.measured_cells import MeasuredCells


@given(seed=st.integers(0, 1000))
def test_a_push_is_that_of_the_whole_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joined, share = rng.random((5, 7), dtype=np.float32), rng.random(5, dtype=np.float32)
    wanted, precision = rng.random((7, 7), dtype=np.float32), rng.integers(0, 2, (7, 7)).astype(np.float32)
    wanted, precision = wanted + wanted.T, np.triu(precision, 1) + np.triu(precision, 1).T
    distance, pushed = MeasuredCells(precision).push(joined, share, wanted)
    gap = joined.T @ (share[:, None] * joined) - wanted
    assert distance == pytest.approx(0.5 * float(np.sum(precision * gap * gap)), rel=1e-4, abs=1e-5)
    np.testing.assert_allclose(pushed, joined @ (precision * gap), rtol=1e-4, atol=1e-4)


def test_distances_are_of_pairs_of_columns() -> None:
    rng = np.random.default_rng(0)
    joined, share = rng.random((5, 7), dtype=np.float32), rng.random(5, dtype=np.float32)
    wanted, precision = np.zeros((7, 7), np.float32), np.zeros((7, 7), np.float32)
    precision[:3, 3:], precision[3:, :3] = 2.0, 2.0
    found = MeasuredCells(precision).distances(joined, share, wanted, np.array([0, 3]))
    gap = (joined.T @ (share[:, None] * joined))[:3, 3:]
    np.testing.assert_allclose(found, [[0, 2 * np.sum(gap**2)], [2 * np.sum(gap**2), 0]], rtol=1e-4)
