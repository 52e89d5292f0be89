"""Integers and reals: which facts are refused, and numbers in words."""

from typing import Any

import pytest
from tests.fixtures.schemas import ORIGIN, one_column, refusal

from pointillist.schema import Integer, Real, Schema

REAL = {"kind": "real", "min": 0, "max": 1}
WHOLE = {"kind": "integer", "min": 0, "max": 9}
RULES: dict[str, tuple[dict[str, Any], str]] = {
    "numbers have no other": ({**REAL, "out_of_domain": "other"}, "out_of_domain"),
    "integer bounds": ({**WHOLE, "min": 9}, "min 9 is not below max 9"),
    "real bounds": ({**REAL, "min": 2}, "min 2.0 is not below max 1.0"),
    "no min": ({"kind": "integer", "max": 9}, "min: is required"),
    "no max": ({"kind": "real", "min": 9}, "max: is required"),
    "log from zero": ({**REAL, "scale": "log"}, 'scale = "log" needs min > 0'),
    "log of whole numbers": ({**WHOLE, "scale": "log"}, 'scale = "log" needs min > 0'),
    "log of a narrow range": ({**REAL, "min": 1e15, "max": 1e15 + 1, "scale": "log"}, "log"),
    "asinh above zero": (
        {**REAL, "min": 1, "max": 2, "scale": "asinh"},
        'around zero, from 1.0 to 2.0 set scale = "log"',
    ),
    "asinh below zero": ({**WHOLE, "min": -9, "max": -2, "scale": "asinh"}, 'set scale = "linear"'),
    "log of few large numbers": ({**WHOLE, "min": 10**15, "max": 10**15 + 100, "scale": "log"}, "log"),
    "unknown scale": ({**REAL, "scale": "sqrt"}, "scale"),
    "special twice": ({**WHOLE, "special": [1, 1]}, "special has an entry twice"),
    "special too large": ({**REAL, "special": [1e17]}, "special has a value that is not finite, or beyond 2^53"),
    "special infinite": ({**REAL, "special": [float("inf")]}, "special has a value that is not finite"),
    "special not a number": ({**REAL, "special": [float("nan")]}, "special has a value that is not finite"),
    "special as a list": ({**REAL, "special": [[1]]}, "special"),
    "special as text": ({**REAL, "special": ["one"]}, "special"),
    "special as a number in quotes": ({**REAL, "special": ["1"]}, "special"),
    "special as a truth": ({**REAL, "special": [True]}, "special"),
    "special with a fraction": ({**WHOLE, "special": [0.5]}, "special"),
    "too many specials": ({**WHOLE, "special": list(range(70_000))}, "special"),
    "one bin": ({**REAL, "bins": 1}, "bins"),
    "too many bins": ({**REAL, "bins": 4097}, "bins"),
    "half a bin": ({**REAL, "bins": 2.5}, "bins"),
    "negative decimals": ({**REAL, "decimals": -1}, "decimals"),
    "too many decimals": ({**REAL, "decimals": 13}, "decimals"),
    "integer with a fraction": ({**WHOLE, "min": 0.5}, "min"),
    "integer too large": ({**WHOLE, "max": 2**53 + 1}, "min or max is beyond 2^53"),
    "integer with no room above": ({**WHOLE, "max": 2**53}, "max"),
    "real not finite": ({**REAL, "max": float("inf")}, "max"),
    "real not a number": ({**REAL, "max": float("nan")}, "max"),
    "real as text": ({**REAL, "max": "1"}, "max"),
    "real as a truth": ({**REAL, "max": True}, "max"),
    "range too wide": ({**REAL, "min": -1.7e308, "max": 1.7e308}, "max"),
}


@pytest.mark.parametrize(("facts", "rule"), RULES.values(), ids=RULES.keys())
def test_a_broken_rule_is_named_with_file_and_column(facts: dict[str, Any], rule: str) -> None:
    message = refusal(one_column(**facts))
    assert message.startswith(f"{ORIGIN}: column 'x'")
    assert rule in message


def test_limits_themselves_are_allowed() -> None:
    for facts in (
        {**REAL, "bins": 2},
        {**REAL, "bins": 4096},
        {**REAL, "decimals": 0},
        {**REAL, "decimals": 12},
        {**WHOLE, "min": -(2**53) + 1, "max": 2**53 - 1},
        {**WHOLE, "special": [-(2**53), 2**53]},
    ):
        assert Schema.parse(one_column(**facts)).measured


def test_they_speak_in_words() -> None:
    pay = Real(min=1, max=2_500_000, scale="log", special=(0.0, -1.0))
    assert pay.brief() == "1.0 … 2500000.0, 0, -1 (log)"
    assert pay.describe() == (
        "1 to 2,500,000; also 0, -1 as a value of its own; measured on a log scale; "
        "values outside were moved to the nearest bound"
    )
    assert Integer(min=0, max=9, out_of_domain="error").describe() == "0 to 9"
    assert Integer(min=0, max=9).show_bin(3, 4) == "3"
    assert pay.show_bin(3, 4) == "[3, 4)"


def test_a_scale_with_a_sign_in_words() -> None:
    debt = Real(min=-500, max=2_000, scale="asinh")
    assert debt.brief() == "-500.0 … 2000.0 (asinh)"
    assert "; measured on an asinh scale; " in debt.describe()


def test_every_value_of_a_short_range() -> None:
    column = Integer(min=2, max=4, special=(-1, 3))
    assert column.every_value(3) == [-1, 2, 3, 4]
    assert column.every_value(2) == []
    assert Real(min=0, max=1).every_value(9) == []


def test_far_above_is_above() -> None:
    for column in (Integer(min=0, max=2**53 - 1), Real(min=0, max=1e200), Real(min=-5, max=5)):
        assert column.beyond() > column.max
