"""Dependence: one measure for every pair of columns, whatever their kinds.

The measure is the information coefficient: with I the mutual information and H the entropy of the simpler column,
sqrt((1 - exp(-2 I)) / (1 - exp(-2 H))). It is 0 for independent columns and 1 where one column determines the other;
for two bell-shaped numbers it comes close to the size of their correlation.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import gammaln

from pointillist.evaluate.advice import NO_NAMES, Advice, Commands
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.cells import Cells, tiles
from pointillist.evaluate.tables.metric import DEPENDENCE, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.rank_correlations import Correlation, rank_correlations
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.tables.strong_pairs import SHOWN, STRONG, StrongPair, kept
from pointillist.evaluate.verdict import GRADES, UNCLEAR, Point, grade
from pointillist.pages import charts, number, share
from pointillist.pages.blocks import Card, Cards, Legend, Table, html, scrolled
from pointillist.pages.report import Section

_TILES = 10
"""Numbers are cut into this many parts of about equal mass among the real rows; fewer values stand each by itself."""
_HOPELESS = 0.9
"""Where chance alone shows this part of all there is to know (about one row per category), no dependence is claimed."""
_SHOWN = 8
"""The pairs on the page that differ most."""
_CORRELATION_OFF = 0.15
"""A rank correlation that is further off is not graded good, also where chance may explain it."""
_MANY = 22
"""A heat map of more columns takes the whole width of the page."""


@dataclass(frozen=True, eq=False)
class Dependence(Result):
    """Coefficients of all pairs, real and synthetic, as symmetric matrices with ones on the diagonal."""

    columns: tuple[str, ...]
    real: Floats
    synthetic: Floats
    strongest: tuple[StrongPair, ...] = ()
    """The strongest pairs of either table, the strongest first."""
    correlations: tuple[Correlation, ...] = ()
    """Of all pairs of ordered columns."""
    commands: Commands = NO_NAMES

    @cached_property
    def pairs(self) -> list[tuple[str, str, float, float]]:
        """Every pair with its two coefficients, the largest difference first."""
        found = [
            (a, b, float(self.real[i, j]), float(self.synthetic[i, j]))
            for (i, a), (j, b) in combinations(enumerate(self.columns), 2)
        ]
        return sorted(found, key=lambda each: -abs(each[2] - each[3]))

    @property
    def mean_difference(self) -> float:
        """The mean absolute difference over pairs."""
        return float(np.mean([abs(real - made) for _, _, real, made in self.pairs])) if self.pairs else 0.0

    @property
    def kept(self) -> float | None:
        """How much of the real dependence is there in the synthetic rows: the slope of one on the other."""
        weight = sum(real * real for _, _, real, _ in self.pairs)
        return sum(real * made for _, _, real, made in self.pairs) / weight if weight > 1e-12 else None

    def to_json(self) -> dict[str, Any]:
        return {
            "columns": list(self.columns),
            "real": self.real.tolist(),
            "synthetic": self.synthetic.tolist(),
            "mean_difference": self.mean_difference,
            "kept": self.kept,
            "strongest": [each.to_json() for each in self.strongest],
            "correlations": [{**vars(each), "columns": list(each.columns)} for each in self.correlations],
        }

    def table(self) -> pa.Table:
        names = ("column_1", "column_2", "real", "synthetic")
        return pa.table(dict(zip(names, map(list, zip(*self.pairs, strict=True)), strict=True)) if self.pairs else {})

    def headlines(self) -> dict[str, float]:
        return {} if self.kept is None else {"dependence kept": self.kept}

    def lines(self) -> tuple[str, ...]:
        if not self.strongest:
            return ()
        shown = "; ".join(f"{each.name} {each.real:.2f} → {each.synthetic:.2f}" for each in self.strongest[:3])
        return (f"Strongest pairs (information coefficient, real → synthetic): {shown}.",)

    def points(self) -> tuple[Point, ...]:
        return (*_strong(self.strongest, self.commands), *_correlated(self.correlations, self.commands))

    def sections(self) -> tuple[Section, ...]:
        what = (
            "One measure for all kinds of pairs, the information coefficient: 0 where columns are independent, 1 where one "
            "determines the other; for two bell-shaped numbers it is about the size of their correlation."
        )
        kept = html(
            " In the synthetic table it is on average <strong>{}</strong> of what it is in the real one; the mean "
            "difference is {}.", share(self.kept), number(self.mean_difference),
        ) if self.kept is not None else ""  # fmt: skip
        if len(self.columns) < 2:
            return (DEPENDENCE.saying(html("{}{}", what, kept)),)
        rows = [(f"{a} × {b}", number(real, 2), number(made, 2)) for a, b, real, made in self.pairs[:_SHOWN]]
        worst = Card("The pairs that differ most", (Table.of("pair|#real|*synthetic", rows),))
        first = Cards((*self._strongest(), worst), "wide-cards")
        return (
            DEPENDENCE.saying(html("{}{}", what, kept), blocks=[first, Cards(tuple(self._heat_maps()), "wide-cards")]),
        )

    def _strongest(self) -> tuple[Card, ...]:
        """The strongest pairs, what is kept of each, and the rank correlation where both columns have an order."""
        if not self.strongest:
            return ()
        signed = {each.columns: each for each in self.correlations}
        rows = []
        for each in self.strongest:
            ranks = signed.get(each.columns)
            told = ("–", "–") if ranks is None else (number(ranks.real, 2), number(ranks.synthetic, 2))
            part = "–" if each.kept is None else f"{each.kept:.0%}"
            rows.append((each.name, number(each.real, 2), number(each.synthetic, 2), part, *told))
        heads = "pair|#real|*synthetic|#kept|#correlation|*synthetic"
        return (Card("The strongest pairs", (Table.of(heads, rows, "The strongest pairs of columns"),)),)

    def _heat_maps(self) -> list[Card]:
        worst = self.pairs[0]
        text = f"heat map of the information coefficient of all pairs of {len(self.columns)} columns"
        apart = f"the largest difference is {worst[0]} with {worst[1]}: {worst[2]:.2f} real, {worst[3]:.2f} synthetic"
        drawn = {
            "Real": charts.heat_map(self.real.tolist(), self.columns, f"Real table: {text}"),
            "Synthetic": charts.heat_map(self.synthetic.tolist(), self.columns, f"Synthetic table: {text}"),
            "Difference": charts.heat_map(
                (self.synthetic - self.real).tolist(),
                self.columns,
                f"Synthetic minus real: {text}; {apart}",
                signed=True,
            ),
        }
        legends = {"Difference": _DIFFERENCES}
        return [
            Card(
                title,
                (scrolled(chart, f"Heat map, {title}"), legends.get(title, _AMOUNTS)),
                big=len(self.columns) > _MANY,
            )
            for title, chart in drawn.items()
        ]


_AMOUNTS = Legend((("", "from 0 (empty) to 1 (black); a column with itself is left out"),))
_DIFFERENCES = Legend(
    (
        ("", "the fuller the colour, the larger, full at 0.4"),
        ("less", "weaker than real"),
        ("more", "stronger than real"),
    )
)


@METRICS.register("dependence", place=30)
class DependenceMetric(TableMetric[Dependence]):
    """How strongly each pair of columns hangs together."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Dependence:
        return dependence(real, synthetic, context.commands)


