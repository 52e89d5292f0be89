"""Received: a release in the hands of somebody who wants to know something. Public: no private row is ever seen here.

An interval comes from the noisy counts themselves where they answer the question ("measured"); from refits, if the
receiver had some made; and else from rows and release together ("assisted"). What a question costs to prepare is prepared
once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import special

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.fitting.readings import Readings
from pointillist.generators.points.points import Points
from pointillist.inference.assisted_intervals import CAUTION, FITTED, MOST_ROWS, POINTS, Assisted
from pointillist.inference.by_person import by_person
from pointillist.inference.estimate import Basis, Estimate, Interval
from pointillist.inference.measured_intervals import Asked, NoisyCounts
from pointillist.inference.noisy_embedding import MeanEmbedding, has_features
from pointillist.inference.notes import note_of
from pointillist.inference.questions import Questions, Step
from pointillist.inference.refitted_intervals import Refits, require_settings
from pointillist.inference.sql_expression import Function
from pointillist.inference.statistic import Statistic
from pointillist.inference.two_sample import TwoSampleTest, compare, compare_releases
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.sampling.recoding import numbers_of, recode
from pointillist.sampling.table_decoder import FRAMES
from pointillist.schema.levels import Levels
from pointillist.watching import watched

Floats = NDArray[np.float64]

_ROWS = 20_000
"""Rows that are drawn from a model without weighted points, unless the caller says otherwise."""
_MOST_PROBED = 2_000
"""Rows on which a function is tried to see which columns it reads."""


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Rows of a model with a weight each."""

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

    def most_important(self, count: int, seed: int) -> NDArray[np.intp]:
        """The numbers of at most `count` rows: of the largest weights, or any if all are alike."""
        if len(self.weights) <= count:
            return np.arange(len(self.weights))
        if np.ptp(self.weights) < 1e-12:
            return np.sort(np.random.default_rng(seed).choice(len(self.weights), count, replace=False))
        return np.sort(np.argsort(-np.abs(self.weights), kind="stable")[:count])


