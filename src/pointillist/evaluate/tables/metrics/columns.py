"""Columns: each one, real against synthetic, with all that a figure of it needs."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.metrics.marginals import Marginal, marginals
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.schema.levels import Levels

_BARS = 48
"""The most bars of a histogram."""
_TAIL = 0.001
"""A histogram leaves out this share of the rows at either end; its text says so."""


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
    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    ends: tuple[str, str]
    """The first and the last edge in words."""
    scale: str


@dataclass(frozen=True)
class Moments:
    """Mean and spread of a number, real and synthetic."""

    mean: tuple[float, float]
    spread: tuple[float, float]
    rows: tuple[int, int]
    """Rows that have a value."""
    kurtosis: float = 3.0
    """Of the real values: how much single values weigh in their spread. 3 for a normal distribution."""

    @property
    def shift(self) -> float:
        """How far the mean is off, in units of the real spread."""
        return abs(self.mean[1] - self.mean[0]) / self.spread[0] if self.spread[0] > 0 else 0.0

    @property
    def chance(self) -> float:
        """The standard deviation of `shift`'s difference between two samples of these sizes."""
        return float(np.sqrt(sum(1 / max(1, rows) for rows in self.rows)))

    @property
    def stretch(self) -> float:
        """By which part the spread is too large or too small; 0 where the real values do not differ."""
        return abs(self.spread[1] / self.spread[0] - 1) if self.spread[0] > 0 else 0.0

    @property
    def stretch_chance(self) -> float:
        """The standard deviation of `stretch` between two samples of these sizes, of one distribution."""
        return self.chance * float(np.sqrt(max(0.0, self.kurtosis - 1) / 4))


@dataclass(frozen=True)
class Column:
    """One column, compared."""

    name: str
    kind: str
    distance: float
    """Total variation distance, numbers in 16 parts of their range."""
    chance: float
    """What chance alone would make of two samples of these sizes."""
    ks: float | None
    """Largest gap between the two cumulative distributions, at the schema's finest levels; ordered columns only."""
    missing: tuple[float, float]
    """Share of missing values, real and synthetic."""
    bars: tuple[Bar, ...]
    """Categories, or the special values and gaps of a numeric column."""
    histogram: Histogram | None
    moments: "Moments | None"
    summary: dict[str, tuple[str, str]]
    """Mean, spread and quantiles in words, real and synthetic; numeric columns only."""

    def to_json(self) -> dict[str, Any]:
        return {
            **{name: getattr(self, name) for name in ("name", "kind", "distance", "chance", "ks")},
            "missing": list(self.missing),
            "mean": None if self.moments is None else list(self.moments.mean),
            "spread": None if self.moments is None else list(self.moments.spread),
            "bars": [dict(vars(bar)) for bar in self.bars],
            "summary": {name: list(values) for name, values in self.summary.items()},
        }


@dataclass(frozen=True)
class Columns:
    """All columns, the worst first."""

    columns: tuple[Column, ...]

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


def columns(real: Sample, synthetic: Sample) -> Columns:
    """Compare every column."""
    require_same_columns(real, synthetic)
    return Columns(tuple(_column(real, synthetic, each) for each in marginals(real, synthetic, 1).tables))


def _column(real: Sample, synthetic: Sample, distance: Marginal) -> Column:
    (name,) = distance.columns
    level = real.level(name)
    shares = [np.bincount(s.codes(name), minlength=level.size) / s.rows for s in (real, synthetic)]
    first = level.regular if level.numeric else 0  # a number's bins are in the histogram
    bars = tuple(Bar(level.label(i), float(shares[0][i]), float(shares[1][i])) for i in range(first, level.size))
    return Column(
        name,
        level.column.kind,
        distance.distance,
        distance.chance,
        _ks(level, shares[0], shares[1]) if level.ordered else None,
        (float(real.missing(name).mean()), float(synthetic.missing(name).mean())),
        bars,
        _histogram(level, *shares) if level.numeric else None,
        _moments(real, synthetic, name) if level.numeric else None,
        _summary(real, synthetic, level) if level.numeric else {},
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
        tuple(edges.tolist()),
        tuple(tables[0].tolist()),
        tuple(tables[1].tolist()),
        (level.column.show(edges[0]), level.column.show(edges[-1] - level.whole)),  # whole numbers end before the edge
        level.column.scale,
    )


def _moments(real: Sample, synthetic: Sample, name: str) -> Moments | None:
    found = [values[~np.isnan(values)] for values in (real.values(name), synthetic.values(name))]
    if not all(len(values) for values in found):
        return None
    first, second = found
    return Moments(
        (float(first.mean()), float(second.mean())),
        (float(first.std()), float(second.std())),
        (len(first), len(second)),
        _kurtosis(first),
    )


def _kurtosis(values: Floats) -> float:
    spread = float(values.std())
    return float(np.mean(((values - values.mean()) / spread) ** 4)) if spread > 0 else 1.0


def _summary(real: Sample, synthetic: Sample, level: Levels) -> dict[str, tuple[str, str]]:
    found: dict[str, list[str]] = {}
    for sample in (real, synthetic):
        values = sample.values(level.name)
        values = values[~np.isnan(values)]
        facts: dict[str, float | None] = dict.fromkeys(("mean", "spread", "5 %", "median", "95 %"))
        if len(values):
            quantiles = np.quantile(values, [0.05, 0.5, 0.95])
            facts = dict(zip(facts, (values.mean(), values.std(), *quantiles), strict=True))
        for name, value in facts.items():
            spread = name == "spread"
            found.setdefault(name, []).append("–" if value is None else level.column.show(float(value), spread=spread))
    return {name: (texts[0], texts[1]) for name, texts in found.items()}
