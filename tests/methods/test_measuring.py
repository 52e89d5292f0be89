"""Measuring: a round's map is what the plan promised, and a plan states what was measured."""

import numpy as np
import pytest
from tests.fixtures.owners import WARDS

import pointillist as pt
from pointillist.features import Concat, OneHot, Weighted
from pointillist.methods.measuring import as_measured, require_planned
from pointillist.release import Measurement

PLAN = pt.plan(WARDS, epsilon=1.0)
RECIPE = pt.Mosaic()
FIRST = RECIPE.feature_map(PLAN, ())


def test_the_map_of_a_plan_is_what_it_says() -> None:
    require_planned(FIRST, PLAN.rounds[0])


def test_a_map_that_is_longer_or_larger_than_planned_is_refused() -> None:
    long = Concat((Weighted(OneHot("sex", 2), 1.0), Weighted(OneHot("ill", 2), 1.0)))
    for feature_map in (long, OneHot("sex", PLAN.rounds[0].dimension + 1)):
        with pytest.raises(RuntimeError, match="not what its plan says"):
            require_planned(feature_map, PLAN.rounds[0])


def test_a_plan_states_the_tables_that_were_chosen() -> None:
    measured: list[Measurement] = []
    for number, each in enumerate(PLAN.rounds):
        feature_map = RECIPE.feature_map(PLAN, measured)
        values = np.full(feature_map.dimension, 10 << each.grid.bits, dtype=np.int64)
        measured.append(Measurement(feature_map, values, each.grid, PLAN.sigma(number)))
    made = as_measured(PLAN, RECIPE, measured)
    assert [each.dimension for each in made.rounds] == [each.feature_map.dimension for each in measured]
    assert made.guarantee == PLAN.guarantee


def test_a_method_that_chooses_nothing_keeps_its_plan() -> None:
    recipe = pt.Merf(features=10)
    plan = pt.plan(pt.Schema(name="one", columns={"x": pt.Real(min=0, max=1)}), epsilon=1.0, method=recipe)
    assert as_measured(plan, recipe, ()) is plan
