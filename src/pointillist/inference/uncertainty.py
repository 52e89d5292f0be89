"""Uncertainty: how far a statistic of the synthetic data may be from the private one.

The noise is known, so its part in any figure can be told from the release alone. Shares, means and quantiles are read off
the noisy counts (`measured_intervals.py`), correlations off tables of two columns (`moments.py`). For all else the release
is made noisier: fresh noise of the same scale is added, and a model fitted again (`refitted_intervals.py`).

Nothing here sees a private row, and nothing is spent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.fitting.readings import Readings
from pointillist.generators.base import GeneratorSettings
from pointillist.inference.by_person import by_person
from pointillist.inference.estimate import Basis, Estimate, Interval
from pointillist.inference.measured_intervals import Asked, NoisyCounts
from pointillist.inference.noisy_embedding import has_features
from pointillist.inference.notes import note_of
from pointillist.inference.refitted_intervals import Refits
from pointillist.inference.sampled_rows import OfTable
from pointillist.inference.sql_expression import ALL_ROWS, Function
from pointillist.inference.statistic import EVERYWHERE, Correlation, Mean, Quantile, Share, Statistic
from pointillist.methods.base import Method
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.sampling.condition import Condition
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.schema.levels import Levels
from pointillist.watching import watched

Given = Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty(Refits):
    """A model and its refits. Ask it for a statistic; the answer says where the private one lies."""

    def __repr__(self) -> str:
        return f"<Uncertainty of {self.release.schema.name!r}: {len(self.refits)} refits, {self.confidence:.0%}>"

    def mean(self, column: str, where: Given | None = None) -> Estimate:
        """The mean of a number, missing values left out; `where` is a condition as in `Model.sample(given=...)`.

        Dates count in days (or seconds) from 1970.
        """
        levels = self._numeric(column, "mean")
        condition = Condition.of(self.model.levels, where or {})
        mean = Mean(Function.of_column(levels), self._where(condition))
        found = None if condition.cuts else self._counts.mean(levels, self.sampled[0].shares(column))
        return self._ask(mean, [column, *condition.cuts], found)

    def share(self, given: Given) -> Estimate:
        """The share of rows that meet a condition, such as `{"sex": "F", "age": (30, 40)}`."""
        condition = Condition.of(self.model.levels, given)
        if not condition.cuts:
            raise UsageError('share: name a column and its values, such as {"sex": "F"}.')
        return self._ask(Share(self._where(condition)), list(condition.cuts), self._counts.share_of(condition))

    def marginal(self, column: str) -> tuple[Estimate, ...]:
        """The share of every value of a column; of a number, of its special values and of what is missing.

        Every interval has the stated confidence by itself, not all of them together.
        """
        return tuple(self.share({column: value}) for value in _values(self._level(column)).values())

    def quantile(self, column: str, order: float) -> Estimate:
        """The number that a share `order` of the rows do not exceed, missing values left out."""
        levels = self._numeric(column, "quantile")
        if not 0 <= order <= 1:
            raise UsageError(f"quantile: the order must lie between 0 and 1, not {order}.")
        quantile = Quantile(Function.of_column(levels), order)
        return self._ask(quantile, [column], self._counts.quantile(levels, order))

    def correlation(self, first: str, second: str) -> Estimate:
        """Pearson's correlation of two numbers, over the rows that have both."""
        one, other = (Function.of_column(self._numeric(column, "correlation")) for column in (first, second))
        inside = self.sampled[0].inside_cells(first, second)
        return self._ask(Correlation(one, other), [first, second], None, inside)

    def of(
        self,
        statistic: Callable[[Any], float],
        *,
        columns: Sequence[str] | None = None,
        name: str = "statistic",
        frame: str | None = None,
    ) -> Estimate:
        """Any number that a function makes of a frame of rows.

        `columns` are those that it reads. If they are not named, the function is called once for each column with that
        column's values drawn anew from among themselves, to see whether they matter.
        """

        def of_table(table: pa.Table) -> float:
            found = statistic(self.model.to_frame(table, frame))
            try:
                return float(found)
            except (TypeError, ValueError):
                raise UsageError(
                    f"of: the function must return one number, not {type(found).__name__}. Call it once for each number."
                ) from None

        self.require("of")
        if columns is None:
            columns = self._columns_read(of_table)
        for column in columns:
            self._level(column)
        self.require_few(columns)
        value, found = self.interval(of_table, columns, EVERYWHERE)
        return Estimate(name, "number", value, found.low, found.high, found.error, self.confidence, "refits")

    def describe(self, values: int = 5) -> tuple[Estimate, ...]:
        """Every column in a few figures: mean and median of numbers, shares of the most frequent values of all."""
        found: list[Estimate] = []
        for levels in self.model.levels:
            if levels.numeric:
                found += [self.mean(levels.name), self.quantile(levels.name, 0.5)]
            written, shares = _values(levels), self.sampled[0].shares(levels.name)
            most = sorted(written, key=lambda level: -shares[level])[:values]
            found += [self.share({levels.name: written[level]}) for level in most]
        return tuple(found)

    def correlations(self) -> tuple[Estimate, ...]:
        """The correlation of every two numbers."""
        names = [each.name for each in self.model.levels if each.numeric]
        return tuple(self.correlation(a, b) for number, a in enumerate(names) for b in names[number + 1 :])

    @property
    def samples(self) -> tuple[pa.Table, ...]:
        """The rows that statistics are computed from: of the model, then of every refit."""
        return tuple(each.table for each in self.sampled)

    @cached_property
    def _counts(self) -> NoisyCounts:
        return NoisyCounts(Readings.of(self.release), {each.name: each for each in self.model.levels}, self.confidence)

    def _ask(
        self, statistic: Statistic, columns: Sequence[str], measured: Interval | None, unknown: float = 0.0
    ) -> Estimate:
        """As it was measured, or else by refits; of columns that were never measured together, nothing is known."""
        facts, together = (statistic.name, statistic.unit), self.release.measured_together(columns)
        measured = measured or self._measured(statistic, columns)
        if measured is None and together:
            self.require(statistic.name)
            value, found = self.interval(statistic.of_table, columns, statistic.bounds, unknown)
            basis: Basis = "refits"
        else:
            value, found = statistic.of_table(self.sampled[0].table), measured or Interval(*statistic.bounds, math.inf)
            basis = "bounded" if found.bounded else "measured"
        found = found.within(*statistic.bounds)
        low, high = found.low, found.high
        if not math.isfinite(found.error) or (low, high) == statistic.bounds:
            basis, found = "not measured", replace(found, error=math.inf)
        note = note_of(self.release, basis, columns)
        return Estimate(*facts, value, low, high, found.error, self.confidence, basis, note)

    def _measured(self, statistic: Statistic, columns: Sequence[str]) -> Interval | None:
        """As the noisy counts tell it, with the model's rows for what happens inside cells."""
        rows, names = self.sampled[0], sorted(set(columns))
        weights = np.full(rows.table.num_rows, 1 / max(1, rows.table.num_rows))
        records = Records(rows.table.num_rows, {name: rows.codes[name] for name in names}, {})
        values = statistic.values(rows.table)
        found = statistic.measured(Asked(self._counts, names, statistic.functions, records, values, weights))
        return None if found is not None and found.bounded and has_features(self.release, names) else found

    def _columns_read(self, statistic: OfTable) -> list[str]:
        """The columns without which a statistic is another one."""
        table = self.sampled[0].table
        before = statistic(table)
        rows = pa.array(np.random.default_rng(self.seed).integers(0, self.rows, self.rows))
        found = []
        for place, name in enumerate(table.column_names):
            if statistic(table.set_column(place, name, table[name].take(rows))) != before:
                found.append(name)
        return found

    def _where(self, condition: Condition) -> Function:
        """1 for every row that meets a condition, 0 for the others."""
        if not condition.cuts:
            return ALL_ROWS
        known = {name: self._level(name) for name in condition.cuts}

        def holds(table: pa.Table) -> NDArray[np.float64]:
            found = np.ones(table.num_rows, dtype=bool)
            for name, cut in condition.cuts.items():
                numbers = numbers_of(known[name], table[name]) if known[name].numeric else None
                found &= cut.holds(recode(known[name], table[name]), numbers)
            return found.astype(np.float64)

        return Function(str(condition), holds, frozenset(condition.cuts))

    def _level(self, column: str) -> Levels:
        found = next((each for each in self.model.levels if each.name == column), None)
        if found is None:
            known = ", ".join(each.name for each in self.model.levels)
            raise UsageError(f"{column!r} is not a column of the model. Columns: {known}.")
        return found

    def _numeric(self, column: str, what: str) -> Levels:
        levels = self._level(column)
        if not levels.numeric:
            raise UsageError(
                f"{what}: column {column!r} is {levels.column.kind}, not a number. Ask for the share of a value."
            )
        return levels


