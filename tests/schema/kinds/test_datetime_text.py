"""Dates and times as texts: what is written is read again."""

import datetime as dt

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema.kinds import datetime_text
from pointillist.schema.kinds.datetime_text import DatetimeFormat

WHEN = dt.datetime(2021, 3, 4, 15, 6, 7)
WRITTEN = {
    "%Y-%m-%d": "2021-03-04",
    "%Y-%m-%d %H:%M": "2021-03-04 15:06",
    "%Y-%m-%dT%H:%M:%S": "2021-03-04T15:06:07",
    "%Y-%m-%dT%H:%M:%SZ": "2021-03-04T15:06:07Z",
    "%Y-%m-%d %H:%M:%S.%3f": "2021-03-04 15:06:07.000",
    "%Y-%m-%dT%H:%M:%S.%f%:z": "2021-03-04T15:06:07.000000+00:00",
    "%d.%m.%Y": "04.03.2021",
    "%-d.%-m.%Y %-H:%M": "4.3.2021 15:06",
    "%m/%d/%Y %-I:%M %p": "03/04/2021 3:06 PM",
    "%a %d %b %y": "Thu 04 Mar 21",
    "%A, %B %-d, %Y": "Thursday, March 4, 2021",
    "%D %T": "03/04/21 15:06:07",
    "%F %R %z": "2021-03-04 15:06 +0000",
    "100 %% on %F": "100 % on 2021-03-04",
}
TO_THE_SECOND = [form for form, text in WRITTEN.items() if "07" in text and "%" not in text]


@pytest.mark.parametrize(("form", "text"), WRITTEN.items())
def test_a_time_is_written_as_its_format_says(form: str, text: str) -> None:
    times = pa.array([WHEN, None], pa.timestamp("s"))
    for kind in (pa.timestamp("s"), pa.timestamp("ns"), pa.timestamp("us", "Europe/Paris")):
        stored = times.cast(pa.timestamp(kind.unit)).cast(pa.int64()).cast(kind)
        assert datetime_text.write(DatetimeFormat(form), stored).to_pylist() == [text, None]


@given(
    st.sampled_from(TO_THE_SECOND),
    st.lists(st.none() | st.datetimes(dt.datetime(1969, 1, 1), dt.datetime(2068, 12, 31)), max_size=5),
)
def test_what_is_written_is_read_again(form: str, times: list[dt.datetime | None]) -> None:
    whole = [time and time.replace(microsecond=0) for time in times]
    written = datetime_text.write(DatetimeFormat(form), pa.array(whole, pa.timestamp("us")))
    assert datetime_text.read(DatetimeFormat(form), written).to_pylist() == whole


def test_a_zone_is_heeded_parts_of_a_second_are_dropped_and_other_texts_are_left() -> None:
    form = DatetimeFormat("%Y-%m-%dT%H:%M:%S.%3f%:z")
    texts = ["2021-03-04T15:06:07.999+01:00", "2021-03-04T15:06:07.1Z", "04.03.2021", None]
    expected = [WHEN - dt.timedelta(hours=1), WHEN, None, None]
    assert datetime_text.read(form, pa.array(texts)).to_pylist() == expected


@given(st.text(max_size=20).map(lambda text: f"%F {text}"))
def test_any_format_that_is_accepted_writes_and_reads(text: str) -> None:
    try:
        form = DatetimeFormat(text)
    except ValueError:
        return
    written = datetime_text.write(form, pa.array([WHEN], pa.timestamp("s")))
    assert written[0].as_py().startswith("2021-03-04 ")
    datetime_text.read(form, written)


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
