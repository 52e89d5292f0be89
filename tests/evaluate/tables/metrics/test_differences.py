"""Differences: what lies between two columns is compared, though each is right, in order, and as correlated as it was."""

import tomllib

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.evaluation import evaluate
from pointillist.evaluate.tables.metrics.dependence import dependence
from pointillist.evaluate.tables.metrics.differences import Differences, differences
from pointillist.evaluate.tables.sample import read

DATES = pt.Schema(
    name="stays",
    columns={
        "start": pt.Datetime(min="2019-01-01", max="2024-12-31", missing=False),
        "end": pt.Datetime(min="2019-01-01", max="2024-12-31"),
    },
)
NUMBERS = pt.Schema(
    name="counts",
    columns={
        "cases": pt.Integer(min=0, max=2_000, missing=False),
        "all cases": pt.Integer(min=0, max=2_000, missing=False),
        "rate": pt.Real(min=0, max=2_000, missing=False),
    },
)


def stays(seed: int, days: float, rows: int = 2_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    start = rng.integers(18_000, 19_400, rows)
    end = start + rng.exponential(days, rows).astype(np.int64)
    dates = [pa.array(each, pa.int32()).cast(pa.date32()) for each in (start.astype(np.int32), end.astype(np.int32))]
    return pa.table({"start": dates[0], "end": pa.array(dates[1].to_pylist()[:-9] + [None] * 9)})


def counts(seed: int, mean: float, rows: int = 2_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    cases = rng.integers(0, 1_000, rows)
    return pa.table(
        {"cases": cases, "all cases": cases + rng.poisson(mean, rows), "rate": cases + rng.uniform(0, 9, rows)}
    )


def compared(real: pa.Table, made: pa.Table, schema: pt.Schema) -> Differences:
    samples = read(real, schema), read(made, schema)
    found = differences(*samples, dependence(*samples).correlations)
    assert found is not None
    return found


def test_stays_that_are_too_long_are_poor_though_the_order_is_kept() -> None:
    found = compared(stays(1, 11.5), stays(2, 28.3), DATES)
    (pair,) = found.pairs
    assert pair.columns == ("start", "end")
    assert pair.mean[0] / 86_400 == pytest.approx(11, abs=1)
    (point,) = found.points()
    assert point.grade == "poor"
    assert "end − start: its median is 19d in place of 8d" in point.sentence
    assert "end − start 8d → 19d" in found.lines()[0]


def test_a_second_sample_is_good() -> None:
    (point,) = compared(stays(1, 11.5), stays(2, 11.5), DATES).points()
    assert point.grade == "good"
    assert not point.advice


def test_dates_are_not_added_up_by_a_formula_and_the_advice_says_so() -> None:
    advice = compared(stays(1, 11.5), stays(2, 28.3), DATES).points()[0].advice[0]
    assert "cannot add a length of time to a date" in advice.text
    facts = tomllib.loads(DATES.to_toml())
    facts["columns"] |= tomllib.loads(advice.code)["columns"]
    schema = pt.Schema.parse(facts, origin="stays.toml")
    assert set(schema.measured) == {"start", "end_minus_start"}


def test_numbers_follow_from_their_difference() -> None:
    found = compared(counts(1, 20), counts(2, 60), NUMBERS)
    assert [each.columns for each in found.pairs] == [("cases", "all cases")]  # a count is not compared with a rate
    advice = found.points()[0].advice[0]
    assert advice.in_schema
    facts = tomllib.loads(NUMBERS.to_toml())
    facts["columns"] |= tomllib.loads(advice.code)["columns"]
    schema = pt.Schema.parse(facts, origin="counts.toml")
    assert set(schema.measured) == {"cases", "rate", "all cases_minus_cases"}
    column = schema.columns["all cases"]
    made = column.of_table(pa.table({"cases": [1, 2], "all cases_minus_cases": [10, 20]}))
    assert made.to_pylist() == [11, 22]


def test_columns_that_are_nearly_alike_are_a_pair_without_an_order() -> None:
    rng = np.random.default_rng(0)
    schema = pt.Schema(name="two", columns={name: pt.Real(min=0, max=300) for name in "ab"})

    def table(spread: float) -> pa.Table:
        first = rng.normal(150, 20, 1_000)
        return pa.table({"a": first, "b": first + rng.normal(0, spread, 1_000)})

    assert compared(table(3), table(3), schema).points()[0].grade == "good"
    assert compared(table(3), table(9), schema).points()[0].grade == "poor"


def test_columns_that_have_nothing_to_do_with_each_other_are_no_pair() -> None:
    rng = np.random.default_rng(0)
    schema = pt.Schema(name="two", columns={"hour": pt.Integer(min=0, max=23), "time": pt.Integer(min=0, max=2_359)})
    hour = rng.integers(0, 24, 1_000)
    sample = read(pa.table({"hour": hour, "time": 100 * hour + rng.integers(0, 60, 1_000)}), schema)
    assert differences(sample, sample, dependence(sample, sample).correlations) is None


def test_it_is_in_the_verdict_on_the_page_and_in_the_figures() -> None:
    found = evaluate(stays(1, 11.5, 500), stays(2, 28.3, 500), DATES)
    assert found.to_json()["differences"][0]["columns"] == ["start", "end"]
    assert "differences of paired columns" in {point.question for point in found.verdict.points}
    assert "Differences of paired columns" in found.to_html()
