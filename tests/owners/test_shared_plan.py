"""Shared plans: what owners agree on, and what is refused of a file that may be anyone's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fixtures.owners import WARDS, Trio

import pointillist as pt
from pointillist.errors import ArtefactError, UsageError
from pointillist.files import container
from pointillist.owners.shared_plan import FORMAT, KIND, SharedPlan

Change = Callable[[dict[str, Any]], None]


def doctored(plan: SharedPlan, change: Change, path: Path, arrays: dict[str, Any] | None = None) -> Path:
    """A file with other facts, and hashes that fit."""
    facts = json.loads(json.dumps(plan.facts))
    change(facts)
    path.write_bytes(container.pack(KIND, FORMAT, facts, plan.arrays | (arrays or {})))
    return path


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SharedPlan]:
    """Plans with keys before the first round, and before the second."""
    trio = Trio(tmp_path_factory.mktemp("plans"))
    first = trio.plan("sum")
    second = pt.merge(trio.parts(first), first)
    assert isinstance(second, SharedPlan)
    return {"first": first, "second": second, "nobody": trio.plan()}


@pytest.mark.parametrize("which", ["first", "second", "nobody"])
def test_a_file_comes_back_as_it_was(which: str, together: dict[str, SharedPlan], tmp_path: Path) -> None:
    plan = together[which]
    plan.save(tmp_path / "wards.plan")
    found = SharedPlan.load(tmp_path / "wards.plan")
    assert (found.digest, found.terms, found.keys, found.round) == (plan.digest, plan.terms, plan.keys, plan.round)
    assert found.plan == plan.plan
    assert found.feature_map == plan.feature_map
    assert [each.values.tolist() for each in found.measured] == [each.values.tolist() for each in plan.measured]


def test_terms_stay_and_the_digest_changes_from_round_to_round(together: dict[str, SharedPlan]) -> None:
    first, second = together["first"], together["second"]
    assert first.fingerprint == second.fingerprint
    assert first.digest != second.digest
    assert (first.round, second.round, second.rounds) == (1, 2, 3)
    assert "round 2 of 3" in repr(second)


def test_a_fingerprint_is_compared_as_people_write_it(together: dict[str, SharedPlan]) -> None:
    plan = together["first"]
    assert len(plan.fingerprint.replace("-", "")) == 40
    assert plan.is_agreed(plan.fingerprint.upper().replace("-", " "))
    assert not plan.is_agreed(plan.fingerprint[:-1])
    assert not plan.is_agreed("")


def test_two_plans_of_the_same_terms_are_two_plans() -> None:
    one, two = (pt.shared_plan(WARDS, owners=3, epsilon=1.0) for _ in range(2))
    assert one.fingerprint != two.fingerprint


@pytest.mark.parametrize("owner", [0, 4, -1, True, 1.0, "1"])
def test_a_number_that_is_no_owners(owner: Any, together: dict[str, SharedPlan]) -> None:
    with pytest.raises(UsageError, match="for 3 owners, numbered from 1"):
        together["first"].require_owner(owner)


def set_guarantee(**facts: Any) -> Change:
    return lambda all_: all_["terms"]["guarantee"].update(facts)


def set_owners(**facts: Any) -> Change:
    return lambda all_: all_["terms"]["guarantee"]["owners"].update(facts)


def halve_noise(facts: dict[str, Any]) -> None:
    """Everywhere that it is stated."""
    for each in facts["terms"]["plan"]["rounds"]:
        each["sigma"] /= 2
        for block in each["blocks"]:
            block["noise_rows"] /= 2


def halve_noise_and_double_mu(facts: dict[str, Any]) -> None:
    halve_noise(facts)
    facts["terms"]["guarantee"]["mu"] *= 2


def drop_a_dimension(facts: dict[str, Any]) -> None:
    """Fewer cells than the map has: the slack of the grid would be too small."""
    facts["terms"]["plan"]["rounds"][0]["blocks"][0]["cells"] = 3


LESS_NOISE: dict[str, Change] = {
    "a smaller epsilon is promised": set_guarantee(epsilon=0.5),
    "a smaller delta is promised": set_guarantee(delta=1e-9),
    "mu is larger than epsilon allows": set_guarantee(mu=1.0),
    "noise is halved": halve_noise,
    "noise is halved, and mu made to fit": halve_noise_and_double_mu,
    "no slack for the grid": set_guarantee(epsilon_slack=0.0, delta_slack=0.0),
    "shares of more rounds than there are": lambda facts: facts["terms"]["plan"]["rounds"][0].update(share=1.0),
    "a finer grid": lambda facts: facts["terms"]["plan"]["rounds"][0].update(bits=25),
    "more rows of a person": set_guarantee(person={"column": "ward", "max_rows": 1}),
    "fewer cells than are measured": drop_a_dimension,
}


@pytest.mark.parametrize("name", LESS_NOISE)
@pytest.mark.parametrize("which", ["first", "nobody"])
def test_a_plan_with_less_noise_than_it_promises_is_refused(
    name: str, which: str, together: dict[str, SharedPlan], tmp_path: Path
) -> None:
    with pytest.raises(ArtefactError, match=r"odd\.plan: "):
        SharedPlan.load(doctored(together[which], LESS_NOISE[name], tmp_path / "odd.plan"))


def test_signs_that_the_map_has_not_are_refused(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    """Under replace-one they would halve the variance of the noise."""
    change: Change = lambda facts: facts["terms"]["flags"][1].update(nonnegative=True)  # noqa: E731
    with pytest.raises(ArtefactError, match="not what its plan says"):
        SharedPlan.load(doctored(together["second"], change, tmp_path / "odd.plan"))


def test_more_owners_than_noise_was_made_for_are_refused(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    """Each would add a smaller share."""
    for change in (set_owners(count=5), set_owners(colluding=0)):
        with pytest.raises(ArtefactError):
            SharedPlan.load(doctored(together["first"], change, tmp_path / "odd.plan"))


MALFORMED: dict[str, Change] = {
    "no terms": lambda facts: facts.pop("terms"),
    "no owners": lambda facts: facts["terms"]["guarantee"].pop("owners"),
    "one key": lambda facts: facts.update(keys=facts["keys"][:1]),
    "a key twice": lambda facts: facts.update(keys=[facts["keys"][0]] * 3),
    "a key of another kind": lambda facts: facts.update(keys=["00"] * 3),
    "an id that is none": lambda facts: facts["terms"].update(id="../../etc/passwd"),
    "absent with masks": lambda facts: facts.update(absent=[2]),
    "rows that are not public": lambda facts: facts.update(rows=300),
    "no rounds": lambda facts: facts["terms"]["plan"].update(rounds=[]),
    "fewer flags than rounds": lambda facts: facts["terms"].update(flags=[]),
    "no map": lambda facts: facts.update(feature_map=[]),
    "a column that is not there": lambda facts: facts["feature_map"][0].update(column="other"),
    "a draft": lambda facts: facts["terms"]["schema"].update(reviewed=False),
    "another kind": lambda facts: facts.update(kind="part"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_plan_is_refused(name: str, together: dict[str, SharedPlan], tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"odd\.plan: "):
        SharedPlan.load(doctored(together["first"], MALFORMED[name], tmp_path / "odd.plan"))


def heavier(facts: dict[str, Any]) -> None:
    """The next round's map, with a norm above 1."""
    for node in facts["feature_map"]:
        if node["map"] == "weighted":
            node["weight"] = min(1.0, 3 * node["weight"])


