"""Marginals: total variation distances between real and synthetic tables of one, two, three or more columns.

Numbers are compared in equal parts of their public range; categories, special values, gaps each count as they are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import gammaln

from pointillist.errors import UsageError
from pointillist.evaluate.advice import NO_NAMES, Commands
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.report import GLOSSARY
from pointillist.evaluate.tables.metric import DEPENDENCE, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import UNCLEAR, Point, grade
from pointillist.pages import count as counted
from pointillist.pages import number
from pointillist.pages.blocks import Card, Cards, Items, Table, Text
from pointillist.pages.report import Section
from pointillist.schema.levels import BINS, coarse_size

_MOST = {1: None, 2: 5_000, 3: 500}
"""Of very many pairs or triples of columns, this many at random are compared."""
_LEAST_WEIGHT = 0.01
"""What a pair weighs whose columns say nothing together: dependence that is made up must be seen."""
_SHOWN = 8
"""The worst pairs and triples on the page."""


@dataclass(frozen=True)
class Marginal:
    """The distance between two tables of the same columns, from 0 (the same) to 1 (nothing in common)."""

    columns: tuple[str, ...]
    distance: float
    chance: float
    """What two samples of these sizes would show on average if nothing but chance set them apart."""


@dataclass(frozen=True)
class Marginals:
    """All, or some, tables of `order` columns; the worst first."""

    order: int
    bins: int
    tables: tuple[Marginal, ...]
    of: int
    """How many tables of this order there are; fewer may have been compared."""

    @property
    def mean(self) -> float:
        return float(np.mean([each.distance for each in self.tables])) if self.tables else 0.0

    @property
    def chance(self) -> float:
        return float(np.mean([each.chance for each in self.tables])) if self.tables else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "order": self.order,
            "bins": self.bins,
            "mean": self.mean,
            "chance": self.chance,
            "compared": len(self.tables),
            "of": self.of,
            "tables": [{**vars(each), "columns": list(each.columns)} for each in self.tables],
        }

    def table(self) -> pa.Table:
        return pa.table(
            {
                **{f"column_{i + 1}": [each.columns[i] for each in self.tables] for i in range(self.order)},
                "distance": [each.distance for each in self.tables],
                "chance": [each.chance for each in self.tables],
            }
        )

    def worst(self) -> Card:
        """The tables that differ most."""
        rows = [(" × ".join(each.columns), number(each.distance), number(each.chance)) for each in self.tables[:_SHOWN]]
        title = f"The worst {'pairs' if self.order == 2 else 'triples'} by their counts"
        return Card(title, (Table.of("columns|*TVD|#chance", rows),))


@dataclass(frozen=True)
class MarginalTables(Result):
    """Tables of one, two and three columns, as far as there are as many."""

    compared: tuple[Marginals, ...]
    shuffled: tuple[Marginals, ...]
    """From two columns on, the same for real columns shuffled independently: a yardstick."""
    commands: Commands = NO_NAMES

    def to_json(self) -> list[dict[str, Any]]:
        return [each.to_json() for each in self.compared]

    def figures(self, name: str) -> dict[str, Any]:
        return {name: self.to_json(), f"{name}_independent": {str(each.order): each.mean for each in self.shuffled}}

    def headlines(self) -> dict[str, float]:
        found = {f"TVD, {_columns(each.order)}": each.mean for each in self.compared}
        return found | {f"TVD, {_columns(each.order)}, independent": each.mean for each in self.shuffled}

    def lines(self) -> tuple[str, ...]:
        figures = "; ".join(f"{_columns(each.order)} {each.mean:.3f}" for each in self.compared)
        return (f"Mean total variation distance: {figures}.",)

    def points(self) -> tuple[Point, ...]:
        return (pairs_point(self.compared[1], self.shuffled[0], self.commands),) if self.shuffled else ()

    def sections(self) -> tuple[Section, ...]:
        caption = (
            "Mean total variation distance (TVD) between real and synthetic tables: 0 is the same, 1 is nothing in common. "
            f"Numbers in {self.compared[0].bins} equal parts of their range, special values and gaps apart: "
            "as the plan forecasts them."
        )
        independent = [None, *(each.mean for each in self.shuffled)]
        rows = [
            (("one column", "two columns", "three columns")[each.order - 1],
             f"{counted(len(each.tables))} of {counted(each.of)}", number(each.mean), number(apart), number(each.chance))
            for each, apart in zip(self.compared, independent, strict=True)
        ]  # fmt: skip
        table = Table.of(
            "tables of|#compared|*synthetic|#independent columns|#chance alone", rows, "Distances of tables"
        )
        worst = Cards(tuple(each.worst() for each in self.compared[1:]), "wide-cards")
        return (
            DEPENDENCE.saying(blocks=[*([worst] if worst.cards else []), Text(caption, "caption"), table]),
            GLOSSARY.saying(blocks=[Items(_TERMS)]),
        )


_TERMS = (
    (
        "Total variation distance",
        "the share of rows that would have to change to make one table of counts into the other.",
    ),
    (
        "Chance alone",
        "what two samples of these sizes from one population would show on average. Nothing can be asked to do better.",
    ),
    (
        "Independent columns",
        "the real columns, each shuffled by itself. A table no closer than that has learned nothing of how columns hang "
        "together.",
    ),
)


def pairs_point(pairs: Marginals, shuffled: Marginals, commands: Commands | None = None) -> Point:
    """How much of what two columns say together is kept."""
    # From 0 (no better than columns that do not know of each other) to 1 (as near as chance lets two samples be).
    # Where columns hardly depend on each other, or rows are few, that way is no yardstick: take 0.02 for it.
    mean, apart, chance = _weighed(pairs, shuffled)
    room = max(0.02, apart - chance)
    kept = round(min(1.0, max(0.0, 1 - (mean - chance) / room)), 2)
    worst = pairs.tables[0]
    # Two real samples lie as far apart as independent columns: nothing can be seen of dependence.
    lost = chance > max(apart, 0.1) and mean < 1.5 * chance
    found = UNCLEAR if lost else grade(1 - kept, 0.3, 0.6)
    return Point(
        "pairs of columns",
        found,
        f"{kept:.0%}",
        f"Of what two columns say together, {kept:.0%} is kept: pairs lie {mean:.3f} from the real ones, where "
        f"independent columns would lie {apart:.3f} and a second real sample {chance:.3f}, strong pairs weighing more. The "
        f"worst pair is {' with '.join(worst.columns)}.",
        "part of the way from independent columns to a second sample, pairs weighed by how far apart these two are: good "
        "from 70 %, fair from 40 %; unclear where two real samples lie further apart than independent columns",
        ((commands or NO_NAMES).larger_epsilon(),) if found in ("fair", "poor") else (),
    )


def _weighed(pairs: Marginals, shuffled: Marginals) -> tuple[float, float, float]:
    """Mean distances of the synthetic table, of independent columns and of a second sample: strong pairs weigh more.

    A pair weighs as much as its columns say together: a hundred pairs which say nothing must not hide one that is lost.
    """
    alone = {each.columns: each.distance for each in shuffled.tables}
    apart = np.array([alone.get(each.columns, shuffled.mean) for each in pairs.tables])
    chance = np.array([each.chance for each in pairs.tables])
    weights = _LEAST_WEIGHT + np.maximum(0.0, apart - chance)
    means = [np.average(each, weights=weights) for each in ([each.distance for each in pairs.tables], apart, chance)]
    return float(means[0]), float(means[1]), float(means[2])


@METRICS.register("marginals", place=40)
class MarginalsMetric(TableMetric[MarginalTables]):
    """All tables of few columns, beside those of columns that do not know of each other."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> MarginalTables:
        orders = range(1, min(3, len(real.columns)) + 1)
        apart = independent(real, seed=context.seed)

        def compare(other: Sample, order: int) -> Marginals:
            return marginals(real, other, order, most=_MOST[order], seed=context.seed)

        return MarginalTables(
            tuple(compare(synthetic, order) for order in orders),
            tuple(compare(apart, order) for order in orders[1:]),
            context.commands,
        )


