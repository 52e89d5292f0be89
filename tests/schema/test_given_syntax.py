"""What is meant by a value, a list, a range or a gap, and what is refused."""

import datetime as dt
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real
from pointillist.schema.given_syntax import from_text, plain, select
from pointillist.schema.selection import Selection

SEX = Categorical(categories=("f", "m"), missing=False, out_of_domain="error")
JOB = Categorical(categories=("cook", "smith"), other_label="else")
CODE = Categorical(categories=(1, 2, 9), missing=False)
GRADE = Ordinal(categories=("low", "middle", "high"))
FLAG = Boolean()
AGE = Integer(min=0, max=110, special=(-1,))
PAY = Real(min=1, max=1000, special=(0.0,), decimals=2)
SIZE = Real(min=0, max=1)
DAY = Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2020, 12, 31))
TIME = Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2020, 12, 31), resolution="second")


def day(number: int, *time: int) -> dt.datetime:
    return dt.datetime(2020, 5, number, *time)


MEANT: list[tuple[Any, Any, Selection]] = [
    (SEX, "f", Selection(values=("f",))),
    (SEX, ["m", "f", "m"], Selection(values=("m", "f"))),
    (JOB, "else", Selection(values=("else",))),
    (JOB, None, Selection(missing=True)),
    (JOB, ["cook", None], Selection(values=("cook",), missing=True)),
    (CODE, np.int64(9), Selection(values=(9,))),
    (CODE, None, Selection(missing=True)),  # unlisted numbers are written as gaps
    (GRADE, ("middle", "high"), Selection(values=("middle", "high"))),
    (GRADE, (None, "middle"), Selection(values=("low", "middle"))),
    (FLAG, np.bool_(True), Selection(values=(True,))),
    (AGE, 30, Selection(ranges=((30, 30),))),
    (AGE, (30, 40), Selection(ranges=((30, 40),))),
    (AGE, (30, None), Selection(ranges=((30, 110),))),
    (AGE, (None, 40), Selection(ranges=((-1, 40),))),
    (AGE, (30, 400), Selection(ranges=((30, 400),))),
    (AGE, {"min": 30, "max": 40}, Selection(ranges=((30, 40),))),
    (AGE, [(30, 40), 5, (35, 60), None], Selection(ranges=((5, 5), (30, 60)), missing=True)),
    (AGE, -1, Selection(ranges=((-1, -1),))),
    (PAY, 0, Selection(ranges=((0, 0),))),
    (PAY, 0.07 + 1, Selection(ranges=((1.07, 1.07),))),
    (PAY, (0.1 + 0.2 + 1, 5), Selection(ranges=((1.3, 5),))),
    (SIZE, (0.25, 0.5), Selection(ranges=((0.25, 0.5),))),
    (DAY, "2020-05-01", Selection(ranges=((day(1), day(1)),))),
    (DAY, (dt.date(2020, 5, 1), day(3, 10)), Selection(ranges=((day(1), day(3)),))),
    (DAY, np.datetime64("2020-05-01"), Selection(ranges=((day(1), day(1)),))),
    (TIME, "2020-05-01", Selection(ranges=((day(1), day(1, 23, 59, 59)),))),
    (TIME, ("2020-05-01", "2020-05-02"), Selection(ranges=((day(1), day(2, 23, 59, 59)),))),
    (TIME, ("2020-05-01T10:00:00+02:00", day(1, 9)), Selection(ranges=((day(1, 8), day(1, 9)),))),
]


@pytest.mark.parametrize(("column", "written", "meant"), MEANT, ids=[str(written) for _, written, _ in MEANT])
def test_what_is_meant(column: Any, written: Any, meant: Selection) -> None:
    assert select("x", column, written) == meant


@pytest.mark.parametrize(("column", "written", "meant"), MEANT, ids=[str(written) for _, written, _ in MEANT])
def test_the_plain_form_means_the_same_and_is_json(column: Any, written: Any, meant: Selection) -> None:
    kept = json.loads(json.dumps(plain(written)))
    assert plain(kept) == kept
    assert select("x", column, kept) == meant


