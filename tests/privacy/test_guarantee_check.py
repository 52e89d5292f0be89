"""What a release promises follows from its noise, or it is refused."""

import math
from dataclasses import replace

import pytest

import pointillist as pt
from pointillist.plan import Plan
from pointillist.privacy.exponential import exponential_mu
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.guarantee_check import Noisy, require_noise, require_promise


def planned(
    neighbours: str = "add-remove", rows: int | None = None, epsilon: float = 1.0, method: str = "merf"
) -> Plan:
    person = None if rows is None else {"column": "p", "max_rows": rows}
    columns = {"a": pt.Categorical(categories=("x", "y")), "b": pt.Real(min=0, max=1)}
    schema = pt.Schema(name="t", rows=500, person=person, columns=columns)
    return pt.plan(schema, epsilon=epsilon, neighbours=neighbours, method=method)


def noisy(plan: Plan, number: int) -> Noisy:
    each = plan.rounds[number]
    return Noisy(each.grid, plan.sigma(number), each.dimension, each.nonnegative, each.positive)


@pytest.mark.parametrize("method", ["mosaic", "merf", "hermite"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("rows", [None, 1, 7])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_plans_keep_their_promise_and_no_better_one(
    method: str, neighbours: str, rows: int | None, epsilon: float
) -> None:
    plan = planned(neighbours, rows, epsilon, method)
    sums = [noisy(plan, number) for number in range(len(plan.rounds))]
    spent = math.fsum(each.share for each in plan.rounds)
    require_noise(plan.guarantee, sums, spent)
    for number in range(len(sums)):
        less = [*sums[:number], replace(sums[number], sigma=0.99 * sums[number].sigma), *sums[number + 1 :]]
        with pytest.raises(ValueError, match="more than its noise gives"):
            require_noise(plan.guarantee, less, spent)
    for better in ({"epsilon": 0.99 * epsilon}, {"delta": 0.99e-5}, {"mu": 0.99 * plan.guarantee.mu}):
        with pytest.raises(ValueError, match="its guarantee"):
            require_noise(replace(plan.guarantee, **better), sums, spent)


def test_another_relation_or_unit_asks_for_more_noise() -> None:
    plan = planned("add-remove", 2)
    sums = [noisy(plan, number) for number in range(len(plan.rounds))]
    person = plan.guarantee.person
    assert person is not None
    for other in (
        {"neighbours": Neighbours.REPLACE_ONE},
        {"person": person.model_copy(update={"max_rows": 3})},
    ):
        with pytest.raises(ValueError, match="promises more than its noise gives"):
            require_noise(replace(plan.guarantee, **other), sums, 1.0)


def test_features_that_may_be_negative_ask_for_more_noise() -> None:
    plan = planned("replace-one", method="mosaic")
    sums = [replace(noisy(plan, number), nonnegative=False) for number in range(len(plan.rounds))]
    with pytest.raises(ValueError, match="promises more than its noise gives"):
        require_noise(plan.guarantee, sums, 1.0)


def test_a_worse_promise_than_the_noise_gives_is_no_promise_of_it() -> None:
    plan = planned()
    sums = [replace(noisy(plan, number), sigma=2 * plan.sigma(number)) for number in range(len(plan.rounds))]
    with pytest.raises(ValueError, match="contradicts its noise"):
        require_noise(plan.guarantee, sums, 1.0)
    for worse in ({"epsilon": 2.0}, {"delta": 1e-4}):
        with pytest.raises(ValueError, match="is not that of its epsilon and delta"):
            require_promise(replace(plan.guarantee, **worse))


def test_the_grid_has_its_price() -> None:
    plan = planned()
    sums = [noisy(plan, number) for number in range(len(plan.rounds))]
    with pytest.raises(ValueError, match="what the grid of its noise costs"):
        require_noise(replace(plan.guarantee, epsilon_slack=0.0), sums, 1.0)


def test_a_choice_has_no_delta_and_a_release_does() -> None:
    choice = Guarantee(1.0, 0.0, Neighbours.REPLACE_ONE, None, exponential_mu(1.0), 0.0, 0.0)
    require_promise(choice)
    assert Guarantee.from_json(choice.to_json()) == choice
    with pytest.raises(ValueError, match="not that of its epsilon"):
        require_promise(replace(choice, epsilon=0.5))
    with pytest.raises(ValueError, match="not that of its epsilon"):
        require_promise(replace(choice, epsilon=1.5))
    with pytest.raises(ValueError, match="delta of 0"):
        require_noise(choice, [], 1.0)
