import math
from statistics import NormalDist
from typing import Any

import pytest

import pointillist as pt
from pointillist.privacy.budget import Budget
from pointillist.studio.steps.plan import odds

SCHEMA = pt.Schema(name="t", rows=1_000, columns={"age": pt.Integer(min=0, max=99)})
ASKED = {"epsilon": "1", "delta": "1e-5", "target": "member"}


@pytest.fixture
def reviewed(visitor: Any) -> Any:
    visitor.review()
    return visitor


def test_odds_are_those_of_a_gaussian_and_within_the_promise() -> None:
    """A guess that is right with p without a person's data is right with Phi(Phi^-1(p) + mu) at most, with them."""
    promise = pt.plan(SCHEMA, epsilon=1.0).guarantee
    for each in odds(promise):
        gaussian = NormalDist().cdf(NormalDist().inv_cdf(each.without) + promise.mu)
        assert gaussian <= each.within <= gaussian + 1e-6
        assert each.within <= math.exp(1) * each.without + 1e-5


def test_a_plan_says_what_it_means_before_anything_is_spent(reviewed: Any) -> None:
    page = reviewed.post("plan/forecast", **ASKED).text
    for words in (
        "× 2.72",
        "at most 2.72 times as likely with the data of one row",
        "rows</span>",
        "with them, at most",
        "60.6 %",
        "of 10 spent",
        "Expected error",
    ):
        assert words in page
    assert "<html" not in page
    assert reviewed.studio.ledger().accounts() == ()
    assert reviewed.project.plans() == []


def test_a_number_of_rows_that_the_schema_states_is_not_called_secret(reviewed: Any) -> None:
    page = reviewed.get("plan").text
    assert "(the exact number of rows is secret)" in page
    assert "states about 300 rows, rounded, on your word" in page
    text = reviewed.project.schema_file.read_text()
    lines = [each for each in text.splitlines() if not each.startswith(("rows =", 'read_from_data = ["rows"'))]
    reviewed.project.write_schema("\n".join(lines))
    page = reviewed.get("plan").text
    assert "(the number of rows is secret)" in page
    assert "states about" not in page


def test_mistakes_are_told_in_place(reviewed: Any) -> None:
    assert "epsilon" in reviewed.post("plan/forecast", **{**ASKED, "epsilon": "-1"}).text
    assert "must be numbers" in reviewed.post("plan/forecast", **{**ASKED, "epsilon": "x"}).text
    assert "not a measured column" in reviewed.post("plan", **{**ASKED, "target": "nothing"}).text
    assert reviewed.project.plans() == []


def test_a_budget_that_is_used_up_is_told_before_and_at_the_release(reviewed: Any) -> None:
    reviewed.studio.ledger().set_cap("people", Budget(0.5, 1e-5))
    assert "The budget does not allow it" in reviewed.post("plan/forecast", **ASKED).text
    reviewed.plan()
    page = reviewed.get("release").text
    assert "over its cap of ε = 0.5" in page
    assert 'name="confirm"' not in page


def test_a_draft_cannot_be_planned(visitor: Any) -> None:
    visitor.work("open")
    assert "Review it first" in visitor.get("plan").text
    assert "is a draft" in visitor.post("plan", **ASKED).text
