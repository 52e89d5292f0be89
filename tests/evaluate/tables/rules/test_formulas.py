"""Formulas: parts of numbers and of dates, differences, ratios, sums; and no formula where there is none."""

import datetime as dt
import tomllib

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.formulas import Formulas
from pointillist.evaluate.tables.sample import read

INTEGERS = ("time", "hour", "minute", "first", "second", "total", "cents", "year", "month", "day", "noise")
SCHEMA = pt.Schema(
    name="formulas",
    columns={
        **{name: pt.Integer(min=-10_000, max=100_000, missing=name == "second") for name in INTEGERS},
        "price": pt.Real(min=0, max=1_000, decimals=2, missing=False),
        "when": pt.Datetime(min="2000-01-01", max="2030-01-01", missing=False),
    },
)


def columns(seed: int, rows: int = 600) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    minutes = rng.integers(0, 1440, rows)
    first, second = rng.integers(0, 500, rows), rng.integers(0, 300, rows)
    days = rng.integers(12_000, 18_000, rows).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    price = np.round(rng.uniform(1, 900, rows), 2)
    return {
        "time": minutes // 60 * 100 + minutes % 60,
        "hour": minutes // 60,
        "minute": minutes % 60,
        "first": first,
        "second": second,
        "total": first + second,
        "cents": np.round(price * 100).astype(np.int64),
        "year": days.astype("datetime64[Y]").astype(np.int64) + 1970,
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "noise": rng.integers(0, 1_000, rows),
        "price": price,
        "when": days.astype(dt.datetime),
    }


def table(found: dict[str, np.ndarray]) -> pa.Table:
    gaps = np.arange(len(found["second"])) % 10 == 0
    return pa.table({name: pa.array(values, mask=gaps if name == "second" else None) for name, values in found.items()})


def rules(real: pa.Table, made: pa.Table) -> dict[str, Rule]:
    return {rule.text: rule for rule in Formulas().find(facts_of(read(real, SCHEMA), read(made, SCHEMA)))}


def test_all_that_hold_are_found_and_no_others() -> None:
    found = rules(table(columns(1)), table(columns(2)))
    assert set(found) == {
        "hour = time // 100", "minute = time % 100", "total = first + second", "year = year of when",
        "month = month of when", "day = day of when", "cents = price × 100",
    }  # fmt: skip
    assert {rule.broken for rule in found.values()} == {0.0}


def test_a_schema_can_say_them() -> None:
    found = rules(table(columns(1)), table(columns(2)))
    for text in ("minute = time % 100", "month = month of when", "total = first + second", "cents = price × 100"):
        facts = tomllib.loads(SCHEMA.to_toml())
        facts["columns"] |= tomllib.loads(found[text].advice[0].code)["columns"]
        assert pt.Schema.parse(facts, origin="formulas.toml").columns[text.split()[0]].kind == "derived"


@pytest.mark.parametrize(
    ("name", "text", "broken"),
    [
        ("minute", "minute = time % 100", 0.3),
        ("total", "total = first + second", 0.27),
        ("day", "day = day of when", 0.3),
    ],
)
def test_how_often_they_are_broken(name: str, text: str, broken: float) -> None:
    made = columns(2)
    made[name] = np.where(np.arange(600) % 10 < 4, made[name] + 1, made[name])
    made[name][np.arange(600) % 10 == 3] -= 1
    assert rules(table(columns(1)), table(made))[text].broken == pytest.approx(
        broken, abs=0.1 if name == "total" else 1e-9
    )


def test_what_one_real_row_breaks_is_no_rule() -> None:
    real = columns(1)
    real["hour"][-1] += 1
    assert "hour = time // 100" not in rules(table(real), table(columns(2)))