def dependence(real: Sample, synthetic: Sample, commands: Commands | None = None) -> Dependence:
    """The coefficients of all pairs of columns in both samples, over one set of tiles."""
    require_same_columns(real, synthetic)
    names = real.columns
    tiled = {name: tiles(real, synthetic, name, _TILES) for name in names}
    first, second = np.eye(len(names)), np.eye(len(names))
    for (i, a), (j, b) in combinations(enumerate(names), 2):
        tables = _counts(tiled[a], tiled[b])
        first[i, j] = first[j, i] = coefficient(tables[0])
        second[i, j] = second[j, i] = coefficient(tables[1])
    strongest = tuple(
        StrongPair(
            (names[i], names[j]),
            float(first[i, j]),
            float(second[i, j]),
            kept(*_counts(tiled[names[i]], tiled[names[j]])),
        )
        for i, j in _strongest(first, second)
    )
    return Dependence(names, first, second, strongest, rank_correlations(real, synthetic), commands or NO_NAMES)


def _counts(first: Cells, second: Cells) -> tuple[Floats, Floats]:
    """The two-way tables of two columns, real and synthetic."""
    shape = first.size, second.size
    real, made = (
        np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
        for one, other in ((first.real, second.real), (first.synthetic, second.synthetic))
    )
    return real, made


def _strongest(real: Floats, synthetic: Floats) -> Iterable[tuple[int, int]]:
    """The strongest pairs of the real table, then those of the synthetic one that are strong there alone."""
    upper = list(combinations(range(len(real)), 2))

    def ranked(table: Floats) -> list[tuple[int, int]]:
        return sorted(upper, key=lambda pair: -table[pair])[:SHOWN]

    made_up = [pair for pair in ranked(synthetic) if synthetic[pair] >= max(STRONG, 2 * real[pair])]
    return dict.fromkeys([*ranked(real), *made_up])


