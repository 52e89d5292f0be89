"""Statistic: a number that rows give. Each kind says how an interval for the private one is found.

Three ways, as far as a kind has them: read off the noisy counts of the release alone ("measured"); from rows of the model
and the release together, in closed form ("assisted"); and from models that were fitted again ("refits"), for which it is
enough that a statistic can be worked out for any rows.

A row's influence is the derivative of the statistic in the direction of that row. To first order a statistic is off by as
much as the mean of its influences, and of means the error is known (`assisted.py`).
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.inference.assisted_intervals import Assisted
from pointillist.inference.estimate import Interval, Unit
from pointillist.inference.measured_intervals import Asked
from pointillist.inference.moments import correlation, moments
from pointillist.inference.sql_expression import ALL_ROWS, Function
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
EVERYWHERE = (-math.inf, math.inf)
_SMALLEST = 1e-9
"""An error below this part of a figure is rounding."""
_MOST_ENDS = 400
"""The most places at which a distribution function is read."""


class Statistic(ABC):
    """A number that weighted rows give."""

    times_rows = False
    """Whether it is worked out by the row, and asked for all rows together."""

    of_pairs = False
    """Whether it is about how columns go together. Rows of a fit show that too weakly where cells are wide, so an interval
    around what they show is none."""

    @property
    def unit(self) -> Unit:
        """What it counts."""
        return "number"

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which it lies, whatever the rows."""
        return EVERYWHERE

    @property
    @abstractmethod
    def name(self) -> str:
        """In words."""

    @property
    @abstractmethod
    def functions(self) -> tuple[Function, ...]:
        """What it is made of; a condition comes last."""

    @abstractmethod
    def of(self, values: Floats, weights: Floats) -> float:
        """Its value, from those of its functions, (rows, functions); NaN if rows give none."""

    @abstractmethod
    def influence(self, values: Floats, weights: Floats) -> Floats:
        """How much every row moves it."""

    def values(self, table: pa.Table) -> Floats:
        """The values of its functions: (rows, functions)."""
        return np.stack([each(table) for each in self.functions], axis=1)

    def of_table(self, table: pa.Table) -> float:
        """Its value for rows of equal weight."""
        return self.of(self.values(table), np.ones(table.num_rows))

    def measured(self, asked: Asked) -> Interval | None:
        """An interval from the noisy counts alone; none where they do not answer the question."""
        return None

    def assisted(self, rows: Assisted, values: Floats, confidence: float) -> Interval | None:
        """An interval from rows and release together; none where they leave it open."""
        if not rows.enough(values[:, -1:]):
            return None
        middle, influence = self.of(values, rows.weights), self.influence(values, rows.weights)
        if not (math.isfinite(middle) and np.isfinite(influence).all()):
            return None
        read = rows.read(influence[:, None])
        error = float(read.errors[0])
        if not error > _SMALLEST * max(abs(middle), 1e-300):
            return None  # no row differs from the others: that is no knowledge of those that may
        wide = read.deviations(confidence) * error
        return Interval(middle - wide, middle + wide, error)

    def sampling_error(self, values: Floats, weights: Floats, rows: float) -> float:
        """How far it is from that of the population that so many rows were drawn from."""
        influence = self.influence(values, weights)
        return math.sqrt(max(float(weights @ np.square(influence)), 0.0) / float(weights.sum()) / rows)


class _OfColumn(Statistic):
    """A statistic in the terms of its one number."""

    number: Function
    where: Function

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.number, self.where

    @property
    def unit(self) -> Unit:
        column = self.number.column
        return "number" if column is None else str(column.column.unit)

    @property
    def bounds(self) -> tuple[float, float]:
        if self.number.column is None:
            return EVERYWHERE
        low, high = self.number.column.column.extremes
        return low, high

    @property
    def whole_column(self) -> Levels | None:
        """The column, if all of its rows are asked about."""
        return self.number.column if self.where.columns == frozenset() else None


@dataclass(frozen=True, eq=False)
class Mean(_OfColumn):
    """The mean of a number over the rows that meet a condition and have one."""

    number: Function
    where: Function = ALL_ROWS

    @property
    def name(self) -> str:
        return f"mean of {self.number.name}{_where(self.where)}"

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = complete(values)
        under = float(weights @ there)
        return float(weights @ (number[:, 0] * there)) / under if under > 0 else math.nan

    def influence(self, values: Floats, weights: Floats) -> Floats:
        there, number = complete(values)
        return there * (number[:, 0] - self.of(values, weights)) / float(weights @ there)

    def measured(self, asked: Asked) -> Interval | None:
        if self.whole_column is not None:
            return asked.counts.mean(self.whole_column, asked.shares(self.whole_column))
        return asked.counts.mean_where(asked)


@dataclass(frozen=True, eq=False)
class Share(Statistic):
    """The share of all rows that meet a condition."""

    where: Function

    @property
    def unit(self) -> Unit:
        return "share"

    @property
    def bounds(self) -> tuple[float, float]:
        return 0.0, 1.0

    @property
    def name(self) -> str:
        return f"share of {self.where.name}"

    @property
    def functions(self) -> tuple[Function, ...]:
        return (self.where,)

    def of(self, values: Floats, weights: Floats) -> float:
        return float(weights @ values[:, 0]) / float(weights.sum())

    def influence(self, values: Floats, weights: Floats) -> Floats:
        return np.asarray(values[:, 0] - self.of(values, weights))

    def measured(self, asked: Asked) -> Interval | None:
        return asked.counts.share(asked)

    def assisted(self, rows: Assisted, values: Floats, confidence: float) -> Interval | None:
        """A condition that few rows meet, or none, may still be met: errors of events know that."""
        middle, read = self.of(values, rows.weights), rows.read(values, events=True)
        error = float(read.errors[0])
        wide = read.deviations(confidence) * error
        return Interval(middle - wide, middle + wide, error) if math.isfinite(middle) else None


