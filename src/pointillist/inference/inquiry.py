"""Inquiry: questions about rows that a release stands for, each answered with an interval."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from pointillist.errors import UsageError
from pointillist.inference import function
from pointillist.inference.estimate import Estimate
from pointillist.inference.function import Function, Written
from pointillist.inference.naming import quoted
from pointillist.inference.source import Source, Through
from pointillist.inference.statistic import EVERYWHERE, Coefficient, Correlation, Mean, Part, Quantile, Share
from pointillist.inference.weighted_rows import weight_name
from pointillist.sampling.drawing import quota

if TYPE_CHECKING:
    from pointillist.inference.pushed import Pushed

Floats = NDArray[np.float64]


class Inquiry(ABC):
    """Weighted rows, and the questions that can be asked about them.

    Functions and events are formulas over columns, such as "income / hours" or "age > 40 and sex = 'F'", or Python
    functions that take a frame and return a value for each row.
    """

    @property
    @abstractmethod
    def source(self) -> Source:
        """The release behind the rows."""

    @property
    @abstractmethod
    def through(self) -> Through | None:
        """What was made of the release's rows; none if nothing."""

    @property
    @abstractmethod
    def rows(self) -> pa.Table:
        """The rows."""

    @property
    @abstractmethod
    def frame(self) -> str:
        """The kind of frame that functions take."""

    @property
    def weights(self) -> Floats:
        """For each row its weight; they add up to 1."""
        return self.source.rows.weights

    @property
    def columns(self) -> list[str]:
        return list(self.rows.column_names)

    def expect(self, f: Written, *, where: Written | None = None, population: bool = False) -> Estimate:
        """The mean of a function over the private rows that have a value (and meet a condition).

        `population = True`: over the population that the private rows are a sample of, with its sampling error.
        """
        number, condition = self._number(f), self._where(where)
        name = f"mean of {number.name}" + ("" if where is None else f" where {condition.name}")
        return self._ask(Mean(name, number, condition, self._bounds(number)), self._unit(number), population)

    def mean(self, column: str, *, where: Written | None = None, population: bool = False) -> Estimate:
        """The mean of a column."""
        return self.expect(quoted(self._require(column)), where=where, population=population)

    def probability(self, event: Written, *, population: bool = False) -> Estimate:
        """The share of the private rows for which an event holds."""
        condition = self._event(event)
        return self._ask(Share(f"share of {condition.name}", condition), "share", population)

    def total(self, f: Written, *, where: Written | None = None) -> Estimate:
        """The sum of a function over the private rows that have a value (and meet a condition)."""
        number, condition = self._number(f), self._where(where)
        name = f"sum of {number.name}" + ("" if where is None else f" where {condition.name}")
        return self._times_rows(self._ask(Part(name, number, condition), "number", False))

    def count(self, event: Written | None = None) -> Estimate:
        """The number of private rows for which an event holds; of all, if none is named."""
        condition = self._where(event)
        share = self._ask(Share("count" if event is None else f"count of {condition.name}", condition), "share", False)
        return self._times_rows(share)

    def quantile(
        self, f: Written, order: float = 0.5, *, where: Written | None = None, population: bool = False
    ) -> Estimate:
        """The lowest number that a share `order` of the private rows do not exceed."""
        if not 0 <= order <= 1:
            raise UsageError(f"quantile: the order must lie between 0 and 1, not {order}.")
        number, condition = self._number(f), self._where(where)
        name = (f"median of {number.name}" if order == 0.5 else f"quantile {order:g} of {number.name}") + (
            "" if where is None else f" where {condition.name}"
        )
        quantile = Quantile(name, number, condition, order, self._bounds(number))
        return self._ask(quantile, self._unit(number), population)

    def correlation(
        self, first: Written, second: Written, *, where: Written | None = None, population: bool = False
    ) -> Estimate:
        """Pearson's correlation of two numbers, over the private rows that have both."""
        one, other, condition = self._number(first), self._number(second), self._where(where)
        name = f"correlation of {one.name} and {other.name}" + ("" if where is None else f" where {condition.name}")
        return self._ask(Correlation(name, one, other, condition), "number", population)

    def regression(
        self,
        outcome: Written,
        inputs: Sequence[Written],
        *,
        where: Written | None = None,
        population: bool = False,
    ) -> dict[str, Estimate]:
        """Coefficients of the least squares regression of a number on others, with a constant."""
        if isinstance(inputs, str) or not len(inputs):
            raise UsageError('regression: name the inputs in a list, such as ["age", "hours"].')
        number, others, condition = self._number(outcome), tuple(map(self._number, inputs)), self._where(where)
        names = ["constant", *(each.name for each in others)]
        if len(set(names)) < len(names):
            names = ["constant", *(f"{each.name} ({place + 1})" for place, each in enumerate(others))]
        return {
            name: self._ask(
                Coefficient(f"{name} in the regression of {number.name}", number, others, condition, place),
                "number",
                population,
            )
            for place, name in enumerate(names)
        }

    def push(self, made: Mapping[str, str] | Written) -> "Pushed":
        """The rows of a new table: its columns as formulas, {"ratio": "income / hours"}, or made by a function of a frame.

        What can be asked of the release can be asked of it; intervals go through.
        """
        from pointillist.inference.pushed import Pushed

        return Pushed.of(self, made)

    def to_frame(
        self, frame: str | None = None, *, weights: bool = True, count: int | None = None, seed: int | None = None
    ) -> Any:
        """The rows as a frame, with their weights as the last column; or `count` rows drawn by weight, without weights."""
        table = self.rows
        if count is not None:
            return self._as_frame(table.take(pa.array(self._drawn(count, seed))), frame)
        if weights:
            table = table.append_column(self.weight_name, pa.array(self.weights))
        return self._as_frame(table, frame)

    @property
    def weight_name(self) -> str:
        """The name of the weights' column: "weight", with more underscores as long as another column has that name."""
        return weight_name(self.columns)

    def _drawn(self, count: int, seed: int | None) -> NDArray[np.int64]:
        if count < 0:
            raise UsageError(f"the number of rows must not be negative, not {count}.")
        if self.source.rows.signed:
            raise UsageError(
                "some rows have weights below 0, so none can be drawn by weight. Use the weighted rows, or fit again with "
                'weights = "probabilities".'
            )
        generator = np.random.default_rng(self.source.seed if seed is None else seed)
        return np.asarray(generator.permutation(quota(self.weights, count, generator)), dtype=np.int64)

    @abstractmethod
    def _as_frame(self, table: pa.Table, frame: str | None) -> Any: ...

    def _ask(self, statistic: Any, unit: Any, population: bool) -> Estimate:
        return self.source.ask(statistic, unit, population=population, through=self.through)

    def _times_rows(self, share: Estimate) -> Estimate:
        """A share of all rows as a number of rows; where these are not known exactly, that error comes on top."""
        rows = self.source.embedding.rows
        deviations = float(stats.norm.ppf((1 + share.confidence) / 2))
        relative = self.source.rows_error / rows
        ends = []
        for end, side in ((share.low, -1), (share.high, 1)):
            middle = (share.low + share.high) / 2
            half = float(np.hypot(end - middle, deviations * relative * middle)) if np.isfinite(end) else np.inf
            ends.append(rows * (middle + side * half) if np.isfinite(half) else side * np.inf)
        low = max(0.0, ends[0]) if share.unit == "share" else ends[0]
        error = rows * float(np.hypot(share.standard_error, relative * share.value))
        return replace(share, unit="number", value=rows * share.value, low=low, high=ends[1], standard_error=error)

    def _number(self, written: Written) -> Function:
        found = function.number(written, self.columns, lambda table: self._as_frame(table, None))
        plain = found.name.removeprefix('"').removesuffix('"').replace('""', '"')
        return replace(found, name=plain) if plain in self.columns else found

    def _event(self, written: Written) -> Function:
        return function.event(written, self.columns, lambda table: self._as_frame(table, None))

    def _where(self, written: Written | None) -> Function:
        return function.everything() if written is None else self._event(written)

    def _require(self, column: str) -> str:
        if column not in self.columns:
            raise UsageError(f"{column!r} is not a column. Columns: {', '.join(self.columns)}.")
        return column

    def _bounds(self, number: Function) -> tuple[float, float]:
        return EVERYWHERE

    def _unit(self, number: Function) -> Any:
        return "number"
