"""Dependence: one measure for every pair of columns, whatever their kinds.

The measure is the information coefficient: with I the mutual information and H the entropy of the simpler column,
sqrt((1 - exp(-2 I)) / (1 - exp(-2 H))). It is 0 for independent columns and 1 where one column determines the other;
for two bell-shaped numbers it comes close to the size of their correlation.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.special import gammaln

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.metric import DEPENDENCE, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.pages import charts, number, share
from pointillist.pages.blocks import Card, Cards, Legend, Table, html, scrolled
from pointillist.pages.report import Section
from pointillist.schema.levels import Levels

_TILES = 10
"""Numbers are cut into this many parts of about equal mass among the real rows, atoms apart."""
_MOST_TILES = 300
"""Of more categories than this, the rarest count as one."""
_HOPELESS = 0.9
"""Where chance alone shows this part of all there is to know (about one row per category), no dependence is claimed."""
_SHOWN = 8
"""The pairs on the page that differ most."""
_MANY = 22
"""A heat map of more columns takes the whole width of the page."""


@dataclass(frozen=True, eq=False)
class Dependence(Result):
    """Coefficients of all pairs, real and synthetic, as symmetric matrices with ones on the diagonal."""

    columns: tuple[str, ...]
    real: Floats
    synthetic: Floats

    @property
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
        }

    def table(self) -> pa.Table:
        names = ("column_1", "column_2", "real", "synthetic")
        return pa.table(dict(zip(names, map(list, zip(*self.pairs, strict=True)), strict=True)) if self.pairs else {})

    def headlines(self) -> dict[str, float]:
        return {} if self.kept is None else {"dependence kept": self.kept}

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
        return (DEPENDENCE.saying(html("{}{}", what, kept), blocks=[Cards((*self._heat_maps(), worst), "wide-cards")]),)

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
        return dependence(real, synthetic)


def dependence(real: Sample, synthetic: Sample) -> Dependence:
    """The coefficients of all pairs of columns in both samples, over one set of tiles."""
    require_same_columns(real, synthetic)
    tiles = {each.name: _tiles(each, real.codes(each.name)) for each in real.levels}
    return Dependence(real.columns, _coefficients(real, tiles), _coefficients(synthetic, tiles))


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


def _coefficients(sample: Sample, tiles: dict[str, NDArray[np.int64]]) -> Floats:
    codes: dict[str, Codes] = {name: tiles[name][sample.codes(name)] for name in sample.columns}
    sizes = {name: int(tiles[name].max()) + 1 for name in sample.columns}
    found = np.eye(len(sample.columns))
    for (i, a), (j, b) in combinations(enumerate(sample.columns), 2):
        counts = np.bincount(codes[a] * sizes[b] + codes[b], minlength=sizes[a] * sizes[b])
        found[i, j] = found[j, i] = coefficient(counts.reshape(sizes[a], sizes[b]).astype(np.float64))
    return found


def _tiles(levels: Levels, codes: Codes) -> NDArray[np.int64]:
    """The tile of every level: runs of bins with about equal mass; all else by itself, or the rarest together."""
    found = np.bincount(codes, minlength=levels.size)
    if not levels.numeric:
        if levels.size <= _MOST_TILES:
            return np.arange(levels.size)
        rank = np.argsort(np.argsort(-found, kind="stable"), kind="stable")
        return np.minimum(rank, _MOST_TILES - 1)
    counts = found[: levels.regular].astype(np.float64)
    middle = np.cumsum(counts) - counts / 2
    place = np.floor(_TILES * middle / max(1.0, counts.sum())).astype(np.int64)
    _, packed = np.unique(np.minimum(place, _TILES - 1), return_inverse=True)
    return np.concatenate([packed, packed.max() + 1 + np.arange(levels.size - levels.regular)])


def _entropy(counts: Floats) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