def _strong(pairs: tuple[StrongPair, ...], commands: Commands) -> tuple[Point, ...]:
    """Strong pairs weigh by the square of their strength; the worst counts by itself, too."""
    if not pairs:
        return ()
    rule = (
        "part kept of the strongest pairs, on average (and of the worst): good from 80 % (60 %), fair from 60 % (35 %); "
        "unclear where no pair is strong"
    )
    graded = [(each, each.kept) for each in pairs if each.kept is not None and each.strength >= STRONG]
    if not graded:
        best = pairs[0]
        said = f"No two columns hang together strongly: the strongest are {best.name}, at {best.real:.2f}."
        return (Point("strongest pairs", UNCLEAR, "–", said, rule),)
    weights = [each.strength**2 for each, _ in graded]
    mean = sum(weight * part for weight, (_, part) in zip(weights, graded, strict=True)) / sum(weights)
    worst, least = min(graded, key=lambda each: each[1])
    found = max(grade(1 - mean, 0.2, 0.4), grade(1 - least, 0.4, 0.65), key=GRADES.index)
    all_of_them = f"Of the {len(graded)} pairs that hang together most, {mean:.0%} is kept. The worst of them is"
    return (
        Point(
            "strongest pairs",
            found,
            f"{mean:.0%}",
            f"{all_of_them if len(graded) > 1 else 'One pair hangs together strongly:'} "
            f"{worst.columns[0]} with {worst.columns[1]}: {least:.0%} is kept (information coefficient {worst.real:.2f} "
            f"real, {worst.synthetic:.2f} synthetic).",
            rule,
            _pair_advice(worst.columns, commands) if found in ("fair", "poor") else (),
        ),
    )


def _correlated(found: tuple[Correlation, ...], commands: Commands) -> tuple[Point, ...]:
    if not found:
        return ()
    worst = max(found, key=lambda each: (each.beyond, abs(each.real - each.synthetic)))
    graded = UNCLEAR if worst.chance > 0.1 else grade(worst.beyond, 0.05, _CORRELATION_OFF)
    if graded == "good" and abs(worst.real - worst.synthetic) > _CORRELATION_OFF:
        graded = UNCLEAR  # chance may explain it, and nobody would sign it
    return (
        Point(
            "correlations",
            graded,
            f"{worst.synthetic - worst.real:+.2f}",
            f"The rank correlation that is furthest off is that of {worst.columns[0]} with {worst.columns[1]}: "
            f"{worst.synthetic:.2f} in place of {worst.real:.2f}. With so many rows, chance alone may give a difference of "
            f"{3 * worst.chance:.2f}.",
            "largest difference of a rank correlation beyond chance (three standard deviations between two samples of these "
            "sizes): good up to 0.05, fair up to 0.15; unclear where one standard deviation is over 0.1, or chance may "
            "explain a difference over 0.15",
            _pair_advice(worst.columns, commands) if graded in ("fair", "poor") else (),
        ),
    )


def _pair_advice(pair: tuple[str, str], commands: Commands) -> tuple[Advice, ...]:
    """A target, where none was named; more budget."""
    if commands.target in pair:
        return (commands.larger_epsilon(),)
    said = f"If {pair[1]} is what the data are for, name it as a target: pairs with it are measured first, and more finely."
    return (Advice(said, commands.synth(target=pair[1])), commands.larger_epsilon())


def coefficient(counts: Floats) -> float:
    """The information coefficient of a two-way table of counts, corrected for its upward bias."""
    counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
    if min(counts.shape) < 2:
        return 0.0
    first, second = _entropy(counts.sum(axis=1)), _entropy(counts.sum(axis=0))
    most, chance = min(first, second), _by_chance(counts.sum(axis=1), counts.sum(axis=0))
    if chance > _HOPELESS * most:
        return 0.0
    # What is found beyond chance, stretched so that "determined" stays 1.
    information = most * (first + second - _entropy(counts) - chance) / (most - chance)
    share = np.expm1(-2 * max(0.0, information)) / np.expm1(-2 * most)
    return float(np.sqrt(min(1.0, share)))


def _by_chance(first: Floats, second: Floats) -> float:
    """The information that a sample of independent columns with these counts shows on average.

    A cell that expects m rows holds X of them, about binomial, and adds E[X log(X / m)] / rows. Where cells are full
    that comes to the usual (levels - 1)(other levels - 1) / (2 rows); where they are not, that rule is far off.
    """
    rows = float(first.sum())
    (sizes, many), (others, often) = (np.unique(counts, return_counts=True) for counts in (first, second))
    few = np.minimum.outer(sizes, others)[:, :, None]
    share = np.maximum.outer(sizes, others)[:, :, None] / rows
    mean, held = few * share, np.arange(1.0, 81.0)
    chances = gammaln(few + 1) - gammaln(held + 1) - gammaln(few - held + 1)
    chances = np.exp(chances + held * np.log(share) + (few - held) * np.log1p(-share))
    terms = (chances * held * np.log(held / mean)).sum(axis=2)
    terms = np.where(mean > 30, (1 - share) / 2, terms[:, :, None])[:, :, 0]  # many rows: half their relative variance
    return float(many @ (terms * (1 - few[:, :, 0] / rows)) @ often) / rows


def _entropy(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
