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
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.schema.levels import BINS, coarse_size


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
    return Marginal(columns, gap, _by_chance(first + second, rows, others))


def _by_chance(counts: Floats, rows: int, others: int) -> float:
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
