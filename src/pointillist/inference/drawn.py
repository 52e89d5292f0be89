"""Drawn: rows of a model, beside what its release measured; and what statistics they give, as they are and set right."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.fitting.readings import Readings
from pointillist.inference.adjusting import Adjustment
from pointillist.sampling.condition import Condition
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]

_CLIPPED = 0.005
"""So many rows may end with weight 0 in a step along the adjustment."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of a model, beside what its release measured."""

    readings: Readings
    levels: Mapping[str, Levels]
    table: pa.Table

    @cached_property
    def codes(self) -> "_Codes":
        return _Codes(self.levels, self.table)

    @cached_property
    def adjustment(self) -> Adjustment:
        return Adjustment(self.readings, self.levels, self.codes)

    def numbers(self, name: str) -> Floats:
        return numbers_of(self.levels[name], self.table[name])

    def holds(self, condition: Condition) -> NDArray[np.bool_]:
        """Which rows meet a condition."""
        found = np.ones(self.table.num_rows, dtype=bool)
        for name, cut in condition.cuts.items():
            found &= cut.holds(self.codes[name], self.numbers(name) if self.levels[name].numeric else None)
        return found

    def shares(self, name: str) -> Floats:
        """The share of rows at each level."""
        counts = np.bincount(self.codes[name], minlength=self.levels[name].size)
        return np.asarray(counts / max(1, self.table.num_rows), dtype=np.float64)

    def inside_cells(self, first: str, second: str) -> float:
        """The most that two numbers can correlate inside the cells of their table: by Cauchy and Schwarz.

        Little, unless both have a long tail that falls into one tile.
        """
        view = self.readings.finest([first, second])
        if view is None:
            return 0.0
        parts = []
        for name, tiles in zip((first, second), view.key, strict=True):
            assert tiles is not None
            values, cells = self.numbers(name), tiles.table[self.codes[name]]
            there = ~np.isnan(values)
            values, cells = values[there], cells[there]
            means = np.bincount(cells, weights=values) / np.maximum(np.bincount(cells), 1)
            spread = float(values.var()) if len(values) else 0.0
            parts.append(float((values - means[cells]).var()) / spread if spread > 0 else 0.0)
        return math.sqrt(math.prod(parts))

    def evaluate(self, statistic: "Statistic", columns: Sequence[str]) -> tuple[float, float]:
        """A statistic of the rows as they are, and of rows that agree with what was measured."""
        plain, change = statistic(self), self.adjustment.change(sorted(set(columns))) if columns else np.zeros(1)
        if not change.any():
            return plain, plain
        # Weights below 0 are no weights. So a step is made that is short enough, and its effect drawn out.
        step = min(1.0, 0.9 / max(-float(np.quantile(change, _CLIPPED)), 1e-12))
        weights = np.cumsum(np.maximum(1 + step * change, 0.0))
        points = (np.arange(len(change)) + 0.5) / len(change) * weights[-1]
        chosen = np.minimum(np.searchsorted(weights, points), len(change) - 1)
        moved = statistic(Drawn(self.readings, self.levels, self.table.take(pa.array(chosen))))
        return plain, plain + (moved - plain) / step


class _Codes(dict[str, NDArray[np.uint16]]):
    """The level of every value, by column; looked up when it is asked for."""

    def __init__(self, levels: Mapping[str, Levels], table: pa.Table):
        super().__init__()
        self._levels, self._table = levels, table

    def __missing__(self, name: str) -> NDArray[np.uint16]:
        self[name] = recode(self._levels[name], self._table[name])
        return self[name]


Statistic = Callable[[Drawn], float]
