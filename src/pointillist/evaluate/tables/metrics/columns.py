"""Columns: each one, real against synthetic, with all that a figure of it needs."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.advice import NO_NAMES, PUBLIC, Commands
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.cells import Cells, cells
from pointillist.evaluate.tables.cut_off import CutOff, cut_off, cut_points
from pointillist.evaluate.tables.metric import COLUMNS, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.metrics.marginals import by_chance
from pointillist.evaluate.tables.moments import Moments, moments_of
from pointillist.evaluate.tables.number_grades import NumberColumn, number_points
from pointillist.evaluate.tables.quantiles import Quantiles, quantiles_of
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.evaluate.verdict import GRADES, UNCLEAR, Point, grade, grade_beyond_chance
from pointillist.pages import charts, number
from pointillist.pages import share as percent
from pointillist.pages.blocks import (
    REAL_AND_SYNTHETIC,
    Block,
    Card,
    Cards,
    Code,
    Details,
    Legend,
    Table,
    Text,
    Titled,
    html,
)
from pointillist.pages.report import Section
from pointillist.schema.levels import Levels

_BARS = 48
"""The most bars of a histogram."""
_TAIL = 0.001
"""A histogram leaves out this share of the rows at either end; its text says so."""
_RARE = 0.01
"""Categories below this share of the real rows have a chart of their own, or nobody would see them."""
_STRANGE = 0.01
"""A larger share of values that no real row has is told."""
_MOST_BARS, _MOST_RARE = 14, 8
_MOST_LISTED = 200


@dataclass(frozen=True)
class Bar:
    """One level, or run of levels, with its share of either table."""

    label: str
    real: float
    synthetic: float


@dataclass(frozen=True)
class Histogram:
    """The regular values of a numeric column; shares are of all rows."""

    edges: tuple[float, ...]
    """On the column's scale."""
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    ends: tuple[str, str]
    """The first and the last edge in words."""
    scale: str


