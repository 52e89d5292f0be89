import json
from dataclasses import dataclass
from typing import Any

import pytest

from pointillist.evaluate.advice import Advice
from pointillist.evaluate.verdict import UNCLEAR, Point, Verdict
from pointillist.studio.security import REPORT_POLICY
from pointillist.studio.steps.judge import step_of, verdict_of


@dataclass(frozen=True)
class Given:
    code: str
    in_schema: bool = False


@pytest.mark.parametrize(
    ("advice", "step"),
    [
        (Given("[columns.age]\nbins = 3", True), "review"),
        (Given('[[constraints]]\norder = "a <= b"'), "review"),
        (Given("pointillist synth people.csv --epsilon 2 -o synthetic.csv"), "plan"),
        (Given(""), "make"),
    ],
)
def test_advice_leads_to_the_step_where_it_is_followed(advice: Given, step: str) -> None:
    assert step_of(advice) == step


def test_the_worst_comes_first(walked: Any) -> None:
    page = walked.get("judge").text
    grades = [part.partition('"')[0] for part in page.partition("What to do")[0].split('class="grade ')[1:]]
    order = ("poor", "fair", "unclear", "good")
    assert grades
    assert grades == sorted(grades, key=order.index)
    assert "For your eyes" in page


def test_what_is_unclear_has_a_way_to_its_remedy(visitor: Any) -> None:
    """Every finding with advice has a button on its card, whatever its grade."""
    advice = Advice("Spend more.", "pointillist synth people.csv --epsilon 2 -o synthetic.csv")
    points = (
        Point("pairs", UNCLEAR, "0.2", "Chance explains most.", "by chance", (advice,)),
        Point("columns", "good", "0.01", "Close.", "by distance"),
    )
    verdict = verdict_of(Verdict(points))
    assert {each["question"]: each["step"] for each in verdict["points"]} == {"pairs": "plan", "columns": ""}
    plan = visitor.project.new_plan("", epsilon=1.0)
    (plan.folder / "synthetic.csv").touch()
    plan.verdict_file.write_text(json.dumps(verdict))
    page = visitor.get("judge").text.partition("What to do")[0]
    assert page.count('aria-label="Go to plan: pairs"') == 1
    assert page.count("Go to ") == 2  # its label and its words


def test_the_report_stands_in_a_frame_and_runs_nothing(walked: Any) -> None:
    answer = walked.get("judge/report")
    assert answer.headers["content-security-policy"] == REPORT_POLICY
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "Private." in answer.text
    assert walked.project.plan.report_file.stat().st_mode & 0o077 == 0
