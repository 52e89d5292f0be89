"""Forecasts of mosaic: there before anything is spent, and near what comes."""

from collections.abc import Callable

import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.sample import read
from pointillist.methods.mosaic_forecast import STRONGEST

People = Callable[..., pa.Table]


def test_a_plan_says_what_error_to_expect_of_synthetic_rows(schema: pt.Schema) -> None:
    """Before anything is spent; the more budget, the less."""
    found = [pt.plan(schema, epsilon=epsilon, target="sex").expected for epsilon in (0.1, 1.0, 10.0)]
    for each in found:
        assert [expected.name for expected in each] == ["one-way marginals", "pairs of columns", STRONGEST]
        assert all(0 < expected.error <= 1 for expected in each)
    for number in range(3):
        errors = [each[number].error for each in found]
        assert errors == sorted(errors, reverse=True)
    assert pt.plan(schema.model_copy(update={"rows": None}), epsilon=1.0).expected == ()


def test_the_expectation_is_near_what_comes(schema: pt.Schema, people: People) -> None:
    """On a table that the rule was not found on. The factor is twice the stated one: this is one table, and noise."""
    table = people(schema.rows)
    release = pt.release(table, schema, epsilon=1.0)
    real, made = read(table, schema), read(pt.fit(release).sample(schema.rows, seed=0), schema)
    for order, expected in enumerate(release.plan.expected[:2], start=1):
        ratio = marginals(real, made, order).mean / expected.error
        assert 1 / (2 * expected.factor) < ratio < 2 * expected.factor