@dataclass(frozen=True)
class Column:
    """One column, compared."""

    name: str
    kind: str
    distance: float
    """Total variation distance: value by value where there are few, else in parts of equal mass."""
    chance: float
    """What chance alone would make of two samples of these sizes."""
    ks: float | None
    """Largest gap between the two cumulative distributions, at the schema's finest levels; ordered columns only."""
    missing: tuple[float, float]
    """Share of missing values, real and synthetic."""
    bars: tuple[Bar, ...]
    """Categories, or the special values and gaps of a numeric column."""
    histogram: Histogram | None
    moments: Moments | None
    summary: dict[str, tuple[str, str]]
    """Mean, spread and quantiles in words, real and synthetic; numeric columns only."""
    quantiles: Quantiles | None = None
    level: Levels | None = field(default=None, repr=False)
    by_value: bool = False
    """Whether each of its values is compared by itself."""
    strange: float = 0.0
    """The share of synthetic rows with a value that no real row has, or beyond all of them."""
    cut: CutOff | None = None
    """The real rows that the schema has no place for; None if there are none."""

    @property
    def beyond(self) -> float:
        """How far it is off beyond chance."""
        return max(0.0, self.distance - self.chance)

    @property
    def number(self) -> NumberColumn | None:
        """What the grades of numbers need of it; None of what is no number, or has no values."""
        if self.moments is None:
            return None
        mend = () if self.cut is None or self.cut.grade == "good" else self.cut.advice
        return NumberColumn(self.name, self.summary, self.moments, self.quantiles, self.level, self.by_value, mend)

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("name", "kind", "distance", "chance", "ks")},
            "strange": self.strange,
            "cut_off": None if self.cut is None else self.cut.to_json(),
            "missing": list(self.missing),
            "mean": None if self.moments is None else list(self.moments.mean),
            "spread": None if self.moments is None else list(self.moments.spread),
            "bars": [dict(vars(bar)) for bar in self.bars],
            "summary": {name: list(values) for name, values in self.summary.items()},
        }

    def card(self) -> Card:
        """Its distance, its charts, and what opens below them."""
        figure = html('{} <span class="soft">({})</span>', number(self.distance), number(self.chance))
        hint = "total variation distance; in brackets what chance alone would show"
        drawn = self._charts() if self.histogram is None else (self._histogram(self.histogram), *self._atoms())
        return Card(self.name, (*drawn, *self._cut(), *self._strange(), *self._numbers()), figure, hint)

    def _cut(self) -> tuple[Block, ...]:
        """Charts are drawn as the schema measures: what it cuts off stands at the bound or under "other" there."""
        if self.cut is None:
            return ()
        told = Text(f"The schema cuts off real rows: {self.cut.told()}.", "note")
        advice = [] if self.cut.grade == "good" else [each for each in self.cut.advice if each.code]
        lines = tuple(Details(each.text, Code(each.code)) for each in advice)
        return (told, *lines, *((Text(PUBLIC, "soft"),) if advice else ()))

    def _strange(self) -> tuple[Block, ...]:
        """A histogram does not show it: so it is said."""
        if self.strange <= _STRANGE:
            return ()
        return (Text(f"{percent(self.strange)} of the synthetic rows have a value that no real row has.", "note"),)

    def _charts(self) -> tuple[Block, ...]:
        """Its categories, rare ones apart; a list of all of them where the charts leave some out."""
        present = [bar for bar in self.bars if bar.real > 0 or bar.synthetic > 0]
        common = [bar for bar in present if bar.real >= _RARE or bar.label in ("missing", "other")]
        rare = [bar for bar in present if bar not in common]
        ordered = self.ks is not None
        drawn: list[Block] = []
        if common:
            drawn.append(_drawn(common, f"{self.name}: shares of its categories", _MOST_BARS, keep_order=ordered))
        if rare:
            chart = _drawn(rare, f"{self.name}: shares of its rare categories", _MOST_RARE, keep_order=ordered)
            drawn.append(Titled(f"Rare categories, under {_RARE:.0%}" if common else "", chart))
        if len(common) > _MOST_BARS or len(rare) > _MOST_RARE:
            listed = sorted(present, key=lambda bar: -bar.real)[:_MOST_LISTED]
            rows = [(bar.label, percent(bar.real), percent(bar.synthetic)) for bar in listed]
            drawn.append(Details(f"All {len(listed)} categories", Table.of("category|#real|*synthetic", rows)))
        return tuple(drawn)

    def _histogram(self, shape: Histogram) -> Titled:
        mean, median = self.summary["mean"], self.summary["median"]
        text = (
            f"{self.name}: histogram from {shape.ends[0]} to {shape.ends[1]}; mean {mean[0]} real, {mean[1]} synthetic; "
            f"median {median[0]} real, {median[1]} synthetic; the outermost 0.1 % at either end are not drawn"
        )
        chart = charts.histogram(shape.edges, shape.real, shape.synthetic, shape.ends, text)
        return Titled("" if shape.scale == "linear" else f"{shape.scale.capitalize()} scale", chart)

    def _atoms(self) -> tuple[Block, ...]:
        bars = [bar for bar in self.bars if bar.real > 0 or bar.synthetic > 0]
        if not bars:
            return ()
        chart = _drawn(bars, f"{self.name}: special values and gaps", _MOST_BARS, keep_order=True, top=1.0)
        return (Titled("Special values and gaps", chart),)

    def _numbers(self) -> tuple[Block, ...]:
        if not self.summary:
            return ()
        rows: list[tuple[str, ...]] = [(name, *values) for name, values in self.summary.items()]
        if self.ks is not None:
            rows.append(("largest gap of cumulative shares", number(self.ks)))
        return (Details("Mean, spread, quantiles", Table.of("|#real|*synthetic", rows)),)


