"""Projection: both tables on one flat map, whose axes are those along which the real rows vary most."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.metric import Result
from pointillist.evaluate.tables.design_matrix import scales, wide
from pointillist.evaluate.tables.metric import APART, METRICS, TableContext, TableMetric
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.pages import charts, share
from pointillist.pages.blocks import Card, Cards, Text
from pointillist.pages.report import Section

MOST_ROWS = 1_500


@dataclass(frozen=True, eq=False, repr=False)
class Projection(Result):
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

    def figures(self, name: str) -> dict[str, Any]:
        """None: it is for the eye alone."""
        return {}

    def sections(self) -> tuple[Section, ...]:
        what = (
            "The maps show some rows of each table along the two directions in which the real rows vary most "
            f"({share(self.variance[0])} and {share(self.variance[1])} of their variance). Look for islands that only one "
            "of them has."
        )
        return (APART.saying(blocks=[Cards(tuple(self._clouds())), Text(what)]),)

    def _clouds(self) -> list[Card]:
        both = np.concatenate([self.real, self.synthetic])
        low, high = np.quantile(both, 0.001, axis=0), np.quantile(both, 0.999, axis=0)
        frame = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
        found = []
        for kind, points in (("real", self.real), ("synthetic", self.synthetic)):
            inside = points[((points >= low) & (points <= high)).all(axis=1)]
            centre, spread = points.mean(axis=0), points.std(axis=0)
            text = (
                f"{kind.capitalize()} rows on the map: {len(inside):,} dots around ({centre[0]:.2f}, {centre[1]:.2f}), "
                f"spread {spread[0]:.2f} by {spread[1]:.2f}"
            )
            chart = charts.scatter([(float(x), float(y)) for x, y in inside], frame, kind, text)
            found.append(Card(f"Map: {kind} rows", (chart,)))
        return found


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


@METRICS.register("projection", place=90)
class ProjectionMetric(TableMetric[Projection]):
    """Some rows of both tables on one map."""

    def compute(self, real: Sample, synthetic: Sample, context: TableContext) -> Projection:
        return projection(real, synthetic, seed=context.seed)
