"""What numbers seem to mean, from all that there are and how often each comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema.kinds.drafting import Numbers
from pointillist.schema.kinds.number_drafting import SHARED, decimals_of, is_clock, range_of


def numbers(values: list[float], often: int | list[int] = 50) -> Numbers:
    counts = np.full(len(values), often) if isinstance(often, int) else np.array(often)
    return Numbers(np.array(values, dtype=np.float64), counts)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, unique=True), st.integers(1, 40))
def test_bounds_hold_all_that_is_not_set_apart(values: list[int], often: int) -> None:
    found = numbers(sorted(values), often)
    seen = range_of(found, 1.0)
    assert all(seen.low <= each <= seen.high or each in seen.special for each in values)
    assert seen.low < seen.high


def test_what_one_row_has_is_no_bound_and_in_no_list() -> None:
    """Ages from 18 to 90 with one person of 103; a price that a single row paid."""
    ages = numbers([*range(18, 91), 103], [40] * 73 + [1])
    assert (range_of(ages, 1.0).low, range_of(ages, 1.0).high) == (18, 104)
    prices = numbers([0.79, 0.85, 0.99, 1.47], [500, SHARED - 1, 500, 500])
    assert range_of(prices, None).only == (0.79, 0.99, 1.47)


def test_steps_are_listed_whole() -> None:
    assert range_of(numbers([10, 15, 30, 35, 40]), 1.0).only == (10, 15, 20, 25, 30, 35, 40)
    assert range_of(numbers([0.5, 1.0, 2.0, 2.5, 3.0]), 0.1).only == (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    assert range_of(numbers([1, 2, 3, 4, 6]), 1.0).only != (1, 3, 5)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        (np.exp(np.linspace(0, 9, 300)), "log"),
        (np.linspace(1, 1000, 300) + 0.5, "linear"),
        (np.sinh(np.linspace(-9, 9, 301)), "asinh"),
        (np.concatenate([np.exp(np.linspace(3, 7.5, 400))]), "log"),
    ],
)
def test_the_scale_spreads_the_rows(values: np.ndarray, scale: str) -> None:
    assert range_of(numbers(values.tolist(), 1)).scale == scale


def test_clock_times() -> None:
    every = [100 * hour + minute for hour in range(24) for minute in range(0, 60, 5)]
    assert is_clock(numbers(every))
    assert not is_clock(numbers([*every[:-1], 2399]))
    assert not is_clock(numbers(list(range(0, 2400, 10))))


@pytest.mark.parametrize(
    ("values", "decimals"),
    [
        ([4.5999999, 3.2, 5.0999999], 1),
        ([0.1, 0.25, 7.0], 2),
        ([34552.644802, 31767.138947, 31704.493935], 6),
        ([1 / 3, 2 / 7, 5 / 9], None),
        ([0.0], 0),
    ],
)
def test_decimals(values: list[float], decimals: int | None) -> None:
    assert decimals_of(numbers(sorted(values)), single=False) == decimals


def test_zeros_do_not_hide_the_decimals_of_the_rest() -> None:
    assert decimals_of(numbers([0.0, 0.05, 0.12], [1000, 5, 5]), single=False) == 2


def test_few_numbers_are_listed_though_one_row_lies_far_away() -> None:
    """A level for each number would keep it, where the numbers are whole; else it is taken for the nearest."""
    values, often = [-9.5, 0.123457, 0.234568, 0.345679], [1, 400, 400, 400]
    assert range_of(numbers(values, often), 1e-6).only == (0.123457, 0.234568, 0.345679)
    assert range_of(numbers([-200, 1, 5, 30], often), 1.0).only == ()


def test_a_bound_is_one_that_several_rows_share_where_hardly_a_row_lies_beyond() -> None:
    """Scores from 2 to 22, and one row at 23: nobody is at 24, and 23 tells about one row."""
    values, often = list(range(2, 24)), [60] * 21 + [1]
    assert range_of(numbers(values, often), 1.0)[:2] == (2.0, 22.0)
    assert range_of(numbers(values, [60] * 17 + [4] * 5), 1.0).high >= 23  # a tail of several rows is kept


def test_one_number_alone_has_hardly_any_room() -> None:
    assert range_of(numbers([3.4], [1700]), 0.1)[:2] == pytest.approx((3.4, 3.5))
    assert range_of(numbers([1 / 3], [1700]), None)[:2] == pytest.approx((1 / 3, 1 / 3), abs=1e-6)


def test_halves_are_not_rounded_off_where_all_numbers_can_be_listed() -> None:
    """Most taxes are whole, some are not: one more digit is enough for all. Of more numbers, one of 37.5 gives
    none of the others a decimal."""
    assert decimals_of(numbers([2.0, 2.5, 3.0, 7.5], [400, 40, 400, 20]), single=False) == 1
    assert decimals_of(numbers(sorted([*range(120), 37.5]), 20), single=False) == 0


def test_clock_times_lie_where_the_rows_are() -> None:
    day = 3 * [hour * 100 + minute for hour in range(6, 23) for minute in range(60)]

    def seen(*more: int) -> tuple[bool, float, float]:
        values, often = np.unique([*day, *more], return_counts=True)
        found = range_of(Numbers(values.astype(np.float64), often), 1.0)
        return found.clock, found.low, found.high

    assert seen(212) == (True, 600, 2259)
    assert seen(*[212] * SHARED) == (True, 200, 2259)
    assert seen(*[2400] * SHARED) == (True, 600, 2400)
