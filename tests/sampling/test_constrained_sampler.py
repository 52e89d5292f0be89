"""Constrained sampler: rows chosen by weight, mended inside their tiles, and refused where there are none."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.generators.mixture.mixture import Mixture
from pointillist.sampling.condition import Condition
from pointillist.sampling.constrained_sampler import ConstrainedSampler, Unreachable, draw_by_weight
from pointillist.sampling.constraints import Rules

SCHEMA = pt.Schema(
    name="stays",
    columns={
        "sex": pt.Categorical(categories=("F", "M"), missing=False, out_of_domain="error"),
        "pregnant": pt.Boolean(),
        "low": pt.Real(min=0, max=10, special=(-1.0,), bins=16),
        "high": pt.Real(min=0, max=12, decimals=1, bins=16),
        "ward": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
    },
)


@pytest.fixture(scope="module")
def model(random_model: Callable[..., pt.Model]) -> pt.Model:
    return random_model(SCHEMA, seed=1)


@given(
    weights=st.lists(st.floats(0.05, 1.0), min_size=20, max_size=60), share=st.floats(0.05, 0.6), seed=st.integers(0, 9)
)
def test_rows_are_chosen_by_weight_to_within_one(weights: list[float], share: float, seed: int) -> None:
    values = np.array(weights)
    count = int(share * len(values))
    chosen = np.bincount(draw_by_weight(values, count, np.random.default_rng(seed)), minlength=len(values))
    assert chosen.sum() == count
    expected = values * count / values.sum()
    if expected.max() < 2:
        assert (np.abs(chosen - expected) < 1 + 1e-9).all()
    assert chosen.max() <= 3


def test_mending_keeps_the_tiles(model: pt.Model) -> None:
    """What the model knows is the tile: numbers that are drawn again stay in theirs."""
    constrained = model.constrained({"rule": "low <= high"})
    sampler = ConstrainedSampler(
        model.levels, model.generator, Condition({}), Rules.of(constrained.schema.constraints, model.levels)
    )
    assert isinstance(model.generator, Mixture)
    wanted = model.generator.sample(5_000, np.random.default_rng(0))
    kept = {name: values.copy() for name, values in wanted.codes.items()}
    candidates, broken = sampler.mended(wanted, np.random.default_rng(1))
    for name, tiles in model.generator.tiles.items():
        np.testing.assert_array_equal(wanted.codes[name], kept[name])  # what is wanted is not touched
        np.testing.assert_array_equal(tiles.table[candidates.records.codes[name]], tiles.table[kept[name]])
    changed = candidates.records.codes["low"] != kept["low"]
    assert changed.any()
    assert not broken[changed].any()


def test_without_a_condition_nothing_is_made_anew(model: pt.Model) -> None:
    sampler = ConstrainedSampler.of(model.levels, model.generator, ())
    assert sampler.under(Condition({}), np.random.default_rng(0)) is sampler
    assert sampler.raking is None
    sample = sampler.sample(50, np.random.default_rng(0))
    assert (len(sample), dict(sample.numbers)) == (50, {})


def test_what_rules_and_condition_leave_out_is_unreachable(model: pt.Model) -> None:
    rules = (pt.Impossible(impossible={"sex": "M", "pregnant": True}),)
    sampler = ConstrainedSampler.of(model.levels, model.generator, rules)
    both = Condition.of(model.levels, {"sex": "M", "pregnant": True})
    with pytest.raises(Unreachable, match="rule out almost every row"):
        sampler.under(both, np.random.default_rng(0))
    found = sampler.sample(500, np.random.default_rng(0))
    assert set(found.numbers) == {"low", "high"}  # all settled: nothing may break a rule afterwards
    codes = found.records.codes
    assert not ((codes["sex"] == 1) & (codes["pregnant"] == 1)).any()
