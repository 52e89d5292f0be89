"""Noisy counts: what tables tell about private rows, what they leave open, and what they do not answer."""

import math
from dataclasses import replace

import numpy as np
import pytest

import pointillist as pt
from pointillist.features import OneHot, Records, Tiles
from pointillist.fitting.evidence import Table
from pointillist.fitting.readings import Readings
from pointillist.inference.estimate import Interval
from pointillist.inference.measured_intervals import Asked, NoisyCounts, middles, spans
from pointillist.inference.sql_expression import ALL_ROWS, Expression
from pointillist.sampling.condition import Condition
from pointillist.schema.levels import Levels

LEVELS = {
    "age": Levels("age", pt.Integer(min=0, max=9, missing=True)),
    "kind": Levels("kind", pt.Categorical(categories=("a", "b"), missing=False, out_of_domain="error")),
    "size": Levels("size", pt.Real(min=0, max=8, missing=False, bins=4)),
}
CODES = {
    name: np.random.default_rng(0).integers(0, levels.size, 3_000).astype(np.uint16) for name, levels in LEVELS.items()
}
SIGMA = 2.0


def counts(*columns: str, sigma: float = SIGMA) -> NoisyCounts:
    """Tables of each column, and of some together, exact but for what is said of their noise."""
    tables = []
    for names in [(name,) for name in LEVELS] + ([columns] if columns else []):
        leaves: tuple[Tiles, ...] = tuple(OneHot(name, LEVELS[name].size) for name in names)
        cells = np.zeros([leaf.dimension for leaf in leaves])
        np.add.at(cells, tuple(CODES[name] for name in names), 1.0)
        tables.append(Table(leaves, cells, sigma))
    return NoisyCounts(Readings(tuple(tables), None), LEVELS, 0.95)


def ask(known: NoisyCounts, where: str | None = None, number: str | None = None) -> Asked:
    columns: set[str] = set()
    functions = []
    if number is not None:
        formula = Expression.parse(number, list(LEVELS))
        functions.append(formula.number)
        columns |= formula.columns
    functions.append(ALL_ROWS if where is None else Expression.parse(where, list(LEVELS)).event)
    columns |= functions[-1].columns or set()
    size = LEVELS["size"].edges[:-1][CODES["size"]] + 1
    values = np.column_stack([size, np.ones(3_000)])
    return Asked(known, sorted(columns), tuple(functions), Records(3_000, CODES, {}), values, np.full(3_000, 1 / 3_000))


def holds(found: Interval | None, truth: float) -> bool:
    return found is not None and found.low <= truth <= found.high


def test_shares_are_read_by_formula_and_by_condition_alike() -> None:
    known = counts("age", "kind")
    truth = float(np.mean((CODES["age"] <= 4) & (CODES["kind"] == 1)))
    written = known.share(ask(known, "age <= 4 and kind = 'b'"))
    given = known.share_of(Condition.of(tuple(LEVELS.values()), {"age": (0, 4), "kind": "b"}))
    assert written == given
    assert holds(written, truth)
    assert written is not None
    assert written.high - written.low < 0.02


def test_a_condition_that_cuts_through_cells_widens() -> None:
    """Rows lie in the middle of their bins: below 3 is the first bin, and nothing of the second."""
    known = counts()
    asked = ask(known, "size < 3")
    below = (asked.values[:, 0] < 3).astype(float)
    cut = known.share(replace(asked, values=below[:, None]))
    assert holds(cut, below.mean())
    assert cut is not None
    assert cut.bounded
    whole = known.share(ask(known, "size < 4"))
    assert whole is not None
    assert not whole.bounded
    assert cut.high - cut.low > whole.high - whole.low
    given = known.share_of(Condition.of(tuple(LEVELS.values()), {"size": (0, 3)}))
    assert holds(given, float(np.mean(CODES["size"] <= 0.5)))
    assert given is not None
    assert given.high - given.low > 0.2  # a whole bin may lie on either side


def test_columns_that_no_table_holds_together_are_not_told() -> None:
    known = counts()
    assert known.share(ask(known, "age <= 4 and kind = 'b'")) is None
    assert known.share_of(Condition.of(tuple(LEVELS.values()), {"age": (0, 4), "kind": "b"})) is None


def test_noise_larger_than_the_table_leaves_everything_open() -> None:
    known = counts(sigma=1e5)
    assert known.share(ask(known, "kind = 'a'")) == Interval(0.0, 1.0, math.inf)
    mean = known.mean(LEVELS["age"], np.full(11, 1 / 11))
    assert mean == Interval(0.0, 9.0, math.inf)


def test_means_and_quantiles_of_a_column() -> None:
    known, ages = counts(), CODES["age"][CODES["age"] < 10]
    shares = np.bincount(CODES["age"], minlength=11) / 3_000
    assert holds(known.mean(LEVELS["age"], shares), ages.mean())
    for order in (0.1, 0.5, 0.9):
        assert holds(known.quantile(LEVELS["age"], order), np.quantile(ages, order, method="inverted_cdf"))
    wider = replace(known, confidence=0.999).mean(LEVELS["age"], shares)
    narrow = known.mean(LEVELS["age"], shares)
    assert wider is not None
    assert narrow is not None
    assert wider.high - wider.low > narrow.high - narrow.low


def test_means_of_formulas_where_cells_decide() -> None:
    known = counts("age", "kind")
    there = (CODES["age"] < 10) & (CODES["kind"] == 0)
    asked = ask(known, "kind = 'a'", "age * age")
    values = np.column_stack([np.where(CODES["age"] < 10, CODES["age"].astype(float) ** 2, np.nan), CODES["kind"] == 0])
    asked = replace(asked, values=values)
    squares = CODES["age"][there].astype(float) ** 2
    assert holds(known.mean_where(asked), squares.mean())
    assert holds(known.mean_where(asked, of_all=True), squares.sum() / 3_000)
    assert not known.mean_where(asked).bounded  # type: ignore[union-attr]
    size = ask(known, "size < 4", "size")
    spread = size.values[:, 0] + np.random.default_rng(1).uniform(-1, 1, 3_000)
    values = np.column_stack([spread, spread < 4])
    inside = known.mean_where(replace(size, values=values))
    assert inside is not None
    assert inside.bounded  # bins of two are wider than the noise
    assert holds(inside, spread[spread < 4].mean() + 0.5)  # private rows may all lie higher in their bins


def test_a_bin_says_what_it_holds() -> None:
    low, high = spans(LEVELS["age"])
    assert (low[:3].tolist(), high[:3].tolist()) == ([0, 1, 2], [0, 1, 2])
    assert np.isnan(low[-1])
    assert middles(LEVELS["size"]) == pytest.approx([1, 3, 5, 7])


def test_listed_numbers_are_levels_and_no_ranges() -> None:
    low, high = spans(Levels("price", pt.Integer(min=5, max=90, only=(5, 10, 90), special=(0,))))
    assert low[:-1].tolist() == high[:-1].tolist() == [5, 10, 90, 0]
