"""Never together: values that are common, and that no real row has both."""

import tomllib

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.rules.base import Rule, facts_of
from pointillist.evaluate.tables.rules.never_together import NeverTogether
from pointillist.evaluate.tables.sample import read

SCHEMA = pt.Schema(
    name="never",
    columns={
        "sex": pt.Categorical(categories=("female", "male"), missing=False),
        "pregnant": pt.Boolean(),
        "rare": pt.Categorical(categories=("no", "yes"), missing=False),
    },
)


def table(seed: int, wrong: float = 0.0, rows: int = 1_000) -> pa.Table:
    rng = np.random.default_rng(seed)
    male = rng.random(rows) < 0.5
    pregnant = (~male & (rng.random(rows) < 0.3)) | (rng.random(rows) < wrong)
    rare = np.where((np.arange(rows) < 5) & ~male, "yes", "no")  # too rare to say that no man has it
    return pa.table(
        {
            "sex": np.where(male, "male", "female"),
            "pregnant": pa.array(pregnant, mask=rng.random(rows) < 0.05),
            "rare": rare,
        }
    )


def found(real: pa.Table, made: pa.Table) -> list[Rule]:
    return list(NeverTogether().find(facts_of(read(real, SCHEMA), read(made, SCHEMA))))


def test_only_what_is_common() -> None:
    (rule,) = found(table(1), table(2))
    assert rule.text == "sex = male is never with pregnant = True"
    assert rule.broken == 0.0
    assert tomllib.loads(rule.advice[0].code) == {"constraints": [{"impossible": {"sex": "male", "pregnant": True}}]}


def test_how_often_it_is_broken() -> None:
    (rule,) = found(table(1), table(2, wrong=0.2, rows=4_000))
    assert abs(rule.broken - 0.2 * 0.5 * 0.95) < 0.025  # five standard deviations


def test_what_one_real_row_breaks_is_no_rule() -> None:
    odd = pa.table({"sex": ["male"], "pregnant": [True], "rare": ["no"]})
    assert found(pa.concat_tables([table(1), odd.cast(table(1).schema)]), table(2)) == []
