"""Swapping: columns keep their values, pair tables come nearer, and what pairs do not hold fast is forgotten."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.generators.swapping import mix

STARTS = np.array([0, 3, 6])


def pairs(rows: np.ndarray) -> np.ndarray:
    """Counts of all pairs of tiles, columns side by side."""
    marks = np.zeros((len(rows), 9), dtype=np.float32)
    for column, start in enumerate(STARTS):
        marks[np.arange(len(rows)), start + rows[:, column]] = 1
    return marks.T @ marks


def between(table: np.ndarray) -> np.ndarray:
    """Without the blocks of a column with itself."""
    found = table.copy()
    for start in STARTS:
        found[start : start + 3, start : start + 3] = 0
    return found


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), count=st.integers(1, 3000))
def test_every_column_keeps_its_values(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (count, 3)).astype(np.int32)
    before = np.sort(rows, axis=0)
    mix(rows, pairs(rng.integers(0, 3, (count, 3))), STARTS, rng)
    np.testing.assert_array_equal(np.sort(rows, axis=0), before)


def test_pair_tables_become_those_of_the_model() -> None:
    """From independent columns to two that are nearly the same."""
    rng = np.random.default_rng(0)
    wanted_rows = rng.integers(0, 3, (6000, 3))
    wanted_rows[:, 1] = np.where(rng.random(6000) < 0.9, wanted_rows[:, 0], wanted_rows[:, 1])
    rows = wanted_rows.astype(np.int32).copy()
    for column in range(3):
        rows[:, column] = rng.permutation(rows[:, column])
    wanted = pairs(wanted_rows)
    before = np.abs(between(pairs(rows) - wanted)).sum()
    mix(rows, wanted, STARTS, rng)
    assert np.abs(between(pairs(rows) - wanted)).sum() < 0.25 * before


def test_what_pairs_do_not_hold_fast_is_forgotten() -> None:
    """Parity ties three columns together, and no two of them: it fades, and pairs stay as they were."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 2, (8000, 3)).astype(np.int32)
    rows[:, 2] = rows[:, 0] ^ rows[:, 1]
    wanted = pairs(rows)
    mix(rows, wanted, STARTS, rng)
    assert np.mean(rows[:, 2] == rows[:, 0] ^ rows[:, 1]) < 0.9
    assert np.abs(between(pairs(rows) - wanted)).max() < 10


def test_sparse_tables_are_left_alone() -> None:
    rng = np.random.default_rng(2)
    rows = rng.integers(0, 3, (30, 3)).astype(np.int32)
    before = rows.copy()
    mix(rows, pairs(rows), STARTS, rng)
    np.testing.assert_array_equal(rows, before)


def test_the_same_generator_gives_the_same_rows() -> None:
    made = []
    for _ in range(2):
        rng = np.random.default_rng(3)
        rows = rng.integers(0, 3, (3000, 3)).astype(np.int32)
        mix(rows, pairs(rng.integers(0, 3, (3000, 3))), STARTS, rng)
        made.append(rows)
    np.testing.assert_array_equal(*made)