def test_tiles_of_the_second_round_that_exceed_the_bound_are_refused(
    together: dict[str, SharedPlan], tmp_path: Path
) -> None:
    with pytest.raises(ArtefactError):
        SharedPlan.load(doctored(together["second"], heavier, tmp_path / "odd.plan"))


def test_other_results_of_the_first_round_are_another_plan(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    """Whoever collects may choose what is measured next: that is adaptive, and paid for. But masks will not cancel."""
    second = together["second"]
    other = {"0.values": second.arrays["0.values"] + np.int64(1)}
    found = SharedPlan.load(doctored(second, lambda facts: None, tmp_path / "odd.plan", other))
    assert found.digest != second.digest
    assert found.terms == second.terms


def test_a_sum_with_another_noise_is_refused(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    change: Change = lambda facts: facts["measurements"][0].update(sigma=1.0)  # noqa: E731
    with pytest.raises(ArtefactError, match="sigma"):
        SharedPlan.load(doctored(together["second"], change, tmp_path / "odd.plan"))


def test_no_plan_is_left_after_the_last_round(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    def cut(facts: dict[str, Any]) -> None:
        for name in ("rounds",):
            facts["terms"]["plan"][name] = facts["terms"]["plan"][name][:1]
        facts["terms"]["flags"] = facts["terms"]["flags"][:1]

    with pytest.raises(ArtefactError):
        SharedPlan.load(doctored(together["second"], cut, tmp_path / "odd.plan"))


def test_another_format_asks_for_an_upgrade(together: dict[str, SharedPlan], tmp_path: Path) -> None:
    path = tmp_path / "new.plan"
    path.write_bytes(container.pack(KIND, 2, together["first"].facts, together["first"].arrays))
    with pytest.raises(ArtefactError, match="Upgrade pointillist"):
        SharedPlan.load(path)
