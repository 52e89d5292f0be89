"""What drafts make of answers: bounds are rounded away from the data."""

import math

from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema.kinds.drafting import rounded_out


@given(st.floats(-1e300, 1e300))
def test_bounds_move_away_from_the_data_and_not_far(value: float) -> None:
    low, high = rounded_out(value, up=False), rounded_out(value, up=True)
    slack = abs(value) * 1e-9
    assert low - slack <= value <= high + slack
    assert abs(high - value) <= 0.51 * abs(value) + 1e-300


@given(st.floats(1e-6, 1e6))
def test_a_bound_says_little_about_the_row_that_holds_it(value: float) -> None:
    """Two digits, the second 0 or 5: many values have the same bound."""
    bound = rounded_out(value, up=True)
    digits = round(bound / 10.0 ** (math.floor(math.log10(bound)) - 1))
    assert digits % 5 == 0


def test_examples() -> None:
    assert [rounded_out(each, up=True) for each in (0, 83, 0.0123, 6400.5)] == [0, 85, 0.015, 6500]
    assert [rounded_out(each, up=False) for each in (-83, 83)] == [-85, 80]


def test_a_narrow_span_far_from_zero_is_not_rounded_to_nothing() -> None:
    assert [rounded_out(year, up=up, span=112) for year, up in ((1893, False), (2005, True))] == [1892, 2006]
    assert rounded_out(0.5, up=True, span=300.0) == rounded_out(0.5, up=True) == 0.5
    assert rounded_out(83, up=True, span=0.0) == 85
