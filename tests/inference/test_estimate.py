"""Estimates: how a figure and its interval are said."""

import math

import pytest

from pointillist.inference.estimate import Estimate, Unit


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
