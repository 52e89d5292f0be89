"""Statistic: a number that weighted rows give. Each also says how much every row moves it, so that an error can be told.

A row's influence is the derivative of the statistic in the direction of that row. To first order a statistic is off by as
much as the mean of its influences, and of means the error is known (`assisted.py`).
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.inference.function import Function

Floats = NDArray[np.float64]
EVERYWHERE = (-math.inf, math.inf)


class Statistic(Protocol):
    """A number that weighted rows give."""

    @property
    def name(self) -> str: ...

    @property
    def functions(self) -> tuple[Function, ...]:
        """What it is made of; a condition comes last."""
        ...

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which it lies, whatever the rows."""
        ...

    def of(self, values: Floats, weights: Floats) -> float:
        """Its value, from those of its functions, (rows, functions); NaN if rows give none."""
        ...

    def influence(self, values: Floats, weights: Floats) -> Floats:
        """How much every row moves it."""
        ...


def values_of(statistic: Statistic, table: pa.Table) -> Floats:
    """The values of a statistic's functions: (rows, functions)."""
    return np.stack([each(table) for each in statistic.functions], axis=1)


@dataclass(frozen=True, eq=False)
class Mean:
    """The mean of a number over the rows that meet a condition and have one."""

    name: str
    number: Function
    where: Function
    bounds: tuple[float, float] = EVERYWHERE

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.number, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = _complete(values)
        under = float(weights @ there)
        return float(weights @ (number[:, 0] * there)) / under if under > 0 else math.nan

    def influence(self, values: Floats, weights: Floats) -> Floats:
        there, number = _complete(values)
        return there * (number[:, 0] - self.of(values, weights)) / float(weights @ there)


@dataclass(frozen=True, eq=False)
class Share:
    """The share of all rows that meet a condition."""

    name: str
    where: Function
    bounds: tuple[float, float] = (0.0, 1.0)

    @property
    def functions(self) -> tuple[Function, ...]:
        return (self.where,)

    def of(self, values: Floats, weights: Floats) -> float:
        return float(weights @ values[:, 0]) / float(weights.sum())

    def influence(self, values: Floats, weights: Floats) -> Floats:
        return np.asarray(values[:, 0] - self.of(values, weights))


@dataclass(frozen=True, eq=False)
class Part:
    """The mean over all rows of a number that counts 0 where a condition does not hold: a sum, by the row."""

    name: str
    number: Function
    where: Function
    bounds: tuple[float, float] = EVERYWHERE

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.number, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = _complete(values)
        return float(weights @ (number[:, 0] * there)) / float(weights.sum())

    def influence(self, values: Floats, weights: Floats) -> Floats:
        there, number = _complete(values)
        return np.asarray(number[:, 0] * there - self.of(values, weights))


@dataclass(frozen=True, eq=False)
class Quantile:
    """The lowest number that a share `order` of the rows do not exceed."""

    name: str
    number: Function
    where: Function
    order: float
    bounds: tuple[float, float] = EVERYWHERE

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.number, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = _complete(values)
        held = np.flatnonzero(there)
        held = held[np.argsort(number[held, 0], kind="stable")]
        passed = np.cumsum(weights[held])
        if not len(held) or not passed[-1] > 0:
            return math.nan
        first = int(np.argmax(passed >= self.order * passed[-1] * (1 - 1e-12)))
        return float(number[held[first], 0])

    def influence(self, values: Floats, weights: Floats) -> Floats:
        """Of the share below it, which is what a mean can be asked for."""
        return self.below(values, weights, np.array([self.of(values, weights)]))[:, 0]

    def below(self, values: Floats, weights: Floats, ends: Floats) -> Floats:
        """For some ends, the influence of every row on the share that is not above it, less the order."""
        there, number = _complete(values)
        return there[:, None] * ((number[:, :1] <= ends) - self.order) / float(weights @ there)


@dataclass(frozen=True, eq=False)
class Correlation:
    """Pearson's correlation of two numbers, over the rows that have both."""

    name: str
    first: Function
    second: Function
    where: Function
    bounds: tuple[float, float] = (-1.0, 1.0)

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.first, self.second, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        scaled = self._scaled(values, weights)
        return math.nan if scaled is None else float(scaled[2] @ (scaled[0] * scaled[1]))

    def influence(self, values: Floats, weights: Floats) -> Floats:
        scaled = self._scaled(values, weights)
        if scaled is None:
            return np.full(len(values), math.nan)
        one, other, share = scaled
        there, _ = _complete(values)
        found = one * other - self.of(values, weights) * (np.square(one) + np.square(other)) / 2
        return np.asarray(there * found / float(weights @ there)) if share.any() else np.zeros(len(values))

    def _scaled(self, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Both numbers in standard deviations from their means, and the rows' shares; none if one does not vary."""
        there, number = _complete(values)
        under = float(weights @ there)
        if not under > 0:
            return None
        share = weights * there / under
        away = number[:, :2] - share @ number[:, :2]
        variance = share @ np.square(away)
        if not (variance > 1e-12 * np.square(number[:, :2]).max(axis=0, initial=1e-300)).all():
            return None
        away /= np.sqrt(variance)
        return away[:, 0], away[:, 1], share


@dataclass(frozen=True, eq=False)
class Coefficient:
    """One coefficient of the least squares regression of a number on others, with a constant."""

    name: str
    outcome: Function
    inputs: tuple[Function, ...]
    where: Function
    place: int
    """0 is the constant."""
    bounds: tuple[float, float] = EVERYWHERE

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

    def _solved(self, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats] | None:
        there, number = _complete(values)
        inputs = np.column_stack([np.ones(len(values)), number[:, 1:-1]])
        moments = inputs.T @ (inputs * (weights * there)[:, None])
        scale = np.sqrt(np.abs(np.diag(moments)))
        if not (scale > 0).all() or np.linalg.eigvalsh(moments / np.outer(scale, scale))[0] < 1e-10:
            return None
        inverse = np.linalg.inv(moments / np.outer(scale, scale)) / np.outer(scale, scale)
        return inverse @ (inputs.T @ (number[:, 0] * weights * there)), inverse, inputs, number[:, 0], there


def _complete(values: Floats) -> tuple[Floats, Floats]:
    """1 for the rows that meet the condition and have all numbers; and the numbers, with 0 where there is none."""
    gaps = np.isnan(values)
    there = values[:, -1] * ~gaps.any(axis=1)
    return np.nan_to_num(there, nan=0.0), np.where(gaps, 0.0, values)
