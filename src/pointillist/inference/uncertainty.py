"""Uncertainty: how far a statistic of the synthetic data may be from the private one.

The noise is known, so its part in any figure can be told from the release alone. Shares, means and quantiles are read off
the noisy counts, with an exact interval (`inference/measured.py`). For all else the release is made noisier: fresh noise
of the same scale is added, and a model fitted again. How far results move from fit to fit shows the noise's part; what
is systematic, the fit's pull towards simple models, is first taken off (`inference/adjusting.py`).

Nothing here sees a private row, and nothing is spent.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from pointillist.errors import UsageError
from pointillist.fitting.readings import Readings
from pointillist.generators.settings import GeneratorSettings
from pointillist.inference import measured
from pointillist.inference.drawn import Drawn, Statistic
from pointillist.inference.estimate import Estimate, Unit
from pointillist.methods.base import Method
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.sampling.condition import Condition
from pointillist.schema.levels import Levels

Given = Mapping[str, Any]

_LEAST_REFITS = 2
_ROWS = (20_000, 50_000)
"""At least and at most so many rows are sampled from every model, unless the caller says otherwise."""
_UNSEEN = 1.0
"""The bias that the adjustment does not show is taken to be at most so many times what it shows."""
_MOST_COLUMNS = 30
"""The most columns whose pairs are set right at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Uncertainty:
    """A model and its refits. Ask it for a statistic; the answer says where the private one lies."""

    release: Release
    model: Model
    refits: tuple[tuple[Release, Model], ...]
    """Releases that are noisier by once the noise, and the models fitted to them."""
    confidence: float
    rows: int
    """Rows that are sampled from every model."""
    seed: int

    def __repr__(self) -> str:
        return f"<Uncertainty of {self.release.schema.name!r}: {len(self.refits)} refits, {self.confidence:.0%}>"

    def mean(self, column: str, where: Given | None = None) -> Estimate:
        """The mean of a number, missing values left out; `where` is a condition as in `Model.sample(given=...)`.

        Dates count in days (or seconds) from 1970.
        """
        levels = self._numeric(column, "mean")
        condition = Condition.of(self.model.levels, where or {})
        name = f"mean of {column}" + (f" where {condition}" if condition.cuts else "")

        def statistic(draw: Drawn) -> float:
            values = draw.numbers(column)[draw.holds(condition)]
            values = values[~np.isnan(values)]
            return float(values.mean()) if len(values) else math.nan

        if not condition.cuts:
            found = measured.mean(self._readings, levels, self._draws[0].shares(column), self.confidence)
            if found is not None:
                return self._measured(name, levels.column.unit, statistic, found)
        return self._joint(name, levels.column.unit, statistic, [column, *condition.cuts], levels.column.extremes)

    def share(self, given: Given) -> Estimate:
        """The share of rows that meet a condition, such as `{"sex": "F", "age": (30, 40)}`."""
        condition = Condition.of(self.model.levels, given)
        if not condition.cuts:
            raise UsageError('share: name a column and its values, such as {"sex": "F"}.')

        def statistic(draw: Drawn) -> float:
            return float(draw.holds(condition).mean())

        found = measured.share(self._readings, condition, self.confidence)
        if found is not None:
            return self._measured(f"share of {condition}", "share", statistic, found)
        return self._joint(f"share of {condition}", "share", statistic, list(condition.cuts), (0.0, 1.0))

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
        name = f"median of {column}" if order == 0.5 else f"quantile {order:g} of {column}"

        def statistic(draw: Drawn) -> float:
            values = draw.numbers(column)
            values = values[~np.isnan(values)]
            return float(np.quantile(values, order, method="inverted_cdf")) if len(values) else math.nan

        found = measured.quantile(self._readings, levels, order, self.confidence)
        if found is not None:
            return self._measured(name, levels.column.unit, statistic, found)
        return self._refitted(name, levels.column.unit, statistic, [column], levels.column.extremes)

    def correlation(self, first: str, second: str) -> Estimate:
        """Pearson's correlation of two numbers, over the rows that have both."""
        for column in (first, second):
            self._numeric(column, "correlation")

        def statistic(draw: Drawn) -> float:
            one, other = draw.numbers(first), draw.numbers(second)
            both = ~np.isnan(one + other)
            one, other = one[both], other[both]
            if len(one) < 2 or one.min() == one.max() or other.min() == other.max():
                return math.nan
            return float(np.corrcoef(one, other)[0, 1])

        name = f"correlation of {first} and {second}"
        inside = self._draws[0].inside_cells(first, second)
        return self._joint(name, "number", statistic, [first, second], (-1.0, 1.0), inside)

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

        def wrapped(draw: Drawn) -> float:
            found = statistic(self.model.to_frame(draw.table, frame))
            try:
                return float(found)
            except (TypeError, ValueError):
                raise UsageError(
                    f"of: the function must return one number, not {type(found).__name__}. Call it once for each number."
                ) from None

        self._require_refits("of")
        if columns is None:
            columns = self._columns_read(wrapped)
        for column in columns:
            self._level(column)
        if len(columns) > _MOST_COLUMNS:
            raise UsageError(
                f"of: the function reads {len(columns)} columns. Name those that matter most, {_MOST_COLUMNS} at most: "
                "columns = [...]."
            )
        return self._refitted(name, "number", wrapped, columns, (-math.inf, math.inf))

    def describe(self, values: int = 5) -> tuple[Estimate, ...]:
        """Every column in a few figures: mean and median of numbers, shares of the most frequent values of all."""
        found: list[Estimate] = []
        for levels in self.model.levels:
            if levels.numeric:
                found += [self.mean(levels.name), self.quantile(levels.name, 0.5)]
            written, shares = _values(levels), self._draws[0].shares(levels.name)
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
        return tuple(draw.table for draw in self._draws)

    @cached_property
    def _readings(self) -> Readings:
        return Readings.of(self.release)

    @cached_property
    def _draws(self) -> tuple[Drawn, ...]:
        """Rows of the model, and of every refit. Each has its own seed, so that chance in the sampling counts as well."""
        known = {each.name: each for each in self.model.levels}
        return tuple(
            Drawn(Readings.of(release), known, model.sample_table(self.rows, seed=self.seed + number))
            for number, (release, model) in enumerate(((self.release, self.model), *self.refits))
        )

    def _measured(self, name: str, unit: Unit, statistic: Statistic, found: measured.Interval) -> Estimate:
        value = statistic(self._draws[0])
        return Estimate(name, unit, value, found.low, found.high, found.error, self.confidence, "measured")

    def _joint(
        self,
        name: str,
        unit: Unit,
        statistic: Statistic,
        columns: Sequence[str],
        bounds: tuple[float, float],
        unknown: float = 0.0,
    ) -> Estimate:
        """A statistic of how columns act together: of columns that were never measured together, nothing is known."""
        if not all(frozenset(pair) in self._pairs for pair in itertools.combinations(sorted(set(columns)), 2)):
            value = statistic(self._draws[0])
            return Estimate(name, unit, value, *bounds, math.inf, self.confidence, "refits")
        return self._refitted(name, unit, statistic, columns, bounds, unknown)

    @cached_property
    def _pairs(self) -> set[frozenset[str]]:
        """Columns that were measured together."""
        maps = [block.map for each in self.release.measurements for block in each.blocks()]
        return {
            frozenset(pair)
            for block in maps
            for pair in itertools.combinations(sorted(block.code_columns | block.unit_columns), 2)
        }

    def _refitted(
        self,
        name: str,
        unit: Unit,
        statistic: Statistic,
        columns: Sequence[str],
        bounds: tuple[float, float],
        unknown: float = 0.0,
    ) -> Estimate:
        """An interval from the refits, around the statistic of rows that agree with what was measured.

        `unknown` is how much further the private one may lie for reasons that no measurement shows.
        """
        self._require_refits(name)
        (value, middle), *again = (draw.evaluate(statistic, columns) for draw in self._draws)
        others = np.array([adjusted for _, adjusted in again])
        if not np.isfinite([value, middle, *others]).all():
            return Estimate(name, unit, value, *bounds, math.inf, self.confidence, "refits")
        error = math.hypot(float(others.std(ddof=1)), float(others.mean()) - middle)
        wide = error * float(stats.t.ppf((1 + self.confidence) / 2, len(others) - 1))
        bias = _UNSEEN * (middle - value)
        ends = middle - wide + min(bias, 0.0) - unknown, middle + wide + max(bias, 0.0) + unknown
        low, high = (float(np.clip(end, *bounds)) for end in ends)
        return Estimate(name, unit, value, low, high, error, self.confidence, "refits")

    def _columns_read(self, statistic: Statistic) -> list[str]:
        """The columns without which a statistic is another one."""
        draw = self._draws[0]
        before = statistic(draw)
        rows = pa.array(np.random.default_rng(self.seed).integers(0, self.rows, self.rows))
        found = []
        for place, name in enumerate(draw.table.column_names):
            anew = draw.table.set_column(place, name, draw.table[name].take(rows))
            if statistic(Drawn(draw.readings, draw.levels, anew)) != before:
                found.append(name)
        return found

    def _require_refits(self, what: str) -> None:
        if len(self.refits) < _LEAST_REFITS:
            raise UsageError(
                f"{what}: was not measured as such, so refits are needed. Make the uncertainty with refits = 10, say."
            )

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
    values = levels.column.atoms if levels.numeric else levels.categories
    found = dict(enumerate(values, start=levels.regular if levels.numeric else 0))
    if levels.has_other and not levels.column.unlisted_is_missing:
        found[levels.other] = levels.column.other_label
    if levels.has_missing:
        found[levels.missing] = None
    return found


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
    and quantiles of what was measured, and for nothing else.
    """
    if not isinstance(release, Release):
        raise UsageError(f"uncertainty takes a Release, as made by pointillist.release, not {type(release).__name__}.")
    release.schema.require_table("uncertainty")
    if refits < 0 or refits == 1:
        raise UsageError(f"refits must be 0, or at least {_LEAST_REFITS}, not {refits}.")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    if rows is not None and rows < 1:
        raise UsageError(f"rows must be at least 1, not {rows}.")
    if model is not None and model.release != release.id:
        raise UsageError("the model was fitted to another release. Pass the release that it was fitted to.")
    if model is None:
        model = fit(release, method=method, generator=generator, seed=seed, progress=progress)
    found = []
    for number in range(refits):
        again = noisier(release, np.random.default_rng([seed, number]))

        def part(step: str, fraction: float, done: int = number) -> None:
            progress("refits", (done + fraction) / refits)

        found.append((again, fit(again, method=method, generator=generator, seed=seed, progress=part)))
        progress("refits", (number + 1) / refits)
    least, most = _ROWS
    return Uncertainty(
        release, model, tuple(found), confidence, rows or min(max(model.default_count, least), most), seed
    )


def noisier(release: Release, generator: np.random.Generator) -> Release:
    """The release with as much noise again: what it would have been at half of mu^2, given what it is."""
    measurements = tuple(
        replace(
            each,
            values=each.values + np.rint(each.sigma * generator.standard_normal(len(each.values))).astype(np.int64),
            sigma=math.sqrt(2) * each.sigma,
        )
        for each in release.measurements
    )
    return replace(release, measurements=measurements)
