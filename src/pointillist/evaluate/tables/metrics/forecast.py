"""Forecast: how much of the error the noise alone explains, and whether the release belongs to these rows.

For every table that the release measured: the error that its noise makes on average, the error it made this time, and
the error of the synthetic rows. A good fit removes noise, so the last is often the smallest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.report import PRIVACY
from pointillist.evaluate.tables.metric import FORECAST, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.metrics.marginals import Marginals, MarginalsMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.fitting.evidence import measured_blocks, raw_error
from pointillist.pages import charts, number
from pointillist.pages.blocks import Card, Cards, Legend, Table, Text, html
from pointillist.pages.report import Section
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

_MISMATCH = 8.0
"""Standard deviations from its expectation at which the noise of a release is not believed."""


@dataclass(frozen=True)
class Block:
    """Tables of one kind; means of total variation distances from the real rows' tables."""

    name: str
    tables: int
    cells: int
    forecast: float
    """Expected of the noisy tables as they were measured, from the noise scale alone."""
    noisy: float
    """The noisy tables of this release."""
    synthetic: float
    """The synthetic rows."""


@dataclass(frozen=True)
class Planned:
    """What the plan forecast for synthetic rows before anything was spent, and what came of it."""

    name: str
    expected: float
    factor: float
    """How far off the plan thought that it might be."""
    measured: float


@dataclass(frozen=True)
class Forecast(Result):
    """Forecast against measured, for all that a release measured in tables."""

    blocks: tuple[Block, ...]
    fits: bool | None
    """Whether the release's noise is what it states, given these rows; None where each person's rows are capped."""
    planned: tuple[Planned, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "blocks": [dict(vars(each)) for each in self.blocks],
            "fits": self.fits,
            "planned": [dict(vars(each)) for each in self.planned],
        }

    def table(self) -> pa.Table:
        return pa.Table.from_pylist([dict(vars(each)) for each in self.blocks])

    def sections(self) -> tuple[Section, ...]:
        said = [Text(self._planned())] if self.planned else []
        if self.fits:
            said.append(
                Text(
                    "The release belongs to these rows: its measurements lie as far from their exact counts as its stated "
                    "noise says."
                )
            )
        found = FORECAST.saying(_WHAT, blocks=[_LEGEND, Cards(self._cards(), "wide-cards"), *said])
        return (PRIVACY.saying(_ALARM), found) if self.fits is False else (found,)

    def _cards(self) -> tuple[Card, ...]:
        marks = [
            (each.name, (("forecast", each.forecast), ("noisy", each.noisy), ("synthetic", each.synthetic)))
            for each in self.blocks
        ]
        text = "; ".join(
            f"{each.name}: forecast {each.forecast:.3f}, noisy {each.noisy:.3f}, synthetic {each.synthetic:.3f}"
            for each in self.blocks
        )
        chart = charts.marks(marks, f"Mean total variation distances of measured tables: {text}")
        rows = [(each.name, number(each.forecast), number(each.noisy), number(each.synthetic)) for each in self.blocks]
        table = Table.of("tables|#forecast|#noisy|*synthetic", rows, "Forecast and measured errors")
        return Card("", (chart,)), Card("", (table,))

    def _planned(self) -> str:
        found = "; ".join(
            f"{each.name} {number(each.expected)} (to within a factor of {each.factor}), and {number(each.measured)} was "
            "measured"
            for each in self.planned
        )
        return f"Before anything was spent, the plan forecast for synthetic rows, in public bins: {found}."


_WHAT = (
    "For the very tables that were measured: the error that the noise makes on average (known from the release alone), the "
    "error it made this time, and the error of the synthetic rows. Where the synthetic rows lie left of the forecast, the "
    "fit took noise out; where they lie right of it, the model, not the noise, is what limits them."
)
_LEGEND = Legend(
    (("forecast", "forecast from the noise"), ("noisy", "noisy tables as released"), ("synthetic", "synthetic rows"))
)
_STRANGE = (
    "The release does not belong to these rows: its measurements lie much further from them than its noise explains."
)
_ALARM = html('<span class="alarm">{}</span>', _STRANGE)


def forecast(real: Sample, synthetic: Sample, release: Release) -> Forecast:
    """Compare on the very tables that were measured."""
    require_same_columns(real, synthetic)
    if levels_of(release.schema) != real.levels:
        raise UsageError(
            "the release was made with another schema than the one given. Leave the schema out: the release has its own."
        )
    found: list[Block] = []
    square, dimension = 0.0, 0
    for _, block, tables in measured_blocks(release):
        cells, forecasts, noisy, made = 0, [], [], []
        for table in tables:
            exact, sampled = table.count(real.records), table.count(synthetic.records)
            cells += exact.size
            forecasts.append(raw_error(exact.size, table.sigma, real.rows))
            noisy.append(_half(table.values / real.rows, exact / real.rows))
            made.append(_half(sampled / synthetic.rows, exact / real.rows))
            square += float(np.square((table.values - exact) / table.sigma).sum())
        dimension += cells
        means = (float(np.mean(values)) for values in (forecasts, noisy, made))
        found.append(Block(block.name, len(tables), cells, *means))
    fits = None
    if release.schema.person is None and dimension:
        fits = abs(square - dimension) < _MISMATCH * math.sqrt(2 * dimension) + _MISMATCH**2
    return Forecast(tuple(found), fits)


def planned(release: Release, measured: Sequence[Marginals]) -> tuple[Planned, ...]:
    """The plan's expectations beside the mean distances of one-way marginals and of pairs."""
    found = {"one-way marginals": 0, "pairs of columns": 1}
    return tuple(
        Planned(each.name, each.error, each.factor, measured[found[each.name]].mean)
        for each in release.plan.expected
        if found.get(each.name, len(measured)) < len(measured)
    )


def _half(first: Floats, second: Floats) -> float:
    return float(np.abs(first - second).sum()) / 2


@METRICS.register("forecast", place=50)
class ForecastMetric(TableMetric[Forecast]):
    """What the noise of the release explains."""

    needs = ("release",)

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Of a person's rows the release saw a capped part, and the difference would pass for noise."""
        return schema.person is None

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Forecast:
        assert context.release is not None
        found = forecast(real, synthetic, context.release)
        tables = context.ask(MarginalsMetric)
        return found if tables is None else replace(found, planned=planned(context.release, tables.compared))

    def notes(self, found: Forecast | None, context: TableContext) -> tuple[str, ...]:
        if found is None or found.fits is not False:
            return ()
        return (
            f"{_STRANGE} Either the real table is not the one that was released, or the release is not what it states.",
        )
