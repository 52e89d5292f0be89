"""Formats of dates and times: which are refused, and what they are made of."""

import pytest

from pointillist.schema.kinds.datetime_format import DatetimeFormat


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        ("%Y-%m-%d %q", "'%q', which is not known"),
        ("%Y-%m-%d %", "'%', which is not known"),
        ("%Y-%m", "must say the year, the month and the day"),
        ("%c", "not known"),
        ("%Y-%m-%d %I:%M", "add %p"),
        ("%Y-%m-%d %f", "must follow %S"),
        ("%z %Y-%m-%d", "must come last"),
        ("%F %T.%f %T.%f", "twice"),
        ("%F" + "x" * 63, "at most 64"),
        ("%F\n", "printable"),
    ],
)
def test_a_format_that_cannot_be_is_refused(form: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        DatetimeFormat(form)


def test_long_letters_are_short_for_several() -> None:
    assert DatetimeFormat("%F %R").parts == DatetimeFormat("%Y-%m-%d %H:%M").parts
