"""Raking: weights that bring possible rows back to the columns of all rows."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pointillist as pt
from pointillist.sampling.constraints import Rules
from pointillist.sampling.raking import Raking, margins_of
from pointillist.schema.levels import levels_of

ModelOf = Callable[..., pt.Model]
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


@given(seed=st.integers(0, 30))
@settings(max_examples=10)
def test_raking_meets_every_column(random_model: ModelOf, seed: int) -> None:
    """Where the rule can be made up for, the weighted possible rows have the columns of all rows, to 0.001."""
    model = random_model(SCHEMA, seed=seed).constrained({"impossible": {"sex": "F", "ward": "a", "pregnant": True}})
    rules = Rules.of(model.schema.constraints, model.levels)
    rng = np.random.default_rng(seed)
    wanted = model.generator.sample(20_000, rng).codes
    broken = rules.broken(wanted, {})
    possible = {name: values[~broken] for name, values in wanted.items()}
    raking = Raking.fit(*margins_of(model.levels, rules, wanted), wanted, possible)
    assert raking.kept == pytest.approx(np.mean(~broken))
    weights = raking.weights(possible)
    for each in model.levels:
        now = np.bincount(possible[each.name], weights=weights, minlength=each.size) / weights.sum()
        truth = np.bincount(wanted[each.name], minlength=each.size) / len(broken)
        assert 0.5 * np.abs(now - truth).sum() < 0.005


def test_pairs_are_of_columns_that_no_rule_ties() -> None:
    levels = levels_of(SCHEMA)
    rules = Rules.of((pt.Impossible(impossible={"sex": "M", "pregnant": True}),), levels)
    wanted = {each.name: (np.arange(200) % each.size).astype(np.uint16) for each in levels}
    columns, pairs = margins_of(levels, rules, wanted)
    assert [list(each.groups) for each in columns] == [[name] for name in SCHEMA.columns]
    found = [frozenset(each.groups) for each in pairs]
    assert frozenset(("sex", "pregnant")) not in found
    assert frozenset(("sex", "ward")) in found
    assert frozenset(("low", "ward")) not in found
