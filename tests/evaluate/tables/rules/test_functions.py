"""Functions: found where a value decides another, and not where every value is there but once."""

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.functions import Functions
from pointillist.evaluate.tables.sample import read

CODES, NAMES = tuple("abcdef"), ("one", "two", "three", "four", "five", "six")
SCHEMA = pt.Schema(
    name="functions",
    columns={
        "code": pt.Categorical(categories=CODES, missing=False),
        "name": pt.Categorical(categories=NAMES, missing=False),
        "group": pt.Integer(min=0, max=9, missing=False),
        "id": pt.Integer(min=0, max=10_000, missing=False),
        "other": pt.Boolean(missing=False),
    },
)


def table(seed: int, wrong: float = 0.0, rows: int = 1_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 6, rows)
    name = np.where(rng.random(rows) < wrong, (code + 1) % 6, code)
    return pa.table(
        {
            "code": np.array(CODES)[code],
            "name": np.array(NAMES)[name],
            "group": code // 2,
            "id": rng.permutation(rows),
            "other": rng.random(rows) < 0.5,
        }
    )


def found(real: pa.Table, made: pa.Table) -> dict[tuple[str, ...], Rule]:
    rules = Functions().find(facts_of(read(real, SCHEMA), read(made, SCHEMA)))
    return {rule.columns: rule for rule in rules}


def test_one_rule_for_each_column_that_follows_from_another() -> None:
    rules = found(table(1), table(2))
    assert set(rules) == {("code", "name"), ("code", "group")} or set(rules) == {("name", "code"), ("code", "group")}
    assert {rule.broken for rule in rules.values()} == {0.0}
    assert any("one to one" in rule.text for rule in rules.values())
    assert rules["code", "group"].text == "group follows from code"
    assert 'kind = "ignore"' in rules["code", "group"].advice[0].code


def test_how_often_it_is_broken() -> None:
    rules = found(table(1), table(2, wrong=0.2, rows=5_000))
    (pair,) = [rule for rule in rules.values() if "name" in rule.columns and "code" in rule.columns]
    assert abs(pair.broken - 0.2) < 0.03  # five standard deviations


def test_what_one_real_row_breaks_is_no_rule() -> None:
    real = table(1)
    odd = real.set_column(
        1, "name", pa.array([*real["name"].to_pylist()[:-1], "one" if real["code"][-1].as_py() != "a" else "two"])
    )
    assert not any("name" in columns and "code" in columns for columns in found(odd, table(2)))