@dataclass(frozen=True)
class Columns(Result):
    """All columns, the worst first."""

    columns: tuple[Column, ...]
    commands: Commands = NO_NAMES

    @property
    def mean(self) -> float:
        return float(np.mean([each.distance for each in self.columns]))

    def to_json(self) -> list[dict[str, Any]]:
        return [each.to_json() for each in self.columns]

    def table(self) -> pa.Table:
        names = ("name", "kind", "distance", "chance", "ks")
        return pa.Table.from_pylist([
            {**{name: getattr(each, name) for name in names}, "missing_real": each.missing[0],
             "missing_synthetic": each.missing[1]}
            for each in self.columns
        ])  # fmt: skip

    def points(self) -> tuple[Point, ...]:
        numbers = [each.number for each in self.columns]
        cuts = [each.cut for each in self.columns if each.cut is not None]
        known = [each for each in numbers if each is not None]
        return (self._distances(), *cut_points(cuts), *number_points(known, self.commands))

    def _distances(self) -> Point:
        """By the mean over columns, and by the worst one: the others must not hide it."""
        worst = max(self.columns, key=lambda each: (each.beyond, each.distance))
        chance = sum(each.chance for each in self.columns) / len(self.columns)
        mean = grade_beyond_chance(self.mean, chance)
        alone = UNCLEAR if worst.chance > 0.1 and worst.beyond < worst.chance / 2 else grade(worst.beyond, 0.04, 0.08)
        found = max((each for each in (mean, alone) if each != UNCLEAR), key=GRADES.index, default=UNCLEAR)
        if found == "good" and max(each.distance for each in self.columns) > 0.1:
            found = UNCLEAR  # chance may explain it, and nobody would sign it
        strange = ""
        if worst.strange > _STRANGE:
            strange = f" {percent(worst.strange)} of the synthetic rows have a value there that no real row has."
        number = worst.number
        advice = (self.commands.larger_epsilon(),) if number is None else number.advice(self.commands)
        return Point(
            "single columns",
            found,
            f"{worst.distance:.3f}",
            f"In the worst column, {worst.name}, {worst.distance:.1%} of the rows would have to change to make its counts "
            f"right; on average over columns {self.mean:.1%}. Chance alone would give {worst.chance:.1%} and "
            f"{chance:.1%}.{strange}",
            "total variation distance beyond what chance alone gives, of the worst column (and of the mean): good up to "
            "0.04 (0.015), fair up to 0.08 (0.05); unclear where chance gives nearly all of a distance over 0.1",
            advice if found in ("fair", "poor") else (),
        )

    def sections(self) -> tuple[Section, ...]:
        legend = Legend(
            (*REAL_AND_SYNTHETIC, ("", "0.012 (0.008): distance, and in brackets what chance alone would show"))
        )
        return (COLUMNS.saying(blocks=[legend, Cards(tuple(each.card() for each in self.columns))]),)


@METRICS.register("columns", place=20)
class ColumnsMetric(TableMetric[Columns]):
    """Every column by itself."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Columns:
        return columns(real, synthetic, context.commands)


def columns(real: Sample, synthetic: Sample, commands: Commands | None = None) -> Columns:
    """Compare every column; the worst stands first."""
    require_same_columns(real, synthetic)
    found = [_column(real, synthetic, level) for level in real.levels]
    return Columns(tuple(sorted(found, key=lambda each: (-each.beyond, -each.distance))), commands or NO_NAMES)


def _distance(compared: Cells, rows: int, others: int) -> tuple[float, float, float]:
    """The total variation distance of a column's cells, what chance would make of it, and what lies where nothing is."""
    real, made = (
        np.bincount(each, minlength=compared.size).astype(np.float64) for each in (compared.real, compared.synthetic)
    )
    gap = float(np.abs(real / rows - made / others).sum()) / 2
    return gap, by_chance(real + made, rows, others), float(made[real == 0].sum()) / others


