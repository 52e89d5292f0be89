"""Forecast: how much of the error the noise alone explains, and whether the release belongs to these rows.

For every table that the release measured: the error that its noise makes on average, the error it made this time, and
the error of the synthetic rows. A good fit removes noise, so the last is often the smallest.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.metrics.marginals import Marginals
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.fitting.evidence import measured_blocks, raw_error
from pointillist.release import Release
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
class Forecast:
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
