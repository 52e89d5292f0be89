"""Projection: both tables on one flat map, whose axes are those along which the real rows vary most."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.design_matrix import scales, wide
from pointillist.evaluate.tables.sample import Sample, require_same_columns

MOST_ROWS = 1_500


@dataclass(frozen=True, eq=False, repr=False)
class Projection:
    """Positions of some rows of either table on the map."""

    real: Floats
    synthetic: Floats
    variance: tuple[float, float]
    """Share of the real rows' variance along each axis."""

    def to_json(self) -> dict[str, Any]:
        """Without the points: those of the real rows are rows."""
        return {"variance": list(self.variance), "rows": [len(self.real), len(self.synthetic)]}

    def table(self) -> pa.Table:
        both = np.concatenate([self.real, self.synthetic])
        names = ["real"] * len(self.real) + ["synthetic"] * len(self.synthetic)
        return pa.table({"table": names, "x": both[:, 0], "y": both[:, 1]})


def projection(real: Sample, synthetic: Sample, *, most_rows: int = MOST_ROWS, seed: int = 0) -> Projection:
    """The first two principal components of the real rows, every column scaled to equal weight."""
    require_same_columns(real, synthetic)
    basis = real.at_most(20_000, seed=seed)
    x = wide(basis, real.columns)
    centre, scale = x.mean(axis=0), scales(basis, real.columns)
    spread = (x - centre) * scale
    values, vectors = np.linalg.eigh(spread.T @ spread / len(x))
    axes = vectors[:, ::-1][:, :2]
    axes = axes * np.where(axes.sum(axis=0) < 0, -1.0, 1.0)  # the sign is free: fix it
    if axes.shape[1] < 2:
        axes = np.concatenate([axes, np.zeros_like(axes)], axis=1)
    total = max(1e-12, float(values.sum()))
    share = (float(values[-1]) / total, float(values[-2]) / total if len(values) > 1 else 0.0)

    def place(sample: Sample, number: int) -> Floats:
        return ((wide(sample.at_most(most_rows, seed=seed + number), real.columns) - centre) * scale) @ axes

    return Projection(place(real, 1), place(synthetic, 2), share)