def _column(real: Sample, synthetic: Sample, level: Levels) -> Column:
    name = level.name
    compared = cells(real, synthetic, name)
    distance, chance, strange = _distance(compared, real.rows, synthetic.rows)
    shares = [np.bincount(s.codes(name), minlength=level.size) / s.rows for s in (real, synthetic)]
    first = level.regular if level.numeric else 0  # a number's bins are in the histogram
    bars = tuple(Bar(level.label(i), float(shares[0][i]), float(shares[1][i])) for i in range(first, level.size))
    return Column(
        name,
        level.column.kind,
        distance,
        chance,
        _ks(level, shares[0], shares[1]) if level.ordered else None,
        (float(real.missing(name).mean()), float(synthetic.missing(name).mean())),
        bars,
        _histogram(level, *shares) if level.numeric else None,
        moments_of(real, synthetic, name) if level.numeric else None,
        _summary(real, synthetic, level) if level.numeric else {},
        # Quantiles of few values jump from one to the next where a handful of rows change sides: those are compared one
        # by one.
        None if compared.by_value else quantiles_of(real, synthetic, name),
        level,
        compared.by_value,
        strange,
        cut_off(real, level),
    )


def _ks(level: Levels, real: Floats, synthetic: Floats) -> float:
    """Over the values in their order, special values among them; gaps and unlisted values come last."""
    order: Codes = np.arange(level.size)
    if level.numeric and level.specials:
        place = np.concatenate([level.edges[:-1], level.specials, np.full(level.size - level.other, np.inf)])
        order = np.argsort(place, kind="stable")
    return float(np.abs(np.cumsum(real[order]) - np.cumsum(synthetic[order])).max())


def _histogram(level: Levels, real: Floats, synthetic: Floats) -> Histogram:
    pooled = np.cumsum((real + synthetic)[: level.regular])
    if pooled[-1] <= 0:
        first, last = 0, level.regular - 1
    else:
        first = int(np.searchsorted(pooled, _TAIL * pooled[-1], side="left"))
        last = int(min(level.regular - 1, np.searchsorted(pooled, (1 - _TAIL) * pooled[-1], side="left")))
    count = last - first + 1
    joined = np.arange(count) // -(-count // _BARS)  # bars of equal width, but for the last
    starts = np.searchsorted(joined, np.arange(joined[-1] + 1))
    edges = np.append(level.edges[first + starts], level.edges[last + 1])
    tables = [np.bincount(joined, weights=shares[first : last + 1]) for shares in (real, synthetic)]
    return Histogram(
        tuple(level.column.curve.bend(edges).tolist()),
        tuple(tables[0].tolist()),
        tuple(tables[1].tolist()),
        (level.column.show(edges[0]), level.column.show(edges[-1] - level.whole)),  # whole numbers end before the edge
        level.column.scale,
    )


def _summary(real: Sample, synthetic: Sample, level: Levels) -> dict[str, tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for sample in (real, synthetic):
        values = sample.as_is(level.name)
        values = values[~np.isnan(values)]
        facts: dict[str, float | None] = dict.fromkeys(("mean", "spread", "5 %", "median", "95 %"))
        if len(values):
            quantiles = np.quantile(values, [0.05, 0.5, 0.95])
            facts = dict(zip(facts, (values.mean(), values.std(), *quantiles), strict=True))
        for name, value in facts.items():
            spread = name == "spread"
            found.setdefault(name, []).append("–" if value is None else level.column.show(float(value), spread=spread))
    return {name: (texts[0], texts[1]) for name, texts in found.items()}


def _drawn(bars: list[Bar], what: str, most: int, *, keep_order: bool, top: float = 0.0) -> Block:
    if not keep_order or len(bars) > most:
        bars = sorted(bars, key=lambda bar: (-bar.real, -bar.synthetic))
    shown, left = bars[:most], bars[most:]
    rest = (f"{len(left)} more", sum(bar.real for bar in left), sum(bar.synthetic for bar in left)) if left else None
    text = "; ".join(f"{bar.label} {percent(bar.real)} real, {percent(bar.synthetic)} synthetic" for bar in shown)
    return charts.bars([(bar.label, bar.real, bar.synthetic) for bar in shown], f"{what}: {text}", rest=rest, top=top)
