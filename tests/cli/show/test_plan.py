"""A plan in a terminal of 80 columns."""

from collections.abc import Callable

import pytest

import pointillist as pt
from pointillist.cli.show.plan import show_plan
from pointillist.demo import people

Shown = Callable[[], list[str]]


@pytest.mark.parametrize("target", [None, people.TARGET])
def test_no_word_of_a_plan_is_broken(target: str | None, shown: Shown) -> None:
    plan = pt.plan(people.SCHEMA, epsilon=1.0, target=target)
    show_plan(plan)
    lines = shown()
    assert max(map(len, lines)) <= 80
    expected = ["measured", "tables", "most", "share", "budget", "noise", "cell", "(rows)", "expected", "raw", "error"]
    expected += [word for each in plan.rounds for block in each.blocks for word in block.name.split()]
    assert set(expected) <= set(" ".join(lines).split())
