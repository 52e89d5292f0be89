"""Sampled rows: rows of a model, beside what its release measured; and what statistics they give, as they are and
calibrated to that."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.fitting.readings import Readings
from pointillist.inference.calibration import Calibration
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
OfTable = Callable[[pa.Table], float]
"""A statistic of rows of equal weight."""

_CLIPPED = 0.005
"""So many rows may end with weight 0 in a step along the calibration."""


@dataclass(frozen=True, eq=False)
class SampledRows:
    """Rows of a model, beside what its release measured."""

    readings: Readings
    levels: Mapping[str, Levels]
    table: pa.Table

    @cached_property
    def codes(self) -> "_Codes":
        return _Codes(self.levels, self.table)

    @cached_property
    def calibration(self) -> Calibration:
        return Calibration(self.readings, self.levels, self.codes)

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
            values, cells = numbers_of(self.levels[name], self.table[name]), tiles.table[self.codes[name]]
            there = ~np.isnan(values)
            values, cells = values[there], cells[there]
            means = np.bincount(cells, weights=values) / np.maximum(np.bincount(cells), 1)
            spread = float(values.var()) if len(values) else 0.0
            parts.append(float((values - means[cells]).var()) / spread if spread > 0 else 0.0)
        return math.sqrt(math.prod(parts))

    def evaluate(self, statistic: OfTable, columns: Sequence[str]) -> tuple[float, float]:
        """A statistic of the rows as they are, and of rows that agree with what was measured."""
        plain = statistic(self.table)
        change = self.calibration.change(sorted(set(columns))) if columns else np.zeros(1)
        if not change.any():
            return plain, plain
        # Weights below 0 are no weights. So a step is made that is short enough, and its effect drawn out.
        step = min(1.0, 0.9 / max(-float(np.quantile(change, _CLIPPED)), 1e-12))
        weights = np.cumsum(np.maximum(1 + step * change, 0.0))
        points = (np.arange(len(change)) + 0.5) / len(change) * weights[-1]
        chosen = np.minimum(np.searchsorted(weights, points), len(change) - 1)
        moved = statistic(self.table.take(pa.array(chosen)))
        return plain, plain + (moved - plain) / step


class _Codes(dict[str, NDArray[np.uint16]]):
    """The level of every value, by column; looked up when it is asked for."""

    def __init__(self, levels: Mapping[str, Levels], table: pa.Table):
        super().__init__()
        self._levels, self._table = levels, table

    def __missing__(self, name: str) -> NDArray[np.uint16]:
        self[name] = recode(self._levels[name], self._table[name])
        return self[name]
