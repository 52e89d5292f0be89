"""Forecast: how much of the error the noise alone explains, and whether the release belongs to these rows.

For every table that the release measured: the error that its noise makes on average, the error it made this time, and
the error of the synthetic rows. A good fit removes noise, so the last is often the smallest.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.evaluate.sample import Floats, Sample, require_same_columns
from pointillist.features.algebra import blocks
from pointillist.generators.evidence import tables_of
from pointillist.levels import levels_of
from pointillist.release import Measurement, Release

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
class Forecast:
    """Forecast against measured, for all that a release measured in tables."""

    blocks: tuple[Block, ...]
    fits: bool | None
    """Whether the release's noise is what it states, given these rows; None where each person's rows are capped."""

    def to_json(self) -> dict[str, Any]:
        return {"blocks": [dict(vars(each)) for each in self.blocks], "fits": self.fits}

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
    for number, measurement in enumerate(release.measurements):
        compared = list(_tables(measurement, real, synthetic))
        for block in release.plan["rounds"][number]["blocks"]:
            part, compared = compared[: block["count"]], compared[block["count"] :]
            if not part:
                continue
            cells = sum(len(exact) for exact, _, _, _ in part)
            found.append(
                Block(
                    block["name"],
                    len(part),
                    cells,
                    float(np.mean([_expected(len(exact), sigma, real.rows) for exact, _, _, sigma in part])),
                    float(np.mean([_half(noisy / real.rows, exact / real.rows) for exact, noisy, _, _ in part])),
                    float(np.mean([_half(made / synthetic.rows, exact / real.rows) for exact, _, made, _ in part])),
                )
            )
            square += sum(float(np.square((noisy - exact) / sigma).sum()) for exact, noisy, _, sigma in part)
            dimension += cells
    fits = None
    if release.schema.person is None and dimension:
        fits = abs(square - dimension) < _MISMATCH * math.sqrt(2 * dimension) + _MISMATCH**2
    return Forecast(tuple(found), fits)


def _tables(
    measurement: Measurement, real: Sample, synthetic: Sample
) -> Iterator[tuple[Floats, Floats, Floats, float]]:
    """For every table: exact, noisy and synthetic counts, and the noise on a cell, in rows."""
    measured = blocks(measurement.feature_map)
    if not all(block.indicator for block, _ in measured):
        return  # not tables of counts
    for (block, _), table in zip(measured, tables_of(measurement), strict=True):
        exact, made = (
            np.bincount(block.cells(sample.records), minlength=block.dimension).astype(np.float64)
            for sample in (real, synthetic)
        )
        yield exact, table.values.ravel(), made, table.sigma


def _expected(cells: int, sigma: float, rows: int) -> float:
    return 0.5 * cells * math.sqrt(2 / math.pi) * sigma / rows


def _half(first: Floats, second: Floats) -> float:
    return float(np.abs(first - second).sum()) / 2
