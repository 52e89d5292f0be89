"""Marginals: every column by itself, from noisy histograms at one or two resolutions. Post-processing: costs nothing."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.fitting.denoising import denoise_ordered, project_to_simplex
from pointillist.fitting.evidence import Table, estimated_rows, tables_of
from pointillist.release import Measurement
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


_VISIBLE = 2.0
"""Standard deviations of the noise beyond which bins at an end of a number are taken to hold some."""


class Marginals(NamedTuple):
    """Counts of every level, made possible: not negative, and with one total for all columns."""

    rows: float
    """The estimated number of rows, at least 1."""
    counts: dict[str, Floats]

    @classmethod
    def of(cls, measurement: Measurement, levels: tuple[Levels, ...], rows: int | None, *, ends: bool = False) -> Self:
        """From a round of histograms. `rows` is their exact number, where that is public; `ends`: at both ends of a number,
        bins are set to none as long as noise alone explains all of them together."""
        tables = tables_of(measurement)
        total = estimated_rows(tables) if rows is None else max(1.0, float(rows))
        by_column: dict[str, list[Table]] = {}
        for table in tables:
            by_column.setdefault(table.columns[0], []).append(table)
        return cls(total, {each.name: _possible(by_column[each.name], each, total, ends) for each in levels})

    @property
    def shares(self) -> dict[str, Floats]:
        return {name: values / self.rows for name, values in self.counts.items()}


def _possible(tables: list[Table], levels: Levels, rows: float, ends: bool) -> Floats:
    """The nearest possible counts: not negative, `rows` in all.

    Where a column was measured twice, coarsely and finely, the coarse counts set how many rows each bin has, and the
    fine ones how they lie inside it. Unlisted and missing values that the noise alone explains are set to none: a level
    that is allowed for safety's sake should not show up in the synthetic data because of noise.
    """
    fine = max(tables, key=lambda table: table.values.size)
    coarse = min(tables, key=lambda table: table.values.size)
    bins = coarse.leaves[0].table
    sizes, sums = np.bincount(bins), np.bincount(bins, weights=fine.values)
    if coarse is fine:
        counts, sigma = fine.values, np.full(len(sizes), fine.sigma)
    else:
        # Two independent readings of the same counts: each weighs as much as it is precise.
        precision, summed = 1 / coarse.sigma**2, 1 / (sizes * fine.sigma**2)
        counts = (coarse.values * precision + sums * summed) / (precision + summed)
        sigma = 1 / np.sqrt(precision + summed)
    ghosts = np.isin(np.arange(len(sizes)), bins[levels.other :]) & (counts < 3 * sigma)
    if ends and levels.numeric:
        regular = int(bins[levels.regular - 1]) + 1
        ghosts[:regular] |= _empty_ends(counts[:regular], sigma[:regular])
    if coarse is fine and levels.numeric:
        counts = counts.copy()
        counts[: levels.regular] = denoise_ordered(counts[: levels.regular], fine.sigma)
    possible = np.zeros(len(sizes))
    possible[~ghosts] = project_to_simplex(counts[~ghosts], rows)
    if coarse is fine:
        return possible
    inside = fine.values + ((counts - sums) / sizes)[bins]
    inside[: levels.regular] = denoise_ordered(inside[: levels.regular], fine.sigma)
    inside = np.maximum(inside, 0.0)
    held = np.bincount(bins, weights=inside)[bins]
    return np.where(held > 0, inside * possible[bins] / np.where(held > 0, held, 1.0), (possible / sizes)[bins])


def _empty_ends(counts: Floats, sigma: Floats) -> NDArray[np.bool_]:
    """Bins at both ends; none of them where noise may explain all."""
    empty = _empty_end(counts, sigma) | _empty_end(counts[::-1], sigma[::-1])[::-1]
    return np.zeros_like(empty) if empty.all() else empty


def _empty_end(counts: Floats, sigma: Floats) -> NDArray[np.bool_]:
    """The last bins from which on every sum to the end is no more than noise explains; never all of them."""
    sums, noise = np.cumsum(counts[::-1]), np.sqrt(np.cumsum(sigma[::-1] ** 2))
    seen = np.flatnonzero(sums > _VISIBLE * noise)
    last = len(counts) - int(seen[0]) if len(seen) else len(counts)
    return np.arange(len(counts)) >= last
