"""Constants and sums of three that tie columns together."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pointillist.curator.links import Looked, rates, shifts, sums_of_three
from pointillist.curator.table_drafting import draft
from pointillist.schema import Derived

RNG = np.random.default_rng(0)
ROWS = 1_500
AGE, CM, NET = RNG.integers(18, 95, ROWS), RNG.normal(172, 9, ROWS).round().astype(int), RNG.integers(100, 9_000, ROWS)
TOTAL = RNG.gamma(2, 300, ROWS).round(2)
PARTS = [RNG.gamma(2, 50, ROWS).round(2) for _ in range(3)]
CAME = np.datetime64("2015-01-01") + RNG.integers(0, 2_000, ROWS)
STAYED = RNG.integers(0, 60, ROWS)
WEEKDAY = (CAME.astype(int) + 3) % 7

FOUND: dict[str, tuple[dict[str, Any], str]] = {
    "a constant less a column": ({"age": AGE, "y": 2020 - AGE}, "2020 - age"),
    "a column and a constant": ({"age": AGE, "y": AGE - 18}, "age - 18"),
    "a rate": ({"total": TOTAL, "y": (TOTAL * 0.19).round(2)}, "total * 0.19"),
    "a rate, rounded to whole numbers": ({"net": NET, "y": np.round(NET * 1.19).astype(int)}, "net * 1.19"),
    "another unit": ({"cm": CM, "y": (CM / 2.54).round(1)}, "cm / 2.54"),
    "three": ({**dict(zip("abc", PARTS, strict=True)), "y": sum(PARTS).round(2)}, "a + b + c"),
    "a stay": ({"came": CAME, "left": CAME + STAYED, "y": STAYED}, "days(left - came)"),
    "weekdays from Monday": ({"came": CAME, "y": WEEKDAY}, "weekday(came)"),
    "weekdays from Sunday, 1": ({"came": CAME, "y": (WEEKDAY + 1) % 7 + 1}, "(weekday(came) + 1) % 7 + 1"),
}


def derived(columns: dict[str, Any]) -> dict[str, str]:
    made = draft(pa.table(columns), name="s").columns
    return {name: each.derived for name, each in made.items() if isinstance(each, Derived)}


@pytest.mark.parametrize(("columns", "formula"), FOUND.values(), ids=FOUND.keys())
def test_a_draft_finds_it_and_makes_the_same_column(columns: dict[str, Any], formula: str) -> None:
    table = pa.table({**columns, "noise": RNG.integers(0, 50, ROWS)})
    column = draft(table, name="s").columns["y"]
    assert isinstance(column, Derived)
    assert column.derived == formula
    assert np.abs(np.asarray(column.of_table(table)) - np.asarray(table["y"])).max() < 1e-9


@pytest.mark.parametrize(("columns", "formula"), FOUND.values(), ids=FOUND.keys())
def test_one_row_that_breaks_it_is_enough(columns: dict[str, Any], formula: str) -> None:
    broken = columns["y"].copy()
    broken[-1] = broken[broken != broken[-1]][0]
    assert "y" not in derived({**columns, "y": broken})


def test_chance_ties_nothing() -> None:
    """Twelve columns of small numbers and of near copies of each other."""
    base = RNG.integers(0, 30, ROWS)
    near = {f"near {n}": base + RNG.integers(0, 2, ROWS) for n in range(4)}
    small = {f"small {n}": RNG.integers(0, 6, ROWS) for n in range(4)}
    assert derived({"base": base, **near, **small, **dict(zip("abc", PARTS, strict=True))}) == {}


def test_gaps_must_be_at_the_same_places() -> None:
    x = np.arange(64.0)
    y = 100 - x
    y[3] = np.nan
    zero = {"x": 0.0, "y": 0.0}
    looked = Looked({"x": x, "y": y}, zero, zero, {"x": "x", "y": "y"})
    assert list(shifts(looked)) == list(rates(looked)) == list(sums_of_three(looked)) == []
