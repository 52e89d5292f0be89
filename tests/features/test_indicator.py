"""Indicators: tiles of a column, the look-up of its levels, and how fine tiles add up to coarse ones."""

import numpy as np
import pytest

from pointillist.features import OneHot, Records, Tiles
from pointillist.features.indicator import MOST_LEVELS, aggregation, one_hot


@pytest.mark.parametrize(
    "tile_of",
    [(), (1, 2), (0, 2), (-1, 0), (0,) * (MOST_LEVELS + 1)],
    ids=["none", "not 0", "a gap", "below 0", "too many"],
)
def test_tiles_are_numbered_from_0_without_gaps(tile_of: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"levels|tiles"):
        Tiles("a", tile_of)


def test_levels_are_looked_up() -> None:
    tiles = Tiles("b", (0, 0, 1, 2, 1))
    column, table = tiles.lookup
    codes = np.array([4, 0, 3], dtype=np.uint16)
    assert column == "b"
    np.testing.assert_array_equal(table[codes], tiles.cells(Records(3, {"b": codes}, {})))
    assert (tiles.dimension, tiles.levels_held) == (3, 5)


def test_a_one_hot_map_is_no_other_map_of_the_same_tiles() -> None:
    assert OneHot("a", 3) == OneHot("a", 3)
    assert OneHot("a", 3) != Tiles("a", (0, 1, 2))


def test_fine_tiles_add_up_to_coarse_ones() -> None:
    fine, coarse = OneHot("a", 4), Tiles("a", (0, 0, 1, 1))
    np.testing.assert_array_equal(aggregation(fine, coarse), [[1, 0], [1, 0], [0, 1], [0, 1]])
    with pytest.raises(ValueError, match="do not nest"):
        aggregation(coarse, Tiles("a", (0, 1, 1, 0)))


def test_one_hot_of_no_cells() -> None:
    assert one_hot(np.zeros(0, dtype=np.int64), 3).shape == (0, 3)
