"""Drawing: shares are shared out evenly, and levels stay in their tiles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointillist.features import Tiles
from pointillist.generators.drawing import draw, draw_levels, even, quota


@given(
    weights=st.lists(st.floats(0.01, 1), min_size=1, max_size=20), count=st.integers(1, 500), seed=st.integers(0, 99)
)
def test_quota_sampling_gives_every_component_its_share_to_within_one(
    weights: list[float], count: int, seed: int
) -> None:
    shared = np.array(weights) / sum(weights)
    drawn = np.bincount(quota(shared, count, np.random.default_rng(seed)), minlength=len(weights))
    assert drawn.sum() == count
    assert (np.abs(drawn - count * shared) < 1 + 1e-6).all()


@given(count=st.integers(0, 400), seed=st.integers(0, 99))
def test_what_a_row_of_a_table_shares_out_is_shared_evenly(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(5), 3)
    rows = rng.integers(0, 3, count)
    drawn = draw(table, rows, rng)
    for row in range(3):
        held = np.bincount(drawn[rows == row], minlength=5)
        assert (np.abs(np.cumsum(held) - np.cumsum(table[row]) * held.sum()) < 1 + 1e-6).all()


def test_levels_are_drawn_from_their_tile_alone() -> None:
    tiles = Tiles("a", (0, 0, 1, 2, 1))
    tile = np.random.default_rng(0).integers(0, 3, 3_000)
    levels = draw_levels(tiles, even(tiles), tile, np.random.default_rng(1))
    assert levels.dtype == np.uint16
    np.testing.assert_array_equal(tiles.table[levels], tile)
    held = np.bincount(levels, minlength=5)
    assert abs(int(held[0]) - int(held[1])) <= 1
    assert abs(int(held[2]) - int(held[4])) <= 1


def test_levels_of_a_tile_are_even_where_nothing_tells_them_apart() -> None:
    np.testing.assert_allclose(even(Tiles("a", (0, 0, 1, 2, 1))), [0.5, 0.5, 0.5, 1.0, 0.5])
