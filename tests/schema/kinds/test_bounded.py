"""Numbers between bounds: positions in [0, 1], bins, and numbers with so many digits."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema import Integer, Real
from pointillist.schema.kinds.bounded import on_grid


@given(st.floats(0, 1), st.sampled_from(["linear", "log", "asinh"]))
def test_positions_there_and_back(unit: float, scale: str) -> None:
    low = -30.0 if scale == "asinh" else 0.5
    column = Real(min=low, max=2000, scale=scale)
    values = column.from_unit(np.array([unit]))
    assert low - 1e-9 <= values[0] <= 2000 + 1e-9
    assert column.to_unit(values)[0] == pytest.approx(unit, abs=1e-9)


def test_what_is_missing_sits_in_the_middle() -> None:
    assert Real(min=1, max=9).to_unit(np.array([np.nan, -5.0, 50.0])).tolist() == [0.5, 0.0, 1.0]


def test_atoms_may_lie_outside_the_bounds() -> None:
    column = Integer(min=1, max=9, special=(-1, 99, 5))
    assert (column.bounds, column.specials, column.extremes) == ((1.0, 9.0), (-1.0, 99.0, 5.0), (-1.0, 99.0))


def test_a_column_without_values_has_gaps_alone() -> None:
    assert np.isnan(Real(min=0, max=1).from_arrow(pa.nulls(3))).all()


@given(st.integers(-10_000, 10_000), st.integers(0, 4))
def test_the_grid_holds_its_own_numbers(number: int, digits: int) -> None:
    value = number / 10**digits
    assert on_grid(value, value, digits) == (value, value)


def test_a_range_between_two_numbers_of_the_grid_is_empty() -> None:
    first, last = on_grid(0.31, 0.39, 1)
    assert first > last
