"""Orders: found between numbers and between dates, and not where two columns merely lie apart."""

import tomllib

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.orders import Orders
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(
    name="orders",
    columns={
        "low": pt.Real(min=0, max=300),
        "high": pt.Real(min=0, max=300, missing=False),
        "far": pt.Integer(min=0, max=100_000, missing=False),
        "start": pt.Datetime(min="2020-01-01", max="2021-01-01", missing=False),
        "end": pt.Datetime(min="2020-01-01", max="2022-01-01T00:00:00", resolution="second", missing=False),
    },
)


def table(seed: int, wrong: float = 0.0, rows: int = 1_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 200, rows)
    gap = np.where(rng.random(rows) < wrong, -1.0, 1.0) * rng.exponential(30, rows)
    start = rng.integers(18_262, 18_600, rows)
    end = start * 86_400 + rng.integers(0, 40 * 86_400, rows)
    return pa.table(
        {
            "low": pa.array(low, mask=rng.random(rows) < 0.05),
            "high": np.clip(low + gap, 0, 300),
            "far": rng.integers(1_000, 90_000, rows),
            "start": pa.array(start, pa.int32()).cast(pa.date32()),
            "end": pa.array(end, pa.timestamp("s")),
        }
    )


def found(real: pa.Table, made: pa.Table) -> dict[str, Rule]:
    return {rule.text: rule for rule in Orders().find(facts_of(read(real, SCHEMA), read(made, SCHEMA)))}


def test_of_numbers_and_of_dates() -> None:
    rules = found(table(1), table(2))
    assert set(rules) == {"low <= high", "start <= end"}
    assert {rule.broken for rule in rules.values()} == {0.0}


def test_how_often_it_is_broken_and_the_constraint_that_mends_it() -> None:
    rule = found(table(1), table(2, wrong=0.3, rows=4_000))["low <= high"]
    assert abs(rule.broken - 0.3 * 0.95) < 0.04  # five standard deviations; a gap breaks nothing
    facts = tomllib.loads(f"{SCHEMA.to_toml()}\n{rule.advice[0].code}\n")
    assert str(pt.Schema.parse(facts, origin="orders.toml").constraints[-1]) == "low <= high"


def test_what_one_real_row_breaks_is_no_rule() -> None:
    real = table(1)
    high = real["high"].to_pylist()
    high[-1] = 0.0
    low = [*real["low"].to_pylist()[:-1], 50.0]
    assert "low <= high" not in found(
        real.set_column(1, "high", pa.array(high)).set_column(0, "low", pa.array(low)), table(2)
    )


def test_a_date_and_a_time_of_its_day_are_compared_to_the_second() -> None:
    """As a draft compares them: by the day either would be at most the other, and a made-up rule be broken."""
    rng = np.random.default_rng(3)

    def rows(later: int) -> pa.Table:
        day = rng.integers(18_300, 18_600, 1_000)
        time = (day + rng.integers(0, later + 1, 1_000)) * 86_400 + rng.integers(1, 86_400, 1_000)
        dates = {"start": pa.array(day, pa.int32()).cast(pa.date32()), "end": pa.array(time, pa.timestamp("s"))}
        return pa.table({name: dates.get(name, table(1)[name]) for name in SCHEMA.columns})

    rules = found(rows(0), rows(1))
    assert set(rules) == {"low <= high", "start <= end"}
    assert rules["start <= end"].broken == 0


def test_lengths_of_time_are_compared_in_seconds_whatever_they_are_counted_in() -> None:
    columns = {"short": pt.Duration(min="0s", max="9d"), "long": pt.Duration(min="0s", max="20d", resolution="day")}
    schema = pt.Schema(name="lengths", columns=columns)
    days = np.random.default_rng(3).integers(1, 9, 1_000)
    seconds = days * 86_400
    real = pa.table({"short": pa.array(seconds - 60, pa.duration("s")), "long": pa.array(seconds, pa.duration("s"))})
    sample = read(real, schema)
    assert [rule.text for rule in Orders().find(facts_of(sample, sample))] == ["short <= long"]