REFUSED: list[tuple[Any, Any, str]] = [
    (SEX, "F", "'F' is not one of its values: 'f', 'm'"),
    (SEX, None, "its values are never missing"),
    (SEX, ("f", "m"), "a range needs a number, a date or an ordinal, and this column is categorical"),
    (SEX, [], "the list of values is empty"),
    (SEX, [["f"]], "no further lists"),
    (SEX, {"low": "f"}, "a range is { min = ..., max = ... }"),
    (SEX, {}, "a range is { min = ..., max = ... }"),
    (SEX, object(), "not object"),
    (SEX, ("f",), "a range has two ends"),
    (CODE, "1", "'1' is not one of its values"),
    (CODE, True, "True is not one of its values"),
    (FLAG, 1, "1 is not one of its values: False, True"),
    (FLAG, "yes", "'yes' is not one of its values"),
    (GRADE, ("high", "low"), "the range 'high' to 'low' is reversed"),
    (GRADE, ("low", "top"), "'top' is not one of its values"),
    (AGE, "30", "'30' is not a number, and this column is integer"),
    (AGE, True, "True is not a number"),
    (AGE, 111, "111 is outside its bounds 0 to 110"),
    (AGE, (120, 130), "the range 120 to 130 is outside its bounds"),
    (AGE, (40, 30), "the range 40 to 30 is reversed"),
    (AGE, 30.5, "the column takes whole numbers"),
    (AGE, (30.2, 30.8), "no value lies in the range 30.2 to 30.8"),
    (AGE, float("nan"), "is not a finite number"),
    (AGE, (0, float("inf")), "is not a finite number"),
    (AGE, 10**400, "is not a finite number"),
    (PAY, 1.234, "the column has 2 decimals"),
    (SIZE, 0.5, "has no probability in a column of reals: give a range"),
    (DAY, 2020, "2020 is not a date"),
    (DAY, "May", "'May' is not a date in the form 2020-12-31"),
    (DAY, ("2020-06-01", "2020-05-01"), "is reversed"),
    (DAY, "2021-05-01", "is outside its bounds"),
]


@pytest.mark.parametrize(("column", "written", "words"), REFUSED, ids=[words[:30] for *_, words in REFUSED])
def test_what_makes_no_sense_is_refused_by_column_and_rule(column: Any, written: Any, words: str) -> None:
    with pytest.raises(ValueError, match=r"^column 'x': ") as caught:
        select("x", column, written)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("column", "text", "meant"),
    [
        (SEX, "f", "f"),
        (JOB, "", None),
        (Categorical(categories=("", "a..b")), "", ""),
        (Categorical(categories=("", "a..b")), "a..b", "a..b"),
        (CODE, "9", 9),
        (GRADE, "low..middle", ("low", "middle")),
        (GRADE, "middle..", ("middle", None)),
        (FLAG, "Yes", True),
        (FLAG, "0", False),
        (AGE, "30..40", (30, 40)),
        (AGE, "..40", (None, 40)),
        (AGE, "-1", -1),
        (PAY, "0.5..1.5", (0.5, 1.5)),
        (DAY, "2020-05-01..2020-05-03", ("2020-05-01", "2020-05-03")),
    ],
)
def test_texts_from_the_command_line(column: Any, text: str, meant: Any) -> None:
    assert from_text("x", column, text) == meant


@pytest.mark.parametrize("text", ["x", "30...40", "30-40", "3.5"])
def test_a_text_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=f"column 'x': '{text}' is neither a number nor a range"):
        from_text("x", AGE, text)


@given(st.lists(st.tuples(st.integers(0, 110), st.integers(0, 110)).map(lambda ends: tuple(sorted(ends))), min_size=1))
def test_ranges_are_united_without_overlap(ranges: list[tuple[int, int]]) -> None:
    """They hold the same numbers as before, and every number once."""
    united = select("x", AGE, ranges).ranges
    held = [number for low, high in united for number in range(low, high + 1)]
    assert len(held) == len(set(held))
    assert set(held) == {number for low, high in ranges for number in range(low, high + 1)}
