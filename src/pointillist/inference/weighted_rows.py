"""Rows: what a receiver works with, rows of the schema's types and a weight for each."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.features import Records
from pointillist.generators.points.points import Points
from pointillist.model import Model
from pointillist.sampling.recoding import numbers_of, recode

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with a weight each."""

    table: pa.Table
    weights: Floats
    """They add up to 1."""
    records: Records

    @classmethod
    def of(cls, model: Model, count: int, seed: int) -> Self:
        """A model's own points, or `count` rows of equal weight drawn from it."""
        if isinstance(model.generator, Points):
            points = model.generator
            total = float(points.weights.sum())
            weights = points.weights / total if total > 0 else np.full(points.records.rows, 1 / points.records.rows)
            return cls(points.table(model.levels), weights, points.records)
        table = model.sample_table(count, seed=seed)
        codes = {each.name: recode(each, table[each.name]) for each in model.levels}
        units = {each.name: each.to_unit(numbers_of(each, table[each.name])) for each in model.levels if each.numeric}
        return cls(table, np.full(count, 1 / count), Records(count, codes, units))

    @property
    def signed(self) -> bool:
        """Whether some weights are below 0."""
        return bool((self.weights < 0).any())

    def most_important(self, count: int, seed: int) -> NDArray[np.intp]:
        """The numbers of at most `count` rows: of the largest weights, or any if all are alike."""
        if len(self.weights) <= count:
            return np.arange(len(self.weights))
        if np.ptp(self.weights) < 1e-12:
            return np.sort(np.random.default_rng(seed).choice(len(self.weights), count, replace=False))
        return np.sort(np.argsort(-np.abs(self.weights), kind="stable")[:count])


def weight_name(columns: list[str]) -> str:
    """A name for the weights' column that no other column has."""
    name = "weight"
    while name in columns:
        name += "_"
    return name
