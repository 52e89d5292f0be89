"""Coefficient: of the least squares regression of a number on others."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.inference.estimate import Interval
from pointillist.inference.measured_intervals import Asked
from pointillist.inference.moments import coefficient, moments
from pointillist.inference.sql_expression import ALL_ROWS, Function
from pointillist.inference.statistic import Statistic, complete

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Coefficient(Statistic):
    """One coefficient of the least squares regression of a number on others, with a constant."""

    of_pairs = True

    outcome: Function
    inputs: tuple[Function, ...]
    place: int
    """0 is the constant."""
    term: str
    """What it is the coefficient of."""
    where: Function = ALL_ROWS

    @property
    def name(self) -> str:
        return f"{self.term} in the regression of {self.outcome.name}"

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.outcome, *self.inputs, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        solved = self._solved(values, weights)
        return math.nan if solved is None else float(solved[0][self.place])

    def influence(self, values: Floats, weights: Floats) -> Floats:
        solved = self._solved(values, weights)
        if solved is None:
            return np.full(len(values), math.nan)
        found, inverse, inputs, outcome, there = solved
        return np.asarray(there * (outcome - inputs @ found) * (inputs @ inverse[self.place]))

    def measured(self, asked: Asked) -> Interval | None:
        found = moments(asked, asked.functions[:-1]) if self.where.columns == frozenset() else None
        return None if found is None else found.interval(coefficient(self.place), asked.counts.confidence)

    def _solved(self, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats] | None:
        there, number = complete(values)
        inputs = np.column_stack([np.ones(len(values)), number[:, 1:-1]])
        moments = inputs.T @ (inputs * (weights * there)[:, None])
        scale = np.sqrt(np.abs(np.diag(moments)))
        if not (scale > 0).all() or np.linalg.eigvalsh(moments / np.outer(scale, scale))[0] < 1e-10:
            return None
        inverse = np.linalg.inv(moments / np.outer(scale, scale)) / np.outer(scale, scale)
        return inverse @ (inputs.T @ (number[:, 0] * weights * there)), inverse, inputs, number[:, 0], there
