"""Grids: what is added up are integers, and no sum or norm is larger than 64 bits hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.privacy.grid import FINEST, Grid


def test_the_counting_grid_leaves_room_for_many_rows() -> None:
    grid = Grid.counting()
    assert grid.bits == FINEST
    assert grid.scale << 36 < 1 << 63


@given(st.integers(1, 1 << 30))
def test_a_dense_grid_holds_and_wastes_no_two_bits(dimension: int) -> None:
    grid = Grid.dense(dimension)
    assert grid.holds(dimension)
    assert grid.bits == 24 or not Grid(grid.bits + 2).holds(dimension)


@given(st.integers(1, FINEST), st.floats(0, 1))
def test_weights_are_rounded_towards_zero(bits: int, weight: float) -> None:
    grid = Grid(bits)
    assert 0 <= grid.weight(weight) <= weight * grid.scale
    assert grid.weight(weight) ** 2 <= grid.squared_norm


@pytest.mark.parametrize("bits", [1, 10, FINEST])
def test_one_is_the_scale(bits: int) -> None:
    grid = Grid(bits)
    assert grid.weight(1.0) == grid.scale
    assert grid.scale**2 == grid.squared_norm
