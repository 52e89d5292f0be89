"""Movable points: blind starts, parts that are the whole, and rows once they are settled."""

import numpy as np
import pytest
import torch

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features import Concat, FeatureMap, OneHot, RandomFourier, Records
from pointillist.generators.points.movable_points import MovablePoints, on_grid, settled, soft_columns
from pointillist.schema.levels import levels_of

MAPS = [Concat((OneHot("kind", 3), RandomFourier.draw(("size",), 4, 0.5, seed=0)))]


def blind(shapes_schema: pt.Schema, *, equal: bool = False) -> MovablePoints:
    columns = soft_columns(MAPS, levels_of(shapes_schema))
    shares = np.array([0.8, 0.2, 0.0])
    return MovablePoints.blind(columns, 30, label="kind", shares=shares, tables=(), equal=equal, seed=0)


def test_rare_classes_get_more_points_of_less_weight(shapes_schema: pt.Schema) -> None:
    for equal, rare in ((True, 6), (False, 10)):
        points = blind(shapes_schema, equal=equal)
        counts = points.fixed["kind"].sum(dim=0)
        assert abs(int(counts[1]) - rare) <= 1
        assert counts[2] == 0
        _, weights = settled([points], np.random.default_rng(0))
        assert weights[points.fixed["kind"][:, 1].numpy() > 0].sum() == pytest.approx(0.2, abs=0.04)


def test_parts_are_the_whole(shapes_schema: pt.Schema) -> None:
    points = blind(shapes_schema)
    parts = points.parts(7)
    assert [len(part) for part in parts] == [7, 7, 7, 7, 2]
    assert torch.equal(torch.cat([part.places["size"] for part in parts]), points.places["size"])


def test_settled_points_are_rows_of_the_schema(shapes_schema: pt.Schema) -> None:
    records, weights = settled(blind(shapes_schema).parts(7), np.random.default_rng(0))
    assert records.rows == 30
    assert weights.sum() == pytest.approx(1.0)
    for each in levels_of(shapes_schema):
        assert records.codes[each.name].max() < each.size
        assert (each.name in records.units) == each.numeric


def test_numbers_are_placed_on_their_grid(schema: pt.Schema) -> None:
    age = next(each for each in levels_of(schema) if each.name == "age")
    codes, units = on_grid(age, np.zeros(3, dtype=np.uint16), np.array([0.0, 0.1234, 1.0]), moved=True)
    np.testing.assert_allclose(units * 110, [0, 14, 110])
    assert np.array_equal(codes, np.searchsorted(age.edges[1:-1], [0, 14, 110], side="right"))


def test_a_map_without_a_gradient_is_named(shapes_schema: pt.Schema) -> None:
    class Strange(FeatureMap):
        dimension, bound, nonnegative, parts = 1, 1.0, False, ()  # type: ignore[assignment]

        def __call__(self, records: Records) -> np.ndarray:  # type: ignore[type-arg]
            return np.zeros((records.rows, 1))

        def expectation(self, products: object) -> np.ndarray:  # type: ignore[type-arg]
            return np.zeros((1, 1))

        def describe(self) -> dict[str, object]:
            return {}

    with pytest.raises(UsageError, match="points cannot be moved under Strange features"):
        soft_columns([Strange()], levels_of(shapes_schema))
