"""Leakage: columns that give the target away are named, honest ones are not."""

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.leakage import leaks
from pointillist.evaluate.tables.sample import Sample, read

SCHEMA = pt.Schema(
    name="leak",
    columns={
        "delay": pt.Integer(min=-60, max=600),
        "cost": pt.Real(min=0, max=10_000, missing=False),
        "hint": pt.Real(min=-9, max=9, missing=False),
        "late": pt.Boolean(),
        "grade": pt.Ordinal(categories=("low", "middle", "high"), missing=False),
    },
)


def sample(seed: int, rows: int = 2_000) -> Sample:
    rng = np.random.default_rng(seed)
    delay = np.clip(np.round(rng.exponential(20, rows)) - 10, -60, 600).astype(np.int64)
    late = delay > 15
    return read(
        pa.table(
            {
                "delay": pa.array(delay, mask=rng.random(rows) < 0.01),
                "cost": 7.0 * delay + 500,
                "hint": np.clip(late + rng.standard_normal(rows), -9, 9),
                "late": pa.array(late, mask=rng.random(rows) < 0.02),
                "grade": np.array(["low", "middle", "high"])[np.digitize(delay, [0, 15])],
            }
        ),
        SCHEMA,
    )


def test_of_a_class() -> None:
    found = leaks(sample(1), sample(2), "late")
    assert {each.column for each in found} == {"delay", "cost", "grade"}
    assert all(each.measure == "AUROC" for each in found)
    assert [each.score for each in found] == sorted((each.score for each in found), reverse=True)


def test_of_three_classes_and_of_a_number() -> None:
    assert {each.column for each in leaks(sample(1), sample(2), "grade")} == {"delay", "cost"}
    (number,) = leaks(sample(1), sample(2), "cost")
    assert (number.column, number.measure) == ("delay", "R²")


def test_what_does_not_vary_cannot_be_given_away() -> None:
    constant = sample(1).take(np.flatnonzero(sample(1).codes("late") == 0))
    assert leaks(constant, constant, "late") == ()
