from dataclasses import dataclass
from typing import Any

import pytest

from pointillist.studio.security import REPORT_POLICY
from pointillist.studio.steps.judge import step_of


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


def test_the_report_stands_in_a_frame_and_runs_nothing(walked: Any) -> None:
    answer = walked.get("judge/report")
    assert answer.headers["content-security-policy"] == REPORT_POLICY
    assert answer.headers["x-frame-options"] == "SAMEORIGIN"
    assert "Private." in answer.text
    assert walked.project.plan.report_file.stat().st_mode & 0o077 == 0
