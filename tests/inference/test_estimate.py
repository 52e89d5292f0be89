"""Estimates: how a figure and its interval are said."""

import math

import pytest

from pointillist.inference.estimate import Estimate, Interval, Unit


def estimate(value: float, low: float, high: float, unit: Unit = "number") -> Estimate:
    return Estimate("mean of age", unit, value, low, high, 0.5, 0.95, "measured")


def test_the_error_is_the_farther_end() -> None:
    assert estimate(40, 38, 41).error == 2
    assert estimate(42, 38, 41).error == 4  # outside its interval: known to be off
    assert estimate(40, 38, 41).to_json()["error"] == 2


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [
        ("number", 12345.678, "12,346"),
        ("share", 0.1234, "12.34%"),
        ("day", 19_000, "2022-01-08"),
        ("second", 86_400 + 3_600, "1970-01-02 01:00:00"),
        ("number", math.inf, "unknown"),
        ("share", math.nan, "unknown"),
    ],
)
def test_values_are_shown_in_their_unit(unit: Unit, value: float, shown: str) -> None:
    assert estimate(value, value, value, unit).shown(value) == shown


def test_in_words() -> None:
    said = str(estimate(40, 38, 41))
    assert said == (
        "mean of age: 40 in the synthetic data; with 95% confidence between 38 and 41 in the private table (measured)"
    )


def test_without_an_interval_none_is_said() -> None:
    found = Estimate(
        "correlation", "number", 0.5, -1.0, 1.0, math.inf, 0.95, "not measured", "Nothing holds both columns."
    )
    assert str(found) == "correlation: 0.5 in the synthetic data; no interval. Nothing holds both columns."
    assert (found.known, found.interval) == (False, "no interval")
    said = found.to_json()
    assert [said[name] for name in ("low", "high", "standard_error", "error")] == [None] * 4
    assert said["note"] == "Nothing holds both columns."
    assert estimate(40, 38, 41).interval == "38 to 41"


@pytest.mark.parametrize(
    ("interval", "possible"),
    [
        (Interval(0.2, 0.4, 0.05), (0.2, 0.4)),
        (Interval(-0.1, 0.1, 0.05), (0.0, 0.1)),
        (Interval(-0.3, -0.1, 0.05), (0.0, 0.05)),  # all of it beyond: a standard deviation is left
        (Interval(1.1, 1.3, 0.05), (0.95, 1.0)),
        (Interval(0.0, 0.0, 0.05), (0.0, 0.0)),  # no noise carried it there
        (Interval(-math.inf, math.inf, math.inf), (0.0, 1.0)),
    ],
)
def test_an_interval_is_cut_to_what_is_possible_but_not_to_a_point(
    interval: Interval, possible: tuple[float, float]
) -> None:
    found = interval.within(0.0, 1.0)
    assert (found.low, found.high) == pytest.approx(possible)
    assert found.error == interval.error
