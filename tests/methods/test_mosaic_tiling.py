import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.features import Tiles
from pointillist.methods.mosaic_tiling import Tilings, coarsen, suiting_cells, suiting_tiles, tile, tilings
from pointillist.schema import Boolean, Categorical, Integer, Ordinal, Real
from pointillist.schema.levels import Levels, coarse

MANY = settings(deadline=None, max_examples=100)

ORDERED = [
    Integer(min=0, max=60),
    Integer(min=0, max=60, special=(-1, 99), missing=False),
    Real(min=0, max=1, bins=100, special=(0.0,)),
    Ordinal(categories=tuple("abcdefghij")),
    Ordinal(categories=("low", "high"), missing=False, out_of_domain="error"),
]
UNORDERED = [
    Categorical(categories=tuple(f"c{n}" for n in range(50))),
    Categorical(categories=("a", "b"), missing=False, out_of_domain="error"),
    Categorical(categories=("only",), missing=False, out_of_domain="error"),
    Boolean(),
]


@st.composite
def measured(draw: st.DrawFn, columns: list[Any]) -> tuple[Levels, Any]:
    """A column, and masses for its levels: some even, some with few heavy levels, some with none at all."""
    levels = Levels("x", draw(st.sampled_from(columns)))
    mass = st.sampled_from([0.0, 0.0, 1.0, 100.0, 1e4]) | st.floats(0, 1000)
    masses = draw(st.lists(mass, min_size=levels.size, max_size=levels.size))
    return levels, np.array(masses)


smallest = st.sampled_from([1e-3, 1.0, 50.0, 1e9]) | st.floats(0.001, 2000)
most = st.integers(1, 40)


def atoms_of(levels: Levels) -> int:
    return levels.size - levels.regular


class TestTile:
    @MANY
    @given(measured(ORDERED), smallest, most)
    def test_ordered_columns(self, column: tuple[Levels, Any], smallest: float, most: int) -> None:
        levels, masses = column
        tiles = tile(levels, masses, smallest, most)
        assert tiles.column == "x"
        assert len(tiles.tile_of) == levels.size
        regular = tiles.tile_of[: levels.regular]
        assert regular[0] == 0
        assert all(0 <= b - a <= 1 for a, b in itertools.pairwise(regular))
        atoms = tiles.tile_of[levels.regular :]
        assert list(atoms) == list(range(regular[-1] + 1, regular[-1] + 1 + atoms_of(levels)))

    @MANY
    @given(measured(ORDERED), smallest, most)
    def test_ordered_columns_have_no_more_tiles_than_allowed(
        self, column: tuple[Levels, Any], smallest: float, most: int
    ) -> None:
        levels, masses = column
        tiles = tile(levels, masses, smallest, most)
        assert tiles.dimension <= most + atoms_of(levels)

    @MANY
    @given(measured(UNORDERED), smallest, most)
    def test_other_columns(self, column: tuple[Levels, Any], smallest: float, most: int) -> None:
        levels, masses = column
        tiles = tile(levels, masses, smallest, most)
        assert len(tiles.tile_of) == levels.size
        assert tiles.dimension <= min(levels.size, max(most, 1))
        alone = [level for level in range(levels.size) if tiles.tile_of.count(tiles.tile_of[level]) == 1]
        shared = [level for level in range(levels.size) if level not in alone]
        assert len({tiles.tile_of[level] for level in shared}) <= 1
        if shared and alone:
            assert masses[shared].max() <= masses[alone].max()

    def test_a_heavy_level_keeps_its_own_tile(self) -> None:
        levels = Levels("x", Integer(min=0, max=9, missing=False))
        masses = np.array([1.0, 1, 1, 1, 500, 1, 1, 1, 1, 1])
        tiles = tile(levels, masses, 3.0, 5)
        assert tiles.tile_of.count(tiles.tile_of[4]) == 1

    def test_even_masses_give_even_tiles(self) -> None:
        levels = Levels("x", Integer(min=0, max=159, missing=False))
        assert np.bincount(tile(levels, np.ones(160), 1.0, 32).tile_of).tolist() == [5] * 32
        assert np.bincount(tile(levels, np.ones(160), 1.0, 16).tile_of).tolist() == [10] * 16
        assert np.bincount(tile(levels, np.ones(160), 20.0, 32).tile_of).tolist() == [20] * 8

    def test_tiles_follow_public_bins(self) -> None:
        """A heavy bin is cut, and its edges stay edges; light bins are joined."""
        levels = Levels("x", Integer(min=0, max=159, missing=False))
        masses = np.ones(160)
        masses[40:50] = 100
        tiles = np.array(tile(levels, masses, 30.0, 32).tile_of)
        assert len(set(tiles[40:50])) >= 5
        assert (coarse(levels)[40:50] == 4).all()
        assert tiles[39] != tiles[40]
        assert tiles[49] != tiles[50]
        assert np.bincount(tiles, weights=masses).min() >= 30

    def test_enough_mass_keeps_every_level(self) -> None:
        levels = Levels("x", Integer(min=0, max=9))
        assert tile(levels, np.full(11, 100.0), 5.0, 32).tile_of == tuple(range(11))
        named = Levels("x", Categorical(categories=("a", "b", "c")))
        assert tile(named, np.full(5, 100.0), 5.0, 32).tile_of == tuple(range(5))

    @pytest.mark.parametrize("column", [ORDERED[0], UNORDERED[0]])
    def test_no_mass_is_too_small(self, column: Any) -> None:
        levels = Levels("x", column)
        assert tile(levels, np.ones(levels.size), 0.0, 100).tile_of == tuple(range(levels.size))

    def test_rare_categories_share_a_tile(self) -> None:
        levels = Levels("x", Categorical(categories=("a", "b", "c", "d"), missing=False))
        assert tile(levels, np.array([50.0, 1, 2, 60, 0]), 10.0, 32).tile_of == (0, 2, 2, 1, 2)

    def test_light_tiles_grow_until_they_hold_enough(self) -> None:
        levels = Levels("x", Integer(min=0, max=99, missing=False))
        tiles = tile(levels, np.ones(100), 20.0, 32)
        assert np.bincount(tiles.tile_of).min() >= 19


