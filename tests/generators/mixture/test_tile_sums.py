"""Tile sums: what a matrix product gives, at the cost of the entries that are not zero."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pointillist.generators.mixture.tile_sums import TileSums


@given(seed=st.integers(0, 1000), tiles=st.integers(1, 9), sums=st.integers(1, 6))
def test_sums_and_slopes_are_those_of_the_matrix(seed: int, tiles: int, sums: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = rng.integers(-1, 2, (tiles, sums))
    table, slope = rng.random((4, tiles), dtype=np.float32), rng.random((4, sums), dtype=np.float32)
    made = TileSums(matrix)
    np.testing.assert_allclose(made.of(table), table @ matrix, atol=1e-5)
    to_table = table.copy()
    made.add_back(slope, to_table)
    np.testing.assert_allclose(to_table, table + slope @ matrix.T, atol=1e-5)
