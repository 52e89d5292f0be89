"""Answers in a terminal: a line for each figure of each group, with the interval for the private one."""

from collections.abc import Callable

from pointillist.cli.show.answers import show_answers
from pointillist.inference.estimate import Estimate
from pointillist.inference.query_language import Answers, Group, Query

QUERY = Query.parse("mean(age) group by sex", ["age", "sex"])
OF_WOMEN = Estimate("mean of age", "number", 41.25, 40.0, 42.5, 0.6, 0.95, "measured")
OF_OTHERS = Estimate("mean of age", "number", 50.0, 48.0, 52.0, 1.0, 0.95, "assisted")


def test_a_line_for_each_group(shown: Callable[[], list[str]]) -> None:
    show_answers("people", Answers(QUERY, (Group(("F",), (OF_WOMEN,)), Group((None,), (OF_OTHERS,))), ("Few rows.",)))
    lines = shown()
    assert lines[0].strip() == "Answers: people"
    assert [line.split() for line in lines if line.startswith(("F", "missing"))] == [
        ["F", "mean(age)", "41.25", "40", "to", "42.5", "measured"],
        ["missing", "mean(age)", "50", "48", "to", "52", "assisted"],
    ]
    assert "Note: Few rows." in lines


def test_no_groups_at_all(shown: Callable[[], list[str]]) -> None:
    show_answers("people", Answers(QUERY, ()))
    assert "private" in " ".join(shown())