@dataclass(frozen=True, eq=False, repr=False)
class Received(Questions):
    """Weighted rows that stand for a private table, and the release that they come from. Ask it anything; it is free."""

    release: Release
    model: Model
    confidence: float
    seed: int
    sample_size: int
    """Rows that are drawn from a model whose rows have no weights."""
    refits: Refits | None = None

    def __repr__(self) -> str:
        return (
            f"<Received {self.release.schema.name!r}: {self.rows.num_rows:,} rows, {len(self.columns)} columns, "
            f"{self.confidence:.0%} intervals>"
        )

    @property
    def received(self) -> "Received":
        return self

    @property
    def step(self) -> Step | None:
        return None

    @property
    def rows(self) -> pa.Table:
        return self.weighted.table

    @property
    def frame(self) -> str:
        return self.model.frame

    @cached_property
    def weighted(self) -> WeightedRows:
        return WeightedRows.of(self.model, self.sample_size, self.seed)

    @cached_property
    def levels(self) -> dict[str, Levels]:
        return {each.name: each for each in self.model.levels}

    @cached_property
    def counts(self) -> NoisyCounts:
        return NoisyCounts(Readings.of(self.release), self.levels, self.confidence)

    @cached_property
    def embedding(self) -> MeanEmbedding:
        return MeanEmbedding.of(self.release)

    @cached_property
    def _chosen(self) -> NDArray[np.intp]:
        """The rows that the assisted estimates are made with."""
        return self.weighted.most_important(MOST_ROWS, self.seed)

    @cached_property
    def assisted(self) -> Assisted:
        """The rows beside the release."""
        mine = self.weighted.records.part(self._chosen)
        if isinstance(self.model.generator, Points):
            return Assisted(self.embedding, mine, POINTS)
        return Assisted(self.embedding, mine, FITTED, CAUTION)

    def mmd(self, sample: Any) -> float:
        """The distance of the private rows' mean embedding to that of a table of one's own, or to another release's.

        In the release's own features, with the noise and the chance of both samples taken off; 0 where that leaves nothing.
        """
        return self.two_sample_test(sample).mmd

    def two_sample_test(self, sample: Any) -> TwoSampleTest:
        """Were the private rows and a table of one's own (a path, a frame, another `Received`) drawn alike?"""
        return compare_releases(self, sample) if isinstance(sample, Received) else compare(self, sample)

    def ask(self, statistic: Statistic, *, population: bool = False, step: Step | None = None) -> Estimate:
        """A statistic of the rows, and where that of the private rows lies; or of the population they were drawn from.

        `step` is what was made of the rows before they are asked about.
        """
        values = statistic.values(self.rows if step is None else step(self.rows))
        value = statistic.of(values, self.weighted.weights)
        columns = sorted(self._columns(statistic, step))
        if columns:
            basis, found = self._interval(statistic, values, columns, step)
            found = found.within(*statistic.bounds)
            low, high = float(found.low), float(found.high)
            if not math.isfinite(found.error) or (low, high) == statistic.bounds:
                basis, found = "not measured", Interval(*statistic.bounds, math.inf)
                low, high = statistic.bounds
        else:  # a constant: any row tells it
            value = low = high = statistic.of(values[:1], np.ones(1))
            basis, found = "measured", Interval(value, value, 0.0)
        facts = (statistic.name, statistic.unit, value, low, high, found.error, self.confidence, basis)
        estimate = Estimate(*facts, note_of(self.release, basis, columns))
        if population and columns:
            estimate = self._of_population(estimate, statistic, values)
        return self._times_rows(estimate) if statistic.times_rows else estimate

    def _interval(
        self, statistic: Statistic, values: Floats, columns: Sequence[str], step: Step | None
    ) -> tuple[Basis, Interval]:
        functions = tuple(each if step is None else each.after(step) for each in statistic.functions)
        weighted = self.weighted
        asked = Asked(self.counts, columns, functions, weighted.records, values, weighted.weights)
        measured = statistic.measured(asked)
        # Where there are other features, counts are coarse, and rows with those features say more.
        if measured is not None and not (measured.bounded and has_features(self.release, columns)):
            return "bounded" if measured.bounded else "measured", measured
        found, finite = None, math.isfinite(statistic.of(values, weighted.weights))
        if self.release.measured_together(columns) and finite:
            if self.refits:
                found = self._refitted(statistic, columns, step)
            elif not (statistic.of_pairs and self._counted_together(columns)):
                found = self._assisted(statistic, step)
        return "refits" if self.refits else "assisted", found or Interval(*statistic.bounds, math.inf)

    def _counted_together(self, columns: Sequence[str]) -> bool:
        """Whether some table counts two of the columns."""
        return any(len(set(columns) & set(table.columns)) > 1 for table in self.counts.readings.tables)

    def _refitted(self, statistic: Statistic, columns: Sequence[str], step: Step | None) -> Interval:
        assert self.refits is not None
        self.refits.require_few(columns)

        def of_table(table: pa.Table) -> float:
            return statistic.of_table(table if step is None else step(table))

        return self.refits.interval(of_table, columns, (-math.inf, math.inf))[1]

    def _assisted(self, statistic: Statistic, step: Step | None) -> Interval | None:
        rows = self.rows.take(pa.array(self._chosen))
        values = statistic.values(rows if step is None else step(rows))
        return statistic.assisted(self.assisted, values, self.confidence)

    def _of_population(self, found: Estimate, statistic: Statistic, values: Floats) -> Estimate:
        """Wider by the sampling error of the private rows."""
        if not math.isfinite(found.standard_error):
            return found
        error = statistic.sampling_error(values, np.maximum(self.weighted.weights, 0.0), self.embedding.rows)
        extra = float(special.ndtri((1 + self.confidence) / 2)) * error
        middle, half = (found.low + found.high) / 2, math.hypot((found.high - found.low) / 2, extra)
        low, high = (float(np.clip(end, *statistic.bounds)) for end in (middle - half, middle + half))
        return replace(found, low=low, high=high, standard_error=math.hypot(found.standard_error, error))

    def _times_rows(self, share: Estimate) -> Estimate:
        """What is by the row, for all rows; where their number is not known exactly, that error comes on top."""
        rows = self.embedding.rows
        deviations = float(special.ndtri((1 + share.confidence) / 2))
        relative = self.rows_error / rows
        ends = []
        for end, side in ((share.low, -1), (share.high, 1)):
            middle = (share.low + share.high) / 2
            half = float(np.hypot(end - middle, deviations * relative * middle)) if np.isfinite(end) else np.inf
            ends.append(rows * (middle + side * half) if np.isfinite(half) else side * np.inf)
        low = max(0.0, ends[0]) if share.unit == "share" else ends[0]
        error = rows * float(np.hypot(share.standard_error, relative * share.value))
        return replace(share, unit="number", value=rows * share.value, low=low, high=ends[1], standard_error=error)

    @cached_property
    def rows_error(self) -> float:
        """Standard deviation of the number of private rows, as far as the release tells it."""
        if self.release.rows is not None:
            return 0.0
        tables = self.counts.readings.tables
        return 1 / math.sqrt(sum(1 / (table.values.size * table.sigma**2) for table in tables))

    def _columns(self, statistic: Statistic, step: Step | None) -> frozenset[str]:
        """The release's columns that a statistic reads: as its formulas say, or found by trying."""
        known = [each.columns for each in statistic.functions if each.columns is not None]
        if step is None and len(known) == len(statistic.functions):
            return frozenset[str]().union(*known)
        return self._tried(statistic.functions, step)

    def _tried(self, functions: tuple[Function, ...], step: Step | None) -> frozenset[str]:
        """The columns without which some function has other values for the same rows."""
        table = self.rows.slice(0, _MOST_PROBED)

        def see(seen: pa.Table) -> list[Floats]:
            made = seen if step is None else step(seen)
            return [each(made) for each in functions]

        before = see(table)
        order = np.random.default_rng(self.seed).permutation(table.num_rows)
        found = set()
        for place, name in enumerate(table.column_names):
            anew = see(table.set_column(place, name, table[name].take(pa.array(order))))
            if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, anew, strict=True)):
                found.add(name)
        return frozenset(found)

    def as_column(self, number: Function) -> Function:
        levels = self.levels.get(number.name) if number.columns == frozenset({number.name}) else None
        if levels is None or not levels.numeric:
            return number
        return Function.of_column(levels)

    def as_frame(self, table: pa.Table, frame: str | None = None) -> Any:
        return self.model.to_frame(table, frame)


