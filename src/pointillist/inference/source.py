"""Source: a release and the model of it, ready to be asked. What a question costs to prepare is prepared once.

An interval comes from the noisy counts themselves where they answer the question ("measured"); from refits, if the
receiver had some made; and else from rows and release together ("assisted").
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from pointillist.errors import UsageError
from pointillist.fitting.readings import Readings
from pointillist.generators.points.points import Points
from pointillist.inference import cells, measured
from pointillist.inference.assisted import CAUTION, FITTED, MOST_ROWS, POINTS, Assisted
from pointillist.inference.estimate import Basis, Estimate, Unit
from pointillist.inference.function import Function
from pointillist.inference.measured import Interval
from pointillist.inference.noisy_embedding import MeanEmbedding
from pointillist.inference.statistic import Mean, Part, Quantile, Share, Statistic, values_of
from pointillist.inference.uncertainty import Uncertainty
from pointillist.inference.weighted_rows import Rows
from pointillist.model import Model
from pointillist.release import Release
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Through = Callable[[pa.Table], pa.Table]
"""What a receiver made of rows of the release."""

_MOST_ENDS = 400
"""The most places at which a distribution function is read."""
_MOST_PROBED = 2_000
"""Rows on which a function is tried to see which columns it reads."""


@dataclass(frozen=True, eq=False)
class Source:
    """A release, its model, and rows of it."""

    release: Release
    model: Model
    confidence: float
    seed: int
    count: int
    """Rows that are drawn from a model whose rows have no weights."""
    bars: Uncertainty | None
    """Refits, if there are any."""

    @cached_property
    def rows(self) -> Rows:
        return Rows.of(self.model, self.count, self.seed)

    @cached_property
    def levels(self) -> dict[str, Levels]:
        return {each.name: each for each in self.model.levels}

    @cached_property
    def readings(self) -> Readings:
        return Readings.of(self.release)

    @cached_property
    def embedding(self) -> MeanEmbedding:
        return MeanEmbedding.of(self.release)

    @cached_property
    def chosen(self) -> NDArray[np.intp]:
        """The rows that the assisted estimates are made with."""
        return self.rows.most_important(MOST_ROWS, self.seed)

    @cached_property
    def assisted(self) -> Assisted:
        mine = self.rows.records.part(self.chosen)
        if isinstance(self.model.generator, Points):
            return Assisted(self.embedding, mine, POINTS)
        return Assisted(self.embedding, mine, FITTED, CAUTION)

    @cached_property
    def together(self) -> set[frozenset[str]]:
        """Pairs of columns that were measured together."""
        maps = [block.map for each in self.release.measurements for block in each.blocks()]
        return {
            frozenset(pair)
            for block in maps
            for pair in itertools.combinations(sorted(block.code_columns | block.unit_columns), 2)
        }

    def ask(
        self, statistic: Statistic, unit: Unit, *, population: bool = False, through: Through | None = None
    ) -> Estimate:
        """A statistic of the rows, and where that of the private rows lies; or of the population they were drawn from."""
        rows = through(self.rows.table) if through is not None else self.rows.table
        values = values_of(statistic, rows)
        value = statistic.of(values, self.rows.weights)
        columns = self._columns(statistic, through)
        if not columns:  # a constant: any row tells it
            value = statistic.of(values[:1], np.ones(1))
            return Estimate(statistic.name, unit, value, value, value, 0.0, self.confidence, "measured")
        found = self._interval(statistic, unit, values, sorted(columns), through)
        found = replace(found, name=statistic.name, unit=unit, value=value)
        low, high = (float(np.clip(end, *statistic.bounds)) for end in (found.low, found.high))
        found = replace(found, low=low, high=high)
        return self._of_population(found, statistic, values) if population else found

    def _interval(
        self, statistic: Statistic, unit: Unit, values: Floats, columns: Sequence[str], through: Through | None
    ) -> Estimate:
        value = statistic.of(values, self.rows.weights)
        read = self._measured(statistic, values, columns, through)
        if read is not None:
            return Estimate(statistic.name, unit, value, read.low, read.high, read.error, self.confidence, "measured")
        joint = all(frozenset(pair) in self.together for pair in itertools.combinations(columns, 2))
        basis: Basis = "assisted" if self.bars is None else "refits"
        unknown = Estimate(statistic.name, unit, value, *statistic.bounds, math.inf, self.confidence, basis)
        if not (joint and math.isfinite(value)):
            return unknown
        if self.bars is not None:

            def plain(table: pa.Table) -> float:
                seen = table if through is None else through(table)
                return statistic.of(values_of(statistic, seen), np.full(seen.num_rows, 1 / seen.num_rows))

            return self.bars.of(plain, columns=columns, name=statistic.name, frame="pyarrow")
        found = self._assisted(statistic, through)
        return (
            unknown if found is None else replace(unknown, low=found.low, high=found.high, standard_error=found.error)
        )

    def _measured(
        self, statistic: Statistic, values: Floats, columns: Sequence[str], through: Through | None
    ) -> Interval | None:
        """An interval from the noisy counts alone; none where they do not answer the question."""
        if isinstance(statistic, Share):
            return cells.share(self.readings, self.levels, columns, _seen(statistic.where, through), self.confidence)
        if not isinstance(statistic, Mean | Part | Quantile):
            return None
        plain = through is None and not statistic.where.columns
        levels = self.levels.get(statistic.number.name) if plain else None
        if isinstance(statistic, Quantile):
            if levels is None or not levels.numeric:
                return None
            return measured.quantile(self.readings, levels, statistic.order, self.confidence)
        if levels is not None and levels.numeric and isinstance(statistic, Mean):
            codes = self.rows.records.codes[levels.name]
            shares = np.maximum(np.bincount(codes, weights=self.rows.weights, minlength=levels.size), 0.0)
            return measured.mean(self.readings, levels, shares, self.confidence)
        asked = _seen(statistic.number, through), _seen(statistic.where, through)
        shown = cells.Shown(self.rows.records, values, self.rows.weights)
        return cells.mean(
            self.readings, self.levels, columns, asked, shown, self.confidence, of_all=isinstance(statistic, Part)
        )

    def _assisted(self, statistic: Statistic, through: Through | None) -> Interval | None:
        """An interval from rows and release together; none where they leave it open."""
        rows = self.rows.table.take(pa.array(self.chosen))
        values = values_of(statistic, rows if through is None else through(rows))
        weights = self.assisted.weights
        if isinstance(statistic, Quantile):
            return self._woodruff(statistic, values, weights)
        if not self._enough(values[:, -1:] if len(statistic.functions) > 1 else None):
            return None
        middle = statistic.of(values, weights)
        influence = statistic.influence(values, weights)
        if not (math.isfinite(middle) and np.isfinite(influence).all()):
            return None
        read = self.assisted.read(influence[:, None], events=False)
        if isinstance(statistic, Share):
            read = self.assisted.read(values, events=True)
        error = float(read.errors[0])
        wide = read.deviations(self.confidence) * error
        return Interval(middle - wide, middle + wide, error)

    def _enough(self, where: Floats | None) -> bool:
        """Whether there are surely some private rows that meet a condition."""
        if where is None or where.all():
            return True
        read = self.assisted.read(where, events=True)
        return bool(read.means[0] > 3 * read.errors[0])

    def _woodruff(self, quantile: Quantile, values: Floats, weights: Floats) -> Interval | None:
        """Where the share below is surely under the order, the quantile is higher; where it surely reaches it, it is not."""
        if not self._enough(values[:, -1:]) or not float(weights @ values[:, -1]) > 0:
            return None
        ends = np.unique(values[(values[:, -1] > 0) & ~np.isnan(values[:, 0]), 0])
        if not len(ends):
            return None
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, _MOST_ENDS).round().astype(int))]
        read = self.assisted.read(quantile.below(values, weights, ends))
        wide = read.deviations(self.confidence) * read.errors
        below, above = read.means + wide < 0, read.means - wide >= 0
        low = int(np.argmin(np.append(below, False)))
        high = len(ends) - int(np.argmin(np.append(above[::-1], False)))
        first = float(ends[low]) if low > 0 else quantile.bounds[0]
        last = float(ends[high]) if high < len(ends) else quantile.bounds[1]
        deviations = read.deviations(self.confidence)
        return Interval(min(first, last), max(first, last), abs(last - first) / (2 * deviations))

    def _of_population(self, found: Estimate, statistic: Statistic, values: Floats) -> Estimate:
        """Wider by the sampling error of the private rows."""
        if not math.isfinite(found.standard_error):
            return found
        weights, rows = np.maximum(self.rows.weights, 0.0), self.embedding.rows
        influence = statistic.influence(values, weights)
        error = math.sqrt(max(float(weights @ np.square(influence)), 0.0) / float(weights.sum()) / rows)
        if isinstance(statistic, Quantile):  # so far the error is that of a share: look what that is in numbers
            shifted = [
                replace(statistic, order=float(np.clip(statistic.order + step * error, 0, 1))).of(values, weights)
                for step in (-2, 2)
            ]
            error = abs(shifted[1] - shifted[0]) / 4
        extra = float(stats.norm.ppf((1 + self.confidence) / 2)) * error
        middle, half = (found.low + found.high) / 2, math.hypot((found.high - found.low) / 2, extra)
        low, high = (float(np.clip(end, *statistic.bounds)) for end in (middle - half, middle + half))
        return replace(found, low=low, high=high, standard_error=math.hypot(found.standard_error, error))

    def _columns(self, statistic: Statistic, through: Through | None) -> frozenset[str]:
        """The release's columns that a statistic reads: as its formulas say, or found by trying."""
        known = [each.columns for each in statistic.functions]
        if through is None and all(each is not None for each in known):
            return frozenset[str]().union(*(each for each in known if each is not None))
        return self._tried(tuple(statistic.functions), through)

    def _tried(self, functions: tuple[Function, ...], through: Through | None) -> frozenset[str]:
        """The columns without which some function has other values for the same rows."""
        table = self.rows.table.slice(0, _MOST_PROBED)

        def see(seen: pa.Table) -> list[Floats]:
            made = seen if through is None else through(seen)
            return [each(made) for each in functions]

        before = see(table)
        order = np.random.default_rng(self.seed).permutation(table.num_rows)
        found = set()
        for place, name in enumerate(table.column_names):
            anew = see(table.set_column(place, name, table[name].take(pa.array(order))))
            if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, anew, strict=True)):
                found.add(name)
        return frozenset(found)

    @cached_property
    def rows_error(self) -> float:
        """Standard deviation of the number of private rows, as far as the release tells it."""
        if self.release.rows is not None:
            return 0.0
        return 1 / math.sqrt(sum(1 / (table.values.size * table.sigma**2) for table in self.readings.tables))

    def require(self, column: str) -> Levels:
        """The levels of a column."""
        if column not in self.levels:
            raise UsageError(f"{column!r} is not a column of the release. Columns: {', '.join(self.levels)}.")
        return self.levels[column]


def _seen(function: Function, through: Through | None) -> Function:
    """The same function of rows as they are in the release."""
    if through is None:
        return function
    return Function(function.name, lambda table: function(through(table)), None)
