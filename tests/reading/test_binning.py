"""Binning: the compiled loop finds the bin that the edges say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointillist.reading.binning import MISSING, OUT_OF_RANGE, bin_numbers
from pointillist.schema.scale import CODES


@given(
    st.lists(st.floats(0.25, 64, exclude_min=True), min_size=2, max_size=9, unique=True),
    st.lists(st.floats(allow_nan=True), max_size=30),
    st.sampled_from(sorted(CODES.values())),
)
def test_as_a_slow_search_has_it(edges: list[float], values: list[float], scale: int) -> None:
    bounds, numbers = np.array(sorted(edges)), np.array(values)
    codes = np.empty(len(values), dtype=np.uint16)
    flags = bin_numbers(numbers, bounds, True, scale, 0.5, np.array([0.0]), 99, codes)
    regular = len(bounds) - 1
    found = np.clip(np.searchsorted(bounds, numbers, side="right") - 1, 0, regular - 1)
    expected = np.where(np.isnan(numbers), 99, np.where(numbers == 0, regular, found))
    np.testing.assert_array_equal(codes, expected)
    outside = ((numbers < bounds[0]) | (numbers > bounds[-1])) & (numbers != 0)
    assert bool(flags & MISSING) == bool(np.isnan(numbers).any())
    assert bool(flags & OUT_OF_RANGE) == bool(outside.any())


def test_the_last_edge_is_in_range_of_real_numbers_alone() -> None:
    codes = np.empty(1, dtype=np.uint16)
    edges, at_the_end = np.array([0.0, 1.0, 2.0]), np.array([2.0])
    assert bin_numbers(at_the_end, edges, True, CODES["linear"], 1.0, np.empty(0), 0, codes) == 0
    assert bin_numbers(at_the_end, edges, False, CODES["linear"], 1.0, np.empty(0), 0, codes) == OUT_OF_RANGE
    assert codes[0] == 1