@watched
def receive(
    release: Release | str | Path,
    *,
    model: Model | str | Path | None = None,
    confidence: float = 0.95,
    refits: int = 0,
    rows: int | None = None,
    frame: str | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Received:
    """Take a release in: fit its model, unless one is passed that was fitted to it, and get ready to be asked.

    Arguments:
        release: a release, or the path of its file.
        model: the model of it, or the path of its file; without one it is fitted here.
        confidence: of all intervals.
        refits: fit so often again with fresh noise, and take intervals from those that the counts do not give; slow. With
            none, they come from a closed form.
        rows: how many rows to draw from a model that has no weighted points of its own.
        frame: the kind of frame that functions take and rows come in, "pandas", "polars" or "pyarrow"; by default that of
            the private table.
        seed: of the fit and of the drawing.

    Costs no privacy, and needs nothing but the release. A release of histories is asked by person: see `by_person`.
    """
    public = Release.load(release) if isinstance(release, str | Path) else release
    if not isinstance(public, Release):
        raise UsageError(f"receive takes a Release or the path of one, not {type(release).__name__}.")
    public.schema.require_table("receive")
    fitted = Model.load(model) if isinstance(model, str | Path) else model
    public, fitted = by_person(public, fitted, refits=refits, seed=seed, progress=progress)
    require_settings(public, fitted, refits=refits, confidence=confidence, rows=rows)
    if fitted is None:
        fitted = fit(public, seed=seed, progress=progress)
    if frame is not None:
        if frame not in FRAMES:
            raise UsageError(f"frame {frame!r} is not known. Choose one of {', '.join(FRAMES)}.")
        fitted = replace(fitted, frame=frame)
    again = None
    if refits:
        again = Refits.made(
            public, model=fitted, refits=refits, confidence=confidence, rows=rows, seed=seed, progress=progress
        )
    count = rows or max(_ROWS, min(fitted.default_count, 5 * _ROWS))
    return Received(public, fitted, confidence, seed, count, again)
