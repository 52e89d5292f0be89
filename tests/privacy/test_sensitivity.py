"""Sensitivity: the bound holds for any vectors on the grid, and is reached where it says that it is tight."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity

NORM = 1 << 20
"""A squared norm: vectors have length 1024."""
LENGTH = 1024


def person(rows: int) -> pt.Person | None:
    return None if rows == 1 else pt.Person(column="id", max_rows=rows)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("neighbours", "nonnegative", "factor"), [
    (Neighbours.ADD_REMOVE, True, 1), (Neighbours.ADD_REMOVE, False, 1),
    (Neighbours.REPLACE_ONE, True, 2), (Neighbours.REPLACE_ONE, False, 4),
])  # fmt: skip
def test_the_bound_is_reached(neighbours: Neighbours, nonnegative: bool, factor: int, rows: int) -> None:
    """One direction added, or swapped for another one: at right angles if nothing is negative, else the opposite."""
    before = np.array([rows * LENGTH, 0])
    other = np.array([0, rows * LENGTH]) if nonnegative else -before
    after = np.zeros(2, dtype=int) if neighbours is Neighbours.ADD_REMOVE else other
    found = squared_sensitivity(NORM, neighbours, person(rows), nonnegative=nonnegative)
    assert found == factor * rows**2 * NORM == int(((before - after) ** 2).sum())


@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 4))
def test_no_group_of_records_moves_a_sum_further(seed: int, nonnegative: bool, rows: int) -> None:
    rng = np.random.default_rng(seed)

    def records() -> np.ndarray:
        found = rng.normal(size=(rows, 5))
        found = (abs(found) if nonnegative else found) / np.linalg.norm(found, axis=1, keepdims=True)
        return np.trunc(found * LENGTH).astype(int)

    first, second = records().sum(axis=0), records().sum(axis=0)
    for neighbours, moved in ((Neighbours.ADD_REMOVE, first), (Neighbours.REPLACE_ONE, first - second)):
        assert (moved**2).sum() <= squared_sensitivity(NORM, neighbours, person(rows), nonnegative=nonnegative)


def test_a_positive_kernel_costs_little_more_than_half() -> None:
    """Twice the square, and what rounding may add; never more than in general."""
    found = squared_sensitivity(1 << 40, Neighbours.REPLACE_ONE, None, nonnegative=False, positive=100)
    assert 2 << 40 < found < 1.001 * (2 << 40)
    tiny = squared_sensitivity(4, Neighbours.REPLACE_ONE, None, nonnegative=False, positive=10_000)
    assert tiny == 16
    assert squared_sensitivity(NORM, Neighbours.ADD_REMOVE, None, nonnegative=False, positive=100) == NORM
