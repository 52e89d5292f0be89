"""Dates and times: which facts are refused, how they are written and stored, and how they count from 1970."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fixtures.schemas import ORIGIN, one_column, refusal

from pointillist.errors import SchemaError
from pointillist.schema import Datetime, Schema
from pointillist.schema.kinds.datetime import moment, ticks

MANY = settings(deadline=None, max_examples=100)
WHEN = {"kind": "datetime", "min": "2020-01-01", "max": "2021-01-01"}
RULES: dict[str, tuple[dict[str, Any], str]] = {
    "datetime bounds": ({**WHEN, "min": "2022-01-01"}, "is not before max 2021-01-01"),
    "same day": ({**WHEN, "min": "2021-01-01T00:00", "max": "2021-01-01T12:00"}, "max"),
    "same second": (
        {**WHEN, "min": "2021-01-01T00:00:00.1", "max": "2021-01-01T00:00:00.9", "resolution": "second"},
        "max",
    ),
    "log of dates": ({**WHEN, "scale": "log"}, "scale"),
    "not a date": ({**WHEN, "min": "yesterday"}, "min"),
    "a number as date": ({**WHEN, "min": 2020}, "min"),
    "a time as date": ({**WHEN, "min": dt.time(12)}, "min"),
    "before the calendar": ({**WHEN, "min": "0001-01-01T00:00:00+05:00"}, "min"),
    "unknown resolution": ({**WHEN, "resolution": "month"}, "resolution"),
}


@pytest.mark.parametrize(("facts", "rule"), RULES.values(), ids=RULES.keys())
def test_a_broken_rule_is_named_with_file_and_column(facts: dict[str, Any], rule: str) -> None:
    message = refusal(one_column(**facts))
    assert message.startswith(f"{ORIGIN}: column 'x'")
    assert rule in message


@pytest.mark.parametrize(
    ("given_as", "taken_as"),
    [
        (dt.date(2020, 5, 1), dt.datetime(2020, 5, 1)),
        ("2020-05-01", dt.datetime(2020, 5, 1)),
        ("2020-05-01T10:00:00", dt.datetime(2020, 5, 1, 10)),
        ("2020-05-01T10:00:00+02:00", dt.datetime(2020, 5, 1, 8)),
        (dt.datetime(2020, 5, 1, 10, tzinfo=dt.timezone(dt.timedelta(hours=-3))), dt.datetime(2020, 5, 1, 13)),
    ],
)
def test_bounds_in_time_have_no_zone(given_as: Any, taken_as: dt.datetime) -> None:
    assert Schema.parse(one_column(**{**WHEN, "min": given_as})).columns["x"].min == taken_as


SECONDS = {"kind": "datetime", "min": "2020-01-01", "max": "2020-12-31", "resolution": "second"}


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        ({"format": "%Y-%m-%d %q"}, "'%q', which is not known here"),
        ({"stored": "timestamp"}, "stored 'timestamp' is not known"),
        ({"stored": "timestamp[us, tz=Europe/Prais]"}, "zone 'Europe/Prais' is not known"),
        ({"stored": "date32"}, "holds no time of day"),
        ({"stored": "timestamp[ns]", "max": "2300-01-01"}, "reaches from 1678 to 2261"),
    ],
)
def test_a_format_or_type_of_times_that_cannot_be_is_refused(facts: dict[str, Any], rule: str) -> None:
    with pytest.raises(SchemaError, match=f"column 'when'.*{rule}"):
        Schema.parse({"name": "s", "columns": {"when": {**SECONDS, **facts}}})


@pytest.mark.parametrize("stored", ["timestamp[s]", "timestamp[ns, tz=Europe/Paris]", "timestamp[ms, tz=-03:30]"])
def test_a_type_of_times_that_can_be_survives_toml(stored: str, tmp_path: Path) -> None:
    schema = Schema.parse({"name": "s", "columns": {"when": {**SECONDS, "stored": stored, "format": "%d.%m.%Y %H:%M"}}})
    (tmp_path / "s.toml").write_text(schema.to_toml())
    assert Schema.load(tmp_path / "s.toml") == schema


class TestTicks:
    @MANY
    @given(st.datetimes(), st.sampled_from([("day", dt.timedelta(days=1)), ("second", dt.timedelta(seconds=1))]))
    def test_moment_gives_the_start_of_the_tick(self, when: dt.datetime, unit: tuple[str, dt.timedelta]) -> None:
        resolution, length = unit
        start = moment(ticks(when, resolution), resolution)
        assert start <= when
        assert when - start < length

    @MANY
    @given(st.integers(-700_000, 2_900_000))
    def test_days_there_and_back(self, tick: int) -> None:
        assert ticks(moment(tick, "day"), "day") == tick

    @MANY
    @given(st.integers(-62_135_596_800, 253_402_300_799))
    def test_seconds_there_and_back(self, tick: int) -> None:
        assert ticks(moment(tick, "second"), "second") == tick

    def test_known_moments(self) -> None:
        assert ticks(dt.datetime(1970, 1, 2), "day") == 1
        assert ticks(dt.datetime(1969, 12, 31, 23, 59, 59), "second") == -1
        assert ticks(dt.datetime(1969, 12, 31, 12), "day") == -1


def test_it_speaks_in_words() -> None:
    days = Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2020, 12, 31))
    assert days.brief() == "2020-01-01 … 2020-12-31"
    assert days.describe() == "2020-01-01 to 2020-12-31; values outside were moved to the nearest bound"
    assert days.show_bin(0, 1) == "1970-01-01 00:00:00"
    assert Datetime.show_in("day", 1.0) == "1970-01-02"
    assert Datetime.show_in("second", 1.0) == "1970-01-01 00:00:01"
    assert Datetime.show_in("number", 1.0) is None
