from typing import Any

import pytest

from pointillist.errors import UsageError
from pointillist.studio.steps.receiver import written


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"figure": "count"}, "count()"),
        ({"figure": "mean", "column": "body mass", "where": "age > 4"}, 'mean("body mass") where age > 4'),
        ({"figure": "quantile", "column": "age", "order": "0.1"}, 'quantile("age", 0.1)'),
        ({"figure": "share", "group": "sex"}, 'share() group by "sex"'),
        ({"figure": "count", "text": "median(age)"}, "median(age)"),
    ],
)
def test_a_form_becomes_a_question(asked: dict[str, str], text: str) -> None:
    assert written(asked) == text


def test_a_figure_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="choose the column"):
        written({"figure": "mean", "column": ""})


def test_figures_come_with_intervals_a_chart_and_an_export(walked: Any) -> None:
    page = walked.post("receiver", figure="mean", column="age", group="sex").text
    assert "private, with 95 % confidence" in page
    assert page.partition("<main")[2].count("<svg") == 1
    assert "female" in page
    lines = walked.get("receiver/file").text.splitlines()
    assert lines[0] == "sex,aggregate,value,low,high,confidence,basis"
    assert {line.partition(",")[0] for line in lines[1:]} >= {"female", "male"}


def test_a_slip_is_told_beside_the_question(walked: Any) -> None:
    page = walked.post("receiver", text="mean(agee)").text
    assert "agee" in page
    assert 'role="alert"' in page