class Count(Share):
    """The number of rows that meet a condition."""

    times_rows = True

    @property
    def name(self) -> str:
        return f"count of {self.where.name}" if self.where.name else "count"


@dataclass(frozen=True, eq=False)
class Total(Statistic):
    """The sum of a number over the rows that meet a condition; by the row it counts 0 where the condition does not hold."""

    number: Function
    where: Function = ALL_ROWS
    times_rows = True

    @property
    def name(self) -> str:
        return f"sum of {self.number.name}{_where(self.where)}"

    @property
    def functions(self) -> tuple[Function, ...]:
        return self.number, self.where

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = complete(values)
        return float(weights @ (number[:, 0] * there)) / float(weights.sum())

    def influence(self, values: Floats, weights: Floats) -> Floats:
        there, number = complete(values)
        return np.asarray(number[:, 0] * there - self.of(values, weights))

    def measured(self, asked: Asked) -> Interval | None:
        return asked.counts.mean_where(asked, of_all=True)


@dataclass(frozen=True, eq=False)
class Quantile(_OfColumn):
    """The lowest number that a share `order` of the rows do not exceed."""

    number: Function
    order: float
    where: Function = ALL_ROWS

    @property
    def name(self) -> str:
        called = "median" if self.order == 0.5 else f"quantile {self.order:g}"
        return f"{called} of {self.number.name}{_where(self.where)}"

    def of(self, values: Floats, weights: Floats) -> float:
        there, number = complete(values)
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
        there, number = complete(values)
        return there[:, None] * ((number[:, :1] <= ends) - self.order) / float(weights @ there)

    def measured(self, asked: Asked) -> Interval | None:
        if self.whole_column is not None:
            return asked.counts.quantile(self.whole_column, self.order)
        return (
            None if self.number.column is None else asked.counts.quantile_where(asked, self.number.column, self.order)
        )

    def assisted(self, rows: Assisted, values: Floats, confidence: float) -> Interval | None:
        """After Woodruff: where the share below is surely under the order, the quantile is higher; where it surely reaches
        it, it is not."""
        weights = rows.weights
        if not rows.enough(values[:, -1:]) or not float(weights @ values[:, -1]) > 0:
            return None
        ends = np.unique(values[(values[:, -1] > 0) & ~np.isnan(values[:, 0]), 0])
        if not len(ends):
            return None
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, _MOST_ENDS).round().astype(int))]
        read = rows.read(self.below(values, weights, ends))
        deviations = read.deviations(confidence)
        below, above = read.means + deviations * read.errors < 0, read.means - deviations * read.errors >= 0
        low = int(np.argmin(np.append(below, False)))
        high = len(ends) - int(np.argmin(np.append(above[::-1], False)))
        first = float(ends[low]) if low > 0 else self.bounds[0]
        last = float(ends[high]) if high < len(ends) else self.bounds[1]
        return Interval(min(first, last), max(first, last), abs(last - first) / (2 * deviations))

    def sampling_error(self, values: Floats, weights: Floats, rows: float) -> float:
        """Its influences give the error of a share: look what that is in numbers."""
        error = super().sampling_error(values, weights, rows)
        orders = (float(np.clip(self.order + step * error, 0, 1)) for step in (-2, 2))
        low, high = (replace(self, order=order).of(values, weights) for order in orders)
        return abs(high - low) / 4


@dataclass(frozen=True, eq=False)
class Correlation(Statistic):
    """Pearson's correlation of two numbers, over the rows that have both."""

    of_pairs = True

    first: Function
    second: Function
    where: Function = ALL_ROWS

    @property
    def bounds(self) -> tuple[float, float]:
        return -1.0, 1.0

    @property
    def name(self) -> str:
        return f"correlation of {self.first.name} and {self.second.name}{_where(self.where)}"

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
        there, _ = complete(values)
        found = one * other - self.of(values, weights) * (np.square(one) + np.square(other)) / 2
        return np.asarray(there * found / float(weights @ there)) if share.any() else np.zeros(len(values))

    def measured(self, asked: Asked) -> Interval | None:
        found = moments(asked, asked.functions[:-1]) if self.where.columns == frozenset() else None
        return None if found is None else found.interval(correlation, asked.counts.confidence)

    def _scaled(self, values: Floats, weights: Floats) -> tuple[Floats, Floats, Floats] | None:
        """Both numbers in standard deviations from their means, and the rows' shares; none if one does not vary."""
        there, number = complete(values)
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


def _where(condition: Function) -> str:
    """What a name says of a condition."""
    return f" where {condition.name}" if condition.name else ""


def complete(values: Floats) -> tuple[Floats, Floats]:
    """1 for the rows that meet the condition and have all numbers; and the numbers, with 0 where there is none."""
    gaps = np.isnan(values)
    there = values[:, -1] * ~gaps.any(axis=1)
    return np.nan_to_num(there, nan=0.0), np.where(gaps, 0.0, values)
