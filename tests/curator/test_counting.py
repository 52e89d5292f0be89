"""Counting: the compiled loop counts what a slow one counts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointillist.curator.counting import count_cells


@given(st.integers(0, 9000), st.integers(0, 99))
def test_counts_of_one_two_and_three_columns(rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.array([2, 3, 4])
    cells = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.uint16)
    leaves = np.array([[1, -1, -1], [2, 0, -1], [0, 1, 2]])
    offsets = np.array([0, 3, 11])
    counts = np.zeros(11 + 24, dtype=np.int64)
    count_cells(cells, leaves, sizes, offsets, counts)
    first = np.bincount(cells[1], minlength=3)
    second = np.bincount(cells[2].astype(int) * 2 + cells[0], minlength=8)
    third = np.bincount((cells[0].astype(int) * 3 + cells[1]) * 4 + cells[2], minlength=24)
    np.testing.assert_array_equal(counts, np.concatenate([first, second, third]))
    count_cells(cells, leaves, sizes, offsets, counts)  # adds to what is there
    np.testing.assert_array_equal(counts, 2 * np.concatenate([first, second, third]))


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.integers(0, 5000), st.integers(0, 99))
def test_tables_of_any_number_of_columns_small_and_large(sizes: list[int], rows: int, seed: int) -> None:
    """Also of more cells than 16 bits can number."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.uint16)
    leaves = np.full((1, 5), -1)
    leaves[0, : len(sizes)] = np.arange(len(sizes))
    dimension = int(np.prod(sizes)) if np.prod(sizes) < 1 << 22 else 0
    if dimension:
        counts = np.zeros(dimension, dtype=np.int64)
        count_cells(cells, leaves, np.array(sizes), np.array([0]), counts)
        places = np.ravel_multi_index([each.astype(np.int64) for each in cells], sizes)
        np.testing.assert_array_equal(counts, np.bincount(places, minlength=dimension))
