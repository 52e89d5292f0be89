"""The cells of a table of counts: what a formula comes to in each, and how much it varies there."""

import numpy as np
import pytest

import pointillist as pt
from pointillist.features import OneHot, Tiles
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings
from pointillist.inference.cell_grid import CellGrid, cells_of, rows_at
from pointillist.schema.levels import levels_of

LEVELS = {
    each.name: each
    for each in levels_of(
        pt.Schema(
            name="cells",
            columns={
                "size": pt.Real(min=0, max=8, bins=256, missing=False),
                "width": pt.Real(min=0, max=4, bins=256, missing=False),
                "kind": pt.Categorical(categories=("a", "b"), missing=False),
            },
        )
    )
}
HALVES = {name: Tiles(name, tuple((np.arange(LEVELS[name].size) >= 128).astype(int))) for name in ("size", "width")}


def grid(*leaves: Tiles) -> CellGrid | None:
    table = Table(leaves, np.zeros([leaf.dimension for leaf in leaves]), 1.0)
    return CellGrid.of(Readings((table,), None), LEVELS, [leaf.column for leaf in leaves])


def test_a_formula_is_tried_between_the_ends_of_every_cell() -> None:
    found = grid(HALVES["size"], OneHot("kind", LEVELS["kind"].size))
    assert found is not None
    low, high = found.ends(found.table["size"].to_numpy())
    assert low.reshape(found.shape)[:, 0] == pytest.approx([0, 4], abs=1e-3)
    assert high.reshape(found.shape)[:, 0] == pytest.approx([4, 8], abs=1e-3)


def test_two_fine_columns_are_tried_at_a_few_places_of_each_tile_its_ends_among_them() -> None:
    found = grid(HALVES["size"], HALVES["width"])
    assert found is not None
    assert found.table.num_rows == (2 * 7) ** 2  # and not (256 * 5) ** 2
    low, high = found.ends(found.table["size"].to_numpy() * found.table["width"].to_numpy())
    assert low == pytest.approx([0, 0, 0, 8], abs=1e-2)
    assert high == pytest.approx([8, 16, 16, 32], abs=1e-2)


def test_rows_say_where_a_cells_mean_lies_and_places_where_there_are_none() -> None:
    found = grid(HALVES["size"], OneHot("kind", LEVELS["kind"].size))
    assert found is not None
    tried = found.table["size"].to_numpy()
    codes = {"size": np.full(50, 10, dtype=np.uint16), "kind": np.zeros(50, dtype=np.uint16)}
    values, weights = np.tile([0.2, 0.4], 25), np.full(50, 1 / 50)
    means, held = found.shown(tried, values, codes, weights)
    first = cells_of(found.tiles, codes)[0]
    assert (means[first], held[first]) == pytest.approx((0.3, 1.0))
    assert held.sum() == pytest.approx(1)
    assert means.reshape(found.shape)[1, 1] == pytest.approx(6, abs=0.01)  # no rows: the middle of its places
    spread = found.spread(tried, values, codes, weights).reshape(found.shape)
    assert 0.1 < spread.ravel()[first] < 0.5  # 50 rows say 0.1, the width of the cell has a small part in it
    assert spread[1, 1] == pytest.approx(4 / np.sqrt(12), rel=0.1)


def test_columns_that_no_table_holds_have_no_grid() -> None:
    assert CellGrid.of(Readings((), None), LEVELS, ["size", "kind"]) is None


def test_rows_at_levels_have_their_values() -> None:
    table = rows_at(LEVELS, {"size": np.array([0, 255], dtype=np.uint16)}, {"size": np.array([0.5, 0.5])})
    assert table["size"].to_pylist() == pytest.approx([8 / 512, 8 - 8 / 512])
    assert table["kind"].to_pylist() == ["a", "a"]