class TestCoarsen:
    @MANY
    @given(measured(ORDERED + UNORDERED), smallest, most, most)
    def test_every_coarse_tile_is_a_union_of_fine_ones(
        self, column: tuple[Levels, Any], smallest: float, fine_most: int, most: int
    ) -> None:
        levels, masses = column
        fine = tile(levels, masses, smallest, fine_most)
        coarse = coarsen(fine, levels, masses, most)
        assert isinstance(coarse, Tiles)
        assert coarse.column == fine.column
        assert len(coarse.tile_of) == levels.size
        pairs = set(zip(fine.tile_of, coarse.tile_of, strict=True))
        assert len(pairs) == fine.dimension
        assert coarse.dimension <= fine.dimension

    @MANY
    @given(measured(ORDERED + UNORDERED), smallest, most, most)
    def test_has_no_more_tiles_than_allowed(
        self, column: tuple[Levels, Any], smallest: float, fine_most: int, most: int
    ) -> None:
        levels, masses = column
        coarse = coarsen(tile(levels, masses, smallest, fine_most), levels, masses, most)
        assert coarse.dimension <= most + (atoms_of(levels) if levels.ordered else 0)

    @MANY
    @given(measured(ORDERED), most)
    def test_atoms_keep_their_own_tile(self, column: tuple[Levels, Any], most: int) -> None:
        levels, masses = column
        coarse = coarsen(tile(levels, masses, 0.001, 40), levels, masses, most)
        for level in range(levels.regular, levels.size):
            assert coarse.tile_of.count(coarse.tile_of[level]) == 1

    def test_few_tiles_stay_as_they_are(self) -> None:
        levels = Levels("x", Categorical(categories=("a", "b", "c")))
        fine = tile(levels, np.full(5, 9.0), 1.0, 32)
        assert coarsen(fine, levels, np.full(5, 9.0), 8) == fine

    def test_the_heaviest_stay_alone(self) -> None:
        levels = Levels("x", Categorical(categories=("a", "b", "c", "d"), missing=False, out_of_domain="error"))
        masses = np.array([5.0, 50, 1, 40])
        fine = tile(levels, masses, 0.5, 32)
        assert coarsen(fine, levels, masses, 3).tile_of == (2, 0, 2, 1)


class TestTilings:
    @MANY
    @given(measured(ORDERED), smallest, st.integers(2, 32), st.integers(2, 32))
    def test_finer_tiles_lie_inside_coarser_ones(
        self, column: tuple[Levels, Any], smallest: float, usual: int, most: int
    ) -> None:
        found = tilings(*column, smallest, usual, most)
        every = [found.usual, *found.finer]
        for coarser, finer in itertools.pairwise(every):
            inside = dict(zip(finer.tile_of, coarser.tile_of, strict=True))
            assert [inside[tile] for tile in finer.tile_of] == list(coarser.tile_of)
            assert finer.dimension >= coarser.dimension
        assert found.usual.dimension <= usual + atoms_of(column[0])

    @MANY
    @given(measured(UNORDERED), smallest, st.integers(2, 32))
    def test_categories_have_one_tiling(self, column: tuple[Levels, Any], smallest: float, most: int) -> None:
        assert tilings(*column, smallest, 8, most) == Tilings(tile(*column, smallest, most))

    def test_few_categories_leave_room_for_more_tiles(self) -> None:
        levels = Levels("x", Integer(min=0, max=999, missing=False))
        number = tilings(levels, np.ones(levels.size), 1.0, 8, 32)
        sex, town = (Tilings(Tiles(name, tuple(range(size)))) for name, size in (("sex", 2), ("town", 20)))
        assert [suiting_tiles(number, each, 64.0)[0].dimension for each in (sex, town, number)] == [32, 8, 8]

    def test_dependence_leaves_room_for_more_cells(self) -> None:
        assert suiting_cells(100.0, 0.0, 16.0) == pytest.approx(80.0)
        assert suiting_cells(320.0, 0.0, 16.0) == pytest.approx(400.0)
        assert suiting_cells(100.0, 0.8, 16.0) == pytest.approx(80.0 / np.cos(0.4 * np.pi))
        assert suiting_cells(100.0, 1.0, 16.0) == pytest.approx(80.0**1.5)
