"""Gaps: missing exactly when another column says so, or when another is missing, too."""

import tomllib

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.gaps import Gaps
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(
    name="gaps",
    columns={
        "alive": pt.Boolean(missing=False),
        "cause": pt.Categorical(categories=("heart", "cancer")),
        "x": pt.Real(min=0, max=1),
        "y": pt.Real(min=0, max=1),
        "free": pt.Real(min=0, max=1),
    },
)


def table(seed: int, wrong: float = 0.0, rows: int = 1_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    alive, apart = rng.random(rows) < 0.6, rng.random(rows) < 0.2
    cause = np.where(rng.random(rows) < 0.5, "heart", "cancer")
    return pa.table(
        {
            "alive": alive,
            "cause": pa.array(cause, mask=alive ^ (rng.random(rows) < wrong)),
            "x": pa.array(rng.random(rows), mask=apart),
            "y": pa.array(rng.random(rows), mask=apart ^ (rng.random(rows) < wrong)),
            "free": pa.array(rng.random(rows), mask=rng.random(rows) < 0.3),
        }
    )


def found(real: pa.Table, made: pa.Table) -> dict[str, Rule]:
    return {rule.text: rule for rule in Gaps().find(facts_of(read(real, SCHEMA), read(made, SCHEMA)))}


def test_by_a_value_and_together() -> None:
    rules = found(table(1), table(2))
    assert set(rules) == {"cause is missing exactly when alive is True", "x is missing exactly when y is"}
    assert {rule.broken for rule in rules.values()} == {0.0}


def test_how_often_they_are_broken() -> None:
    rules = found(table(1), table(2, wrong=0.2, rows=4_000))
    assert all(abs(rule.broken - 0.2) < 0.035 for rule in rules.values())  # five standard deviations


def test_constraints_that_keep_it() -> None:
    rule = found(table(1), table(2))["cause is missing exactly when alive is True"]
    lines = tomllib.loads(rule.advice[0].code)
    schema = pt.Schema.parse({**tomllib.loads(SCHEMA.to_toml()), **lines}, origin="gaps.toml")
    assert [str(each) for each in schema.constraints] == [
        "alive = (False) and cause = missing is impossible",
        "alive = (True) and cause = (heart or cancer) is impossible",
    ]


def test_what_one_real_row_breaks_is_no_rule() -> None:
    real = table(1)
    cause = real["cause"].to_pylist()
    cause[-1] = None if cause[-1] else "heart"
    assert list(found(real.set_column(1, "cause", pa.array(cause)), table(2))) == ["x is missing exactly when y is"]