def marginals(
    real: Sample, synthetic: Sample, order: int, *, bins: int = BINS, most: int | None = None, seed: int = 0
) -> Marginals:
    """Compare tables of `order` columns: all of them, or a random `most`."""
    require_same_columns(real, synthetic)
    if not 1 <= order <= len(real.columns):
        raise UsageError(f"order must lie between 1 and the number of columns, {len(real.columns)}, not {order}.")
    count = math.comb(len(real.columns), order)
    chosen = _some(real.columns, order, count, most, seed)
    sizes = {each.name: coarse_size(each, bins) for each in real.levels}
    first, second = ({name: s.bins(name, bins) for name in s.columns} for s in (real, synthetic))
    found = [_compare(columns, *_cells(columns, first, second, sizes), real.rows, synthetic.rows) for columns in chosen]
    return Marginals(order, bins, tuple(sorted(found, key=lambda each: -each.distance)), count)


def independent(sample: Sample, *, seed: int) -> Sample:
    """The same columns, each shuffled by itself: the best that a method blind to dependence can do."""
    rng = np.random.default_rng(seed)
    orders = {name: rng.permutation(sample.rows) for name in sample.columns}
    codes = {name: values[orders[name]] for name, values in sample.records.codes.items()}
    units = {name: values[orders[name]] for name, values in sample.records.units.items()}
    records = type(sample.records)(sample.rows, codes, units)
    return Sample(f"{sample.name}, columns shuffled", sample.levels, records)


