"""Meetings: gaps are what rows count beyond what they should, before exchanges and after."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.sampling.exchange_sweep import (
    ClassGaps,
    CliqueGaps,
    PairGaps,
    count_classes,
    count_cliques,
    count_pairs,
    sweep,
)

COLUMNS, TILES = 4, 3
SIZE = COLUMNS * TILES


def gaps(classes: np.ndarray) -> tuple[PairGaps, ClassGaps, CliqueGaps]:
    """Empty tables of all pairs, of the first two columns by the last one's class, and of the first three together."""
    linked = ~np.eye(COLUMNS, dtype=np.bool_)
    ends = np.arange(0, COLUMNS**2, COLUMNS - 1)
    pairs = PairGaps(np.zeros((SIZE, SIZE), np.float32), linked, ends, np.nonzero(linked)[1])
    places = np.arange(SIZE, dtype=np.int32)[None]
    held_ends, others = np.array([[0, 1, 2, 2, 2]]), np.array([1, 0])
    by_class = ClassGaps(
        np.array([3]), classes[None], places, np.zeros((1, TILES, SIZE, SIZE), np.float32), held_ends, others
    )
    steps = np.zeros((1, SIZE), np.int32)
    steps[0, :9] = np.concatenate([np.arange(3) * 9, np.arange(3) * 3, np.arange(3)])
    cliques = CliqueGaps(
        np.array([0, 1, 2, 3, 3]),
        np.zeros(3, int),
        np.array([0, 3]),
        np.arange(3),
        steps,
        np.zeros((1, 27), np.float32),
    )
    return pairs, by_class, cliques


def count(placed: np.ndarray, classes: np.ndarray) -> tuple[PairGaps, ClassGaps, CliqueGaps]:
    made = gaps(classes)
    for add, each in zip((count_pairs, count_classes, count_cliques), made, strict=True):
        add(placed, each)
    return made


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000), temperature=st.sampled_from([0.0, 5.0]))
def test_gaps_after_exchanges_are_those_of_the_rows(seed: int, temperature: float) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, TILES, (200, COLUMNS))
    placed = (rows + TILES * np.arange(COLUMNS)).astype(np.uint32)
    classes = rows[:, 3].astype(np.int32)
    before, (pairs, by_class, cliques) = placed.copy(), count(placed, classes)
    wanted = count((rng.integers(0, TILES, (200, COLUMNS)) + TILES * np.arange(COLUMNS)).astype(np.uint32), classes)
    for own, table in zip((pairs, by_class, cliques), wanted, strict=True):
        own.gap[:] -= table.gap
    energy = [float(np.sum(np.square(gap))) for gap in (pairs.gap, by_class.gap, cliques.gap)]
    sweep(placed, rng.permutation(200), pairs, by_class, cliques, temperature, seed)
    assert not np.array_equal(placed, before)
    np.testing.assert_array_equal(placed[:, 3] - 9, classes)  # no row changes its class
    np.testing.assert_array_equal(np.sort(placed, axis=0), np.sort(before, axis=0))
    for made, moved, table in zip(count(placed, classes), (pairs, by_class, cliques), wanted, strict=True):
        np.testing.assert_allclose(moved.gap, made.gap - table.gap, atol=1e-4)
    if temperature == 0.0:  # pairs are counted twice, both ways round
        after = [float(np.sum(np.square(gap))) for gap in (pairs.gap, by_class.gap, cliques.gap)]
        assert after[0] / 2 + after[1] / 2 + after[2] < energy[0] / 2 + energy[1] / 2 + energy[2]
