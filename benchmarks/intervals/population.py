"""A simulated population with dependent columns of several kinds, and questions whose answers are known.

Small, so that hundreds of releases take minutes: five columns, a few thousand rows, few components and steps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import pointillist as pt
from pointillist.inference.estimate import Estimate
from pointillist.inference.uncertainty import Uncertainty

Floats = NDArray[np.float64]

METHOD = pt.Mosaic(components=30, steps=100)


def schema(rows: int) -> pt.Schema:
    """A category, a flag, a whole number, a number with a long tail and zeros, and a number with gaps."""
    return pt.Schema(
        name="population",
        rows=rows,
        columns={
            "kind": pt.Categorical(categories=("a", "b", "c", "d"), missing=False, out_of_domain="error"),
            "flag": pt.Boolean(missing=False),
            "age": pt.Integer(min=0, max=99, missing=False),
            "income": pt.Real(min=1, max=100_000, special=(0.0,), scale="log", missing=False),
            "score": pt.Real(min=-5, max=5),
        },
    )


def simulate(rows: int, seed: int) -> pa.Table:
    """One factor behind all columns, and some direct dependence."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal(rows)
    age = np.clip(45 + 15 * factor + 8 * rng.standard_normal(rows), 0, 99).astype(np.int64)
    kind = np.clip((1.2 + 0.8 * factor + 0.7 * rng.standard_normal(rows)).astype(np.int64), 0, 3)
    pay = np.exp(8 + 0.6 * factor + 0.5 * rng.standard_normal(rows) + 0.3 * (kind == 2)).clip(1, 100_000)
    income = np.where(rng.random(rows) < 0.15, 0.0, pay)
    score = np.clip(0.5 * factor + 0.8 * rng.standard_normal(rows) - 0.5 * (income == 0), -5, 5)
    flag = rng.random(rows) < 1 / (1 + np.exp(-0.05 * (age - 45) - 0.5 * (kind - 1.5)))
    return pa.table(
        {
            "kind": np.array(["a", "b", "c", "d"])[kind],
            "flag": flag,
            "age": age,
            "income": income,
            "score": pa.array(score, mask=rng.random(rows) < 0.05),
        }
    )


@dataclass(frozen=True)
class Question:
    """A statistic, asked of the error bars and of the private rows."""

    name: str
    ask: Callable[[Uncertainty], Estimate]
    answer: Callable[[pa.Table], float]


def _numbers(table: pa.Table, *names: str) -> list[Floats]:
    """Columns as floats, over the rows that have all of them."""
    columns = [np.asarray(table[name].cast(pa.float64()).to_numpy(), dtype=np.float64) for name in names]
    there = ~np.isnan(sum(columns))
    return [each[there] for each in columns]


def _correlation(table: pa.Table, first: str, second: str) -> float:
    one, other = _numbers(table, first, second)
    return float(np.corrcoef(one, other)[0, 1])


def _of_kind(table: pa.Table, kind: str) -> pa.Table:
    return table.filter(pc.equal(table["kind"], kind))


def _flagged(table: pa.Table) -> pa.Table:
    return table.filter(table["flag"])


def _share(table: pa.Table, *, kind: str, oldest: int = 99, flagged: bool = False) -> float:
    found = _of_kind(_flagged(table) if flagged else table, kind)
    return pc.sum(pc.less_equal(found["age"], oldest)).as_py() / table.num_rows if found.num_rows else 0.0


def _slope(table: pa.Table) -> float:
    """Of the score on the age."""
    age, score = _numbers(table, "age", "score")
    return float(np.polyfit(age, score, 1)[0])


def _within_kind(table: pa.Table) -> float:
    return _correlation(_of_kind(table, "c"), "age", "income")


def _mean(table: pa.Table, name: str) -> float:
    return float(_numbers(table, name)[0].mean())


def _spread(table: pa.Table) -> float:
    return float(_numbers(table, "score")[0].std())


def _quantile(table: pa.Table, name: str, order: float) -> float:
    return float(np.quantile(_numbers(table, name)[0], order, method="inverted_cdf"))


def _any(name: str, statistic: Callable[[Any], float], *columns: str) -> Question:
    return Question(name, lambda u: u.of(statistic, columns=columns), statistic)


QUESTIONS = (
    Question("share of c", lambda u: u.share({"kind": "c"}), lambda t: _share(t, kind="c")),
    Question(
        "share of c, flagged",
        lambda u: u.share({"kind": "c", "flag": True}),
        lambda t: _share(t, kind="c", flagged=True),
    ),
    Question(
        "share of c, under 50",
        lambda u: u.share({"kind": "c", "age": (None, 49)}),
        lambda t: _share(t, kind="c", oldest=49),
    ),
    Question("mean of age", lambda u: u.mean("age"), lambda t: _mean(t, "age")),
    Question("mean of income", lambda u: u.mean("income"), lambda t: _mean(t, "income")),
    Question("mean of score", lambda u: u.mean("score"), lambda t: _mean(t, "score")),
    Question("median of age", lambda u: u.quantile("age", 0.5), lambda t: _quantile(t, "age", 0.5)),
    Question("0.9 quantile of income", lambda u: u.quantile("income", 0.9), lambda t: _quantile(t, "income", 0.9)),
    Question(
        "share of c, flagged, under 50",
        lambda u: u.share({"kind": "c", "flag": True, "age": (None, 49)}),
        lambda t: _share(t, kind="c", flagged=True, oldest=49),
    ),
    Question("mean of age, flagged", lambda u: u.mean("age", {"flag": True}), lambda t: _mean(_flagged(t), "age")),
    Question(
        "mean of income, flagged", lambda u: u.mean("income", {"flag": True}), lambda t: _mean(_flagged(t), "income")
    ),
    Question(
        "correlation of age and score",
        lambda u: u.correlation("age", "score"),
        lambda t: _correlation(t, "age", "score"),
    ),
    Question(
        "correlation of age and income",
        lambda u: u.correlation("age", "income"),
        lambda t: _correlation(t, "age", "income"),
    ),
    _any("correlation of age and income in c", _within_kind, "kind", "age", "income"),
    _any("slope of score on age", _slope, "age", "score"),
    _any("standard deviation of score", _spread, "score"),
)
