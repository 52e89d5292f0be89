"""Domain points: rows of the schema, spread over all that it allows, and a hash of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.shapes import SHAPES

import pointillist as pt
from pointillist.generators.points.points import Points
from pointillist.methods.domain_points import domain_points, fingerprint
from pointillist.schema.levels import levels_of


@given(count=st.integers(1, 300), seed=st.integers(0, 99))
def test_domain_points_are_rows_of_the_schema(count: int, seed: int) -> None:
    levels = levels_of(SHAPES)
    points = domain_points(levels, count, seed=seed)
    table = Points(points, np.full(count, 1 / count)).table(levels)
    again = pt.public_points(table, SHAPES)
    for each in levels:
        np.testing.assert_array_equal(again.codes[each.name], points.codes[each.name])
        if each.numeric:
            np.testing.assert_allclose(again.units[each.name], points.units[each.name], atol=1e-9)


def test_domain_points_of_every_kind_of_column(schema: pt.Schema) -> None:
    levels = levels_of(schema)
    points = domain_points(levels, 2048, seed=0)
    again = pt.public_points(Points(points, np.full(2048, 1 / 2048)).table(levels), schema)
    for each in levels:
        np.testing.assert_array_equal(again.codes[each.name], points.codes[each.name])
        counts = np.bincount(points.codes[each.name], minlength=each.size)
        if not each.numeric:
            assert counts.min() > 0.9 * 2048 / each.size  # low discrepancy: equally frequent, to a few
        else:
            assert counts[each.regular :].min(initial=2048) > 100  # special values and gaps are there
    other = domain_points(levels, 2048, seed=1)
    assert fingerprint(points) != fingerprint(other)
    assert fingerprint(points) == fingerprint(domain_points(levels, 2048, seed=0))
