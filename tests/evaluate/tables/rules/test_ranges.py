"""Ranges: values that no real row has, where that says something."""

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.ranges import Ranges
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(name="ranges", columns={"x": pt.Real(min=0, max=3_000)})


def found(real: np.ndarray, made: np.ndarray) -> Rule:
    (rule,) = Ranges().find(facts_of(*(read(pa.table({"x": each.astype(float)}), SCHEMA) for each in (real, made))))
    return rule


def test_few_values() -> None:
    years = np.random.default_rng(0).integers(1995, 2004, 1_000)
    rule = found(years, np.concatenate([years[:800], np.full(100, 2010), np.full(100, 1999.5)]))
    assert rule.text == "x is one of 9 values, 1995 to 2003"
    assert rule.broken == pytest.approx(0.2)
    assert "min = 1995.0" in rule.advice[0].code
    assert found(np.repeat([1, 5, 7], 100), np.array([1])).text == "x is one of 1, 5, 7"


def test_many_values_have_ends_only() -> None:
    rng = np.random.default_rng(0)
    real = rng.uniform(10, 20, 1_000)
    rule = found(real, np.concatenate([rng.uniform(11, 19, 900), np.full(100, 25.0)]))
    assert rule.text.startswith("x is between 10.0")
    assert rule.broken == pytest.approx(0.1)


def test_further_real_rows_may_break_it_a_little() -> None:
    """Long tails, rare values: 16 rows of 500 beyond an end have a chance of 2^-16, in 100 samples with two ends 0.3 %."""
    rng = np.random.default_rng(0)
    for draw in (lambda: rng.lognormal(3, 1, 500), lambda: rng.geometric(0.2, 500)):
        assert max(found(draw(), draw()).beyond for _ in range(50)) <= 0.02
