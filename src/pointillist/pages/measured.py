"""Measured: what a release measured and with which noise, as a card states it."""

import math
from dataclasses import dataclass
from typing import Any, Self

from pointillist.files.facts import real, text, whole
from pointillist.fitting.class_shares import record_count
from pointillist.fitting.evidence import Table, estimated_rows, measured_blocks, raw_error
from pointillist.plan import PublishedBlock, PublishedRound
from pointillist.privacy.disclosure import most_people
from pointillist.release import Release

_MOST = 1 << 48


@dataclass(frozen=True)
class Measured:
    """Tables of one kind, as they were measured."""

    name: str
    tables: int
    cells: int
    budget: float
    """Part of the privacy budget (of mu²) that went into them."""
    noise: float
    """Standard deviation of the noise on one cell, in rows."""
    error: float | None
    """Expected total variation distance of one raw table, from noise alone; 1 or more where the noise drowns it. None for
    features that are not counts."""

    @property
    def smallest(self) -> int:
        """Three standard deviations of the noise on one cell, in rows."""
        return math.ceil(3 * self.noise)

    @property
    def error_said(self) -> str:
        return "–" if self.error is None else "≥ 1" if self.error >= 1 else f"{self.error:.3f}"

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "smallest_group": None if self.error is None else self.smallest}

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        return cls(
            name=text(facts, "name"),
            tables=whole(facts, "tables", 0, _MOST),
            cells=whole(facts, "cells", 0, _MOST),
            budget=real(facts, "budget", 0.0),
            noise=real(facts, "noise", 0.0),
            error=None if facts["error"] is None else real(facts, "error", 0.0),
        )


def estimated_count(release: Release) -> tuple[float, float]:
    """The number of rows as the first block of noisy counts tells it, and the noise in that."""
    if release.schema.image is not None:
        counted = [block for each in release.plan.rounds for block in each.blocks if block.counts]
        return record_count(release), min((b.noise_rows * math.sqrt(b.cells) for b in counted), default=0.0)
    tables = next((tables for _, _, tables in measured_blocks(release)), [])
    if not tables:
        return float(release.rows or release.schema.rows or 1), 0.0  # public, as nothing else could tell
    precision = sum(1 / (table.values.size * table.sigma**2) for table in tables)
    return estimated_rows(tables), precision**-0.5


def most_units(release: Release, rows: float, error: float) -> int:
    """The most people, or records where each is a unit by itself, that a release may be made from: see `CONFIDENCE`.

    People with several rows are no more than their rows. Where all rows of a person share one weight, they may add up to
    a little less than 1, as every row counts a whole number of parts.
    """
    person = release.schema.person
    if not release.of_histories or person is None:
        return most_people(rows, error)
    parts = min(each.grid.parts for each in release.measurements)
    return most_people(*(each / max(0.5, 1 - (person.max_rows - 1) / parts) for each in (rows, error)))


def measured(release: Release, rows: float) -> list[Measured]:
    if release.schema.image is not None:
        return [_feature_block(each, block, rows) for each in release.plan.rounds for block in each.blocks]
    tables = {id(block): own for _, block, own in measured_blocks(release)}
    return [
        _table_block(each, block, tables[id(block)], rows) if id(block) in tables else _feature_block(each, block, rows)
        for each in release.plan.rounds
        for block in each.blocks
        if id(block) in tables or block.ones > 1
    ]


def _table_block(planned: PublishedRound, block: PublishedBlock, tables: list[Table], rows: float) -> Measured:
    cells, noise = sum(table.values.size for table in tables), tables[0].sigma
    error = raw_error(cells / len(tables), noise, rows)
    return Measured(block.name, len(tables), cells, planned.share * block.part, noise, error)


def _feature_block(planned: PublishedRound, block: PublishedBlock, rows: float) -> Measured:
    """Features other than tables, or counts of images; features by themselves have no error."""
    error = raw_error(block.cells, block.noise_rows, rows) if block.counts else None
    return Measured(block.name, block.count, block.cells, planned.share * block.part, block.noise_rows, error)
