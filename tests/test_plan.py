"""Plan: what is settled before the data are touched, and what a release keeps of it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pointillist as pt
from pointillist.plan import Plan, PublishedPlan
from pointillist.privacy.grid import Grid

EARLIER = sorted((Path(__file__).parent / "data" / "earlier").glob("*.release"))
SCHEMA = pt.Schema(name="t", rows=500, columns={"a": pt.Categorical(categories=("x", "y")), "b": pt.Real(min=0, max=1)})


@pytest.fixture(params=["mosaic", "merf", "hermite"])
def plan(request: pytest.FixtureRequest) -> Plan:
    return pt.plan(SCHEMA, epsilon=1.0, target="a", method=request.param)


def sums(plan: Plan) -> list[tuple[Grid, float]]:
    return [(each.grid, plan.sigma(number)) for number, each in enumerate(plan.rounds)]


def test_what_is_published_is_what_was_planned(plan: Plan) -> None:
    found = plan.published()
    assert (found.method, found.options, found.targets) == (plan.method, plan.options, ("a",))
    assert (found.expected, found.notes) == (plan.expected, plan.notes)
    for number, (each, planned) in enumerate(zip(found.rounds, plan.rounds, strict=True)):
        assert (each.share, each.grid, each.sigma) == (planned.share, planned.grid, plan.sigma(number))
        assert [block.noise_rows for block in each.blocks] == [plan.noise_rows(number, b) for b in planned.blocks]
    assert found.share <= 1 + 1e-9
    found.check(SCHEMA, sums(plan))


def test_it_comes_back_from_json_as_it_was(plan: Plan) -> None:
    written = json.dumps(plan.to_json())
    back = PublishedPlan.from_json(json.loads(written))
    assert replace(back, options=plan.options) == plan.published()  # lists in a file may have been tuples
    assert json.dumps(back.to_json()) == written


@pytest.mark.parametrize("path", EARLIER, ids=lambda p: p.stem)
def test_plans_of_earlier_files_are_values(path: Path) -> None:
    release = pt.Release.load(path)
    assert release.plan.method == release.method
    assert PublishedPlan.from_json(release.summary()["plan"]) == release.plan


def test_the_first_releases_had_no_forecast(plan: Plan) -> None:
    facts = plan.to_json()
    del facts["expected"]
    assert PublishedPlan.from_json(facts).expected == ()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda facts: facts.update(method=""),
        lambda facts: facts.update(options=[]),
        lambda facts: facts.update(targets=["a", "a"]),
        lambda facts: facts.update(notes="one"),
        lambda facts: facts["rounds"][0].update(share=0),
        lambda facts: facts["rounds"][0].update(bits=27),
        lambda facts: facts["rounds"][0]["blocks"][0].update(weight=2.0),
        lambda facts: facts["rounds"][0]["blocks"][0].update(count=0),
        lambda facts: facts["rounds"][0]["blocks"][0].update(counts=1),
        lambda facts: facts["rounds"][0]["blocks"][0].update(expected_error=-1),
        lambda facts: facts.update(expected=[{"name": "pairs", "error": -1, "factor": 2}]),
    ],
)
def test_facts_that_are_no_plan_are_refused(plan: Plan, spoil: Callable[[dict[str, Any]], None]) -> None:
    facts = json.loads(json.dumps(plan.to_json()))
    spoil(facts)
    with pytest.raises(ValueError, match=r"."):
        PublishedPlan.from_json(facts)


def test_a_plan_of_other_sums_is_refused(plan: Plan) -> None:
    found, made = plan.published(), sums(plan)
    first = found.rounds[0]
    with pytest.raises(ValueError, match="as many as measurements"):
        found.check(SCHEMA, made[:-1])
    with pytest.raises(ValueError, match="those of its measurement"):
        found.check(SCHEMA, [(made[0][0], 2 * made[0][1]), *made[1:]])
    with pytest.raises(ValueError, match="not a measured column"):
        replace(found, targets=("height",)).check(SCHEMA, made)
    louder = replace(first, blocks=(replace(first.blocks[0], noise_rows=2 * first.blocks[0].noise_rows),))
    with pytest.raises(ValueError, match="noise_rows"):
        replace(found, rounds=(louder, *found.rounds[1:])).check(SCHEMA, made)
    with pytest.raises(ValueError, match="more than the budget"):
        replace(found, rounds=(*found.rounds, replace(first, share=0.5))).check(SCHEMA, [*made, made[0]])
