"""Selections as values: what is in them, and how they say it."""

import datetime as dt

from pointillist.schema import Categorical, Datetime, Integer
from pointillist.schema.given_syntax import select
from pointillist.schema.selection import Selection

JOB = Categorical(categories=("cook", "smith"), other_label="else")
AGE = Integer(min=0, max=110, special=(-1,))
DAY = Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2020, 12, 31))


def test_one_selection_includes_another() -> None:
    wide = select("x", AGE, [(10, 50), None])
    assert wide.includes(select("x", AGE, (10, 20)))
    assert wide.includes(select("x", AGE, [30, None]))
    assert not wide.includes(select("x", AGE, (40, 60)))
    assert not select("x", JOB, "cook").includes(select("x", JOB, ["cook", "smith"]))
    assert not select("x", JOB, "cook").includes(select("x", JOB, None))


def test_a_selection_says_what_it_is() -> None:
    assert str(select("x", JOB, ["cook", None])) == "'cook' or missing"
    assert str(select("x", AGE, [5, (30, 40)])) == "5 or 30 to 40"
    assert str(select("x", DAY, ("2020-05-01", "2020-05-02"))) == "2020-05-01 to 2020-05-02"


def test_united_ranges_and_values_come_once() -> None:
    parts = [Selection(ranges=((5, 9),)), Selection(ranges=((1, 5),), missing=True), Selection(values=("a",))]
    assert Selection.united([*parts, *parts]) == Selection(values=("a",), ranges=((1, 9),), missing=True)
