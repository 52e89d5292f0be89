"""Clipping: whatever a feature map returns, no record's integers are longer than the limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pointillist.curator.clipping import quantise
from pointillist.privacy.grid import Grid

wild = st.floats(allow_nan=True, allow_infinity=True)


@given(
    features=hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 40)), elements=wild),
    bits=st.integers(1, 24),
)
def test_the_grid_bounds_features_that_break_their_promise(features: np.ndarray, bits: int) -> None:
    """Not a number, infinite, huge or long vectors: the integer norm holds whatever a feature map returns."""
    grid = Grid(bits)
    values = quantise(features, grid)
    assert all(sum(int(v) ** 2 for v in row) <= grid.squared_norm for row in values)


@given(features=hnp.arrays(np.float64, (4, 6), elements=st.floats(-1, 1)))
def test_the_grid_rounds_towards_zero(features: np.ndarray) -> None:
    values = quantise(features, Grid(20))
    assert (np.abs(values) <= np.abs(features) * 2**20).all()
    inside = np.linalg.norm(features, axis=1) <= 1
    assert (np.abs(features[inside] * 2**20 - values[inside]) < 1).all()


def test_the_grid_refuses_to_overflow() -> None:
    with pytest.raises(OverflowError):
        quantise(np.zeros((1, 1 << 16)), Grid(24))
