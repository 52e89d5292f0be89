"""Received: a release in the hands of somebody who wants to know something. Public: no private row is ever seen here."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.inference.estimate import Unit
from pointillist.inference.function import Function, Written
from pointillist.inference.inquiry import Inquiry
from pointillist.inference.source import Source, Through
from pointillist.inference.statistic import EVERYWHERE
from pointillist.inference.two_sample import TwoSampleTest, compare, compare_releases
from pointillist.inference.uncertainty import uncertainty
from pointillist.methods.fit import fit
from pointillist.model import FRAMES, Model
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.sampling.recoding import numbers_of

_ROWS = 20_000
"""Rows that are drawn from a model without weighted points, unless the caller says otherwise."""


@dataclass(frozen=True, eq=False, repr=False)
class Received(Inquiry):
    """Weighted rows that stand for a private table, and the release that they come from. Ask it anything; it is free."""

    _source: Source

    def __repr__(self) -> str:
        return (
            f"<Received {self.release.schema.name!r}: {self.rows.num_rows:,} rows, {len(self.columns)} columns, "
            f"{self.source.confidence:.0%} intervals>"
        )

    @property
    def source(self) -> Source:
        return self._source

    @property
    def release(self) -> Release:
        return self.source.release

    @property
    def model(self) -> Model:
        return self.source.model

    @property
    def through(self) -> Through | None:
        return None

    @property
    def rows(self) -> pa.Table:
        return self.source.rows.table

    @property
    def frame(self) -> str:
        return self.model.frame

    def mmd(self, sample: Any) -> float:
        """The distance of the private rows' mean embedding to that of a table of one's own, or to another release's.

        In the release's own features, with the noise and the chance of both samples taken off; 0 where that leaves nothing.
        """
        return self.two_sample_test(sample).mmd

    def two_sample_test(self, sample: Any) -> TwoSampleTest:
        """Were the private rows and a table of one's own (a path, a frame, another `Received`) drawn alike?"""
        if isinstance(sample, Received):
            return compare_releases(self.source, sample.source)
        return compare(self.source, sample)

    def _as_frame(self, table: pa.Table, frame: str | None) -> Any:
        return self.model.to_frame(table, frame)

    def _number(self, written: Written) -> Function:
        """A column by itself counts as its levels do, so that what was measured of it can be compared."""
        found = super()._number(written)
        levels = self.source.levels.get(found.name)
        if levels is None or not levels.numeric or found.columns != frozenset({levels.name}):
            return found
        return replace(found, call=lambda table: numbers_of(levels, table[levels.name]))

    def _bounds(self, number: Function) -> tuple[float, float]:
        levels = self.source.levels.get(number.name)
        if levels is None or not levels.numeric:
            return EVERYWHERE
        low, high = levels.column.extremes
        return low, high

    def _unit(self, number: Function) -> Unit:
        levels = self.source.levels.get(number.name)
        return levels.column.unit if levels is not None and levels.numeric else "number"


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

    Costs no privacy, and needs nothing but the release.
    """
    public = Release.load(release) if isinstance(release, str | Path) else release
    if not isinstance(public, Release):
        raise UsageError(f"receive takes a Release or the path of one, not {type(release).__name__}.")
    public.schema.require_table("receive")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    if rows is not None and rows < 1:
        raise UsageError(f"rows must be at least 1, not {rows}.")
    if refits < 0 or refits == 1:
        raise UsageError(f"refits must be 0, or at least 2, not {refits}.")
    fitted = Model.load(model) if isinstance(model, str | Path) else model
    if fitted is not None and fitted.release != public.id:
        raise UsageError("the model was fitted to another release. Pass the release that it was fitted to.")
    if fitted is None:
        fitted = fit(public, seed=seed, progress=progress)
    if frame is not None:
        if frame not in FRAMES:
            raise UsageError(f"frame {frame!r} is not known. Choose one of {', '.join(FRAMES)}.")
        fitted = replace(fitted, frame=frame)
    count = rows or max(_ROWS, min(fitted.default_count, 5 * _ROWS))
    bars = None
    if refits:
        bars = uncertainty(
            public, model=fitted, refits=refits, confidence=confidence, rows=rows, seed=seed, progress=progress
        )
    return Received(Source(public, fitted, confidence, seed, count, bars))