def _values(levels: Levels) -> dict[int, Any]:
    """Levels that are one value, and how it is written in a condition: categories, special values, what is missing."""
    column = levels.column
    found = dict(enumerate(column.atoms, start=levels.regular) if levels.numeric else enumerate(column.known))
    return {**found, levels.missing: None} if levels.has_missing else found


@watched
def uncertainty(
    release: Release,
    *,
    model: Model | None = None,
    refits: int = 10,
    confidence: float = 0.95,
    rows: int | None = None,
    method: str | Method | None = None,
    generator: str | GeneratorSettings | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Uncertainty:
    """Error bars for statistics of synthetic data, from the release alone. Costs no privacy.

    Fits the model (unless one is given that was fitted to this release) and `refits` more, each to the release with
    fresh noise added; `method` and `generator` are as in `fit`. With `refits = 0` there are error bars for shares, means
    and quantiles of what was measured, and for nothing else. A release of histories is asked by person, without refits.
    """
    if not isinstance(release, Release):
        raise UsageError(f"uncertainty takes a Release, as made by pointillist.release, not {type(release).__name__}.")
    release.schema.require_table("uncertainty")
    release, model = by_person(release, model, refits=refits, seed=seed, progress=progress)
    return Uncertainty.made(
        release,
        model=model,
        refits=refits,
        confidence=confidence,
        rows=rows,
        method=method,
        generator=generator,
        seed=seed,
        progress=progress,
    )