def _some(columns: Sequence[str], order: int, count: int, most: int | None, seed: int) -> list[tuple[str, ...]]:
    if most is None or count <= most:
        return list(combinations(columns, order))
    rng = np.random.default_rng(seed)
    chosen: dict[tuple[int, ...], None] = {}
    while len(chosen) < most:
        chosen[tuple(sorted(rng.choice(len(columns), order, replace=False).tolist()))] = None
    return [tuple(columns[i] for i in index) for index in chosen]


def _cells(
    columns: tuple[str, ...], first: dict[str, Codes], second: dict[str, Codes], sizes: dict[str, int]
) -> tuple[Floats, Floats]:
    """How many rows of either sample stand in each cell."""
    rows, size = len(first[columns[0]]), 1
    cells: Codes = np.zeros(rows + len(second[columns[0]]), dtype=np.int64)
    for name in columns:
        cells = cells * sizes[name] + np.concatenate([first[name], second[name]])
        size *= sizes[name]
        if size > 8 * len(cells):  # far more cells than rows: number only those that are taken
            taken, cells = np.unique(cells, return_inverse=True)
            size = len(taken)
    one, two = (np.bincount(part, minlength=size).astype(np.float64) for part in (cells[:rows], cells[rows:]))
    return one, two


def _compare(columns: tuple[str, ...], first: Floats, second: Floats, rows: int, others: int) -> Marginal:
    gap = float(np.abs(first / rows - second / others).sum()) / 2
    return Marginal(columns, gap, by_chance(first + second, rows, others))


def by_chance(counts: Floats, rows: int, others: int) -> float:
    """The mean distance over all ways to deal the rows of both tables out to two of these sizes: exact, not a model.

    In a cell of k rows the one table gets a hypergeometric number of them, whose mean absolute deviation is known.
    """
    both = rows + others
    held, cells = np.unique(counts[counts > 0], return_counts=True)
    above = np.floor(held * rows / both) + 1  # the least number above the mean
    chances = np.exp(_log_choose(rows, above) + _log_choose(others, held - above) - _log_choose(both, held))
    deviation = 2 * above * (others - held + above) / both * chances
    return float(cells @ deviation) * both / (rows * others) / 2


def _log_choose(whole: int, part: Floats) -> Floats:
    return np.asarray(gammaln(whole + 1) - gammaln(part + 1) - gammaln(whole - part + 1))


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
