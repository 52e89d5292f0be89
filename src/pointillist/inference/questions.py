"""Questions: what can be asked about rows that a release stands for, each answered with an interval."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.generators.drawing import quota
from pointillist.inference import python_function
from pointillist.inference.coefficient import Coefficient
from pointillist.inference.condition_values import require_known
from pointillist.inference.estimate import Estimate
from pointillist.inference.python_function import Written
from pointillist.inference.sql_expression import ALL_ROWS, Expression, Function, quoted
from pointillist.inference.statistic import Correlation, Count, Mean, Quantile, Share, Statistic, Total

if TYPE_CHECKING:
    from pointillist.inference.pushforward import Pushed
    from pointillist.inference.received import Received

Floats = NDArray[np.float64]
Step = Callable[[pa.Table], pa.Table]
"""What is made of rows: one of each."""


class Questions(ABC):
    """Weighted rows, and the questions that can be asked about them.

    Functions and events are formulas over columns, such as "income / hours" or "age > 40 and sex = 'F'", or Python
    functions that take a frame and return a value for each row.
    """

    @property
    @abstractmethod
    def received(self) -> "Received":
        """The release behind the rows."""

    @property
    @abstractmethod
    def step(self) -> Step | None:
        """What was made of the release's rows; none if nothing."""

    @property
    @abstractmethod
    def rows(self) -> pa.Table:
        """The rows."""

    @property
    @abstractmethod
    def frame(self) -> str:
        """The kind of frame that functions take."""

    @abstractmethod
    def as_frame(self, table: pa.Table, frame: str | None = None) -> Any:
        """Rows as another kind of frame; by default as the kind that functions take."""

    def as_column(self, number: Function) -> Function:
        """The same number; a column of the release by itself counts as its levels do."""
        return number

    @property
    def weights(self) -> Floats:
        """For each row its weight; they add up to 1."""
        return self.received.weighted.weights

    @property
    def columns(self) -> list[str]:
        return list(self.rows.column_names)

    def expect(self, f: Written, *, where: Written | None = None, population: bool = False) -> Estimate:
        """The mean of a function over the private rows that have a value (and meet a condition).

        `population = True`: over the population that the private rows are a sample of, with its sampling error.
        """
        return self._ask(Mean(self._number(f), self._where(where)), population)

    def mean(self, column: str, *, where: Written | None = None, population: bool = False) -> Estimate:
        """The mean of a column."""
        return self.expect(quoted(self._require(column)), where=where, population=population)

    def probability(self, event: Written, *, population: bool = False) -> Estimate:
        """The share of the private rows for which an event holds."""
        return self._ask(Share(self._where(event)), population)

    def total(self, f: Written, *, where: Written | None = None) -> Estimate:
        """The sum of a function over the private rows that have a value (and meet a condition)."""
        return self._ask(Total(self._number(f), self._where(where)))

    def count(self, event: Written | None = None) -> Estimate:
        """The number of private rows for which an event holds; of all, if none is named."""
        return self._ask(Count(self._where(event)))

    def quantile(
        self, f: Written, order: float = 0.5, *, where: Written | None = None, population: bool = False
    ) -> Estimate:
        """The lowest number that a share `order` of the private rows do not exceed."""
        if not 0 <= order <= 1:
            raise UsageError(f"quantile: the order must lie between 0 and 1, not {order}.")
        return self._ask(Quantile(self._number(f), order, self._where(where)), population)

    def correlation(
        self, first: Written, second: Written, *, where: Written | None = None, population: bool = False
    ) -> Estimate:
        """Pearson's correlation of two numbers, over the private rows that have both."""
        return self._ask(Correlation(self._number(first), self._number(second), self._where(where)), population)

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
            name: self._ask(Coefficient(number, others, place, name, condition), population)
            for place, name in enumerate(names)
        }

    def push(self, made: Mapping[str, str] | Written) -> "Pushed":
        """The rows of a new table: its columns as formulas, {"ratio": "income / hours"}, or made by a function of a frame.

        What can be asked of the release can be asked of it; intervals go through.
        """
        from pointillist.inference.pushforward import Pushed

        return Pushed.of(self, made)

    def to_frame(
        self, frame: str | None = None, *, weights: bool = True, count: int | None = None, seed: int | None = None
    ) -> Any:
        """The rows as a frame, with their weights as the last column; or `count` rows drawn by weight, without weights."""
        table = self.rows
        if count is not None:
            return self.as_frame(table.take(pa.array(self._by_weight(count, seed))), frame)
        if weights:
            table = table.append_column(self.weight_name, pa.array(self.weights))
        return self.as_frame(table, frame)

    @property
    def weight_name(self) -> str:
        """The name of the weights' column: "weight", with more underscores as long as another column has that name."""
        name = "weight"
        while name in self.columns:
            name += "_"
        return name

    def _by_weight(self, count: int, seed: int | None) -> NDArray[np.int64]:
        if count < 0:
            raise UsageError(f"the number of rows must not be negative, not {count}.")
        if (self.weights < 0).any():
            raise UsageError(
                "some rows have weights below 0, so none can be drawn by weight. Use the weighted rows, or fit again with "
                'weights = "probabilities".'
            )
        generator = np.random.default_rng(self.received.seed if seed is None else seed)
        return np.asarray(generator.permutation(quota(self.weights, count, generator)), dtype=np.int64)

    def _ask(self, statistic: Statistic, population: bool = False) -> Estimate:
        return self.received.ask(statistic, population=population, step=self.step)

    def _number(self, written: Written) -> Function:
        return self.as_column(python_function.number(written, self.columns, self.as_frame))

    def _where(self, written: Written | None) -> Function:
        if isinstance(written, str) and self.step is None:
            require_known(Expression.parse(written, self.columns), self.received.release.schema.measured)
        return ALL_ROWS if written is None else python_function.event(written, self.columns, self.as_frame)

    def _require(self, column: str) -> str:
        if column not in self.columns:
            raise UsageError(f"{column!r} is not a column. Columns: {', '.join(self.columns)}.")
        return column
