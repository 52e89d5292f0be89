import html
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
        ({"figure": "correlation", "column": "age", "second": "pay"}, 'correlation("age", "pay")'),
        ({"figure": "share", "group": "sex"}, 'share() group by "sex"'),
        ({"figure": "count", "text": "median(age)"}, "median(age)"),
    ],
)
def test_a_form_becomes_a_question(asked: dict[str, str], text: str) -> None:
    assert written(asked) == text


def test_a_figure_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="choose the column"):
        written({"figure": "mean", "column": ""})


@pytest.mark.parametrize("second", ["", "age"])
def test_a_correlation_of_a_column_with_itself_is_refused(second: str) -> None:
    with pytest.raises(UsageError, match="choose a second column"):
        written({"figure": "correlation", "column": "age", "second": second})


def test_the_second_column_stands_beside_the_figure_and_is_remembered(walked: Any) -> None:
    page = walked.post("receiver", figure="correlation", column="age", second="").text
    assert "choose a second column" in page
    assert page.index('name="second"') < page.index("<details")
    page = walked.post("receiver", figure="correlation", column="age", second="member").text
    assert "correlation(" in page.partition('id="answers"')[2]
    assert "<option selected>member</option>" in page


def test_the_example_of_the_query_language_can_be_asked(walked: Any) -> None:
    text = html.unescape(walked.get("receiver").text.partition("<code>")[2].partition("</code>")[0])
    assert text == 'median("age"), count() where "age" > 18 group by "sex"'
    page = walked.post("receiver", text=text).text
    assert 'id="answers"' in page
    assert 'role="alert"' not in page


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
