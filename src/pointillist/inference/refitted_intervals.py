"""Refitted intervals: models fitted again, each to the release with fresh noise added. How far a statistic moves from
fit to fit shows the noise's part in it.

What is systematic, the fit's pull towards simple models, is first taken off: statistics are those of rows that are
calibrated to what was measured (`calibration.py`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy import stats

from pointillist.errors import UsageError
from pointillist.fitting.readings import Readings
from pointillist.generators.base import GeneratorSettings
from pointillist.inference.estimate import Interval
from pointillist.inference.sampled_rows import OfTable, SampledRows
from pointillist.methods.base import Method
from pointillist.methods.fit import fit
from pointillist.model import Model
from pointillist.progress import Progress, silent
from pointillist.release import Release

_LEAST = 2
_ROWS = (20_000, 50_000)
"""At least and at most so many rows are sampled from every model, unless the caller says otherwise."""
_UNSEEN = 1.0
"""The bias that the calibration does not show is taken to be at most so many times what it shows."""
_MOST_COLUMNS = 30
"""The most columns whose pairs are set right at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Refits:
    """A model and its refits."""

    release: Release
    model: Model
    refits: tuple[tuple[Release, Model], ...]
    """Releases that are noisier by once the noise, and the models fitted to them."""
    confidence: float
    rows: int
    """Rows that are sampled from every model."""
    seed: int

    @classmethod
    def made(
        cls,
        release: Release,
        *,
        model: Model | None,
        refits: int,
        confidence: float,
        rows: int | None,
        method: str | Method | None = None,
        generator: str | GeneratorSettings | None = None,
        seed: int,
        progress: Progress = silent,
    ) -> Self:
        """Fit the model (unless one is given that was fitted to this release) and so many more."""
        require_settings(release, model, refits=refits, confidence=confidence, rows=rows)
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
        count = rows or min(max(model.default_count, least), most)
        return cls(release, model, tuple(found), confidence, count, seed)

    @cached_property
    def sampled(self) -> tuple[SampledRows, ...]:
        """Rows of the model, and of every refit. Each has its own seed, so that chance in the sampling counts as well."""
        known = {each.name: each for each in self.model.levels}
        return tuple(
            SampledRows(Readings.of(release), known, model.sample_table(self.rows, seed=self.seed + number))
            for number, (release, model) in enumerate(((self.release, self.model), *self.refits))
        )

    def interval(
        self, statistic: OfTable, columns: Sequence[str], bounds: tuple[float, float], unknown: float = 0.0
    ) -> tuple[float, Interval]:
        """A statistic of the model's rows, and an interval around that of rows that agree with what was measured.

        `unknown` is how much further the private one may lie for reasons that no measurement shows.
        """
        (value, middle), *again = (rows.evaluate(statistic, columns) for rows in self.sampled)
        others = np.array([calibrated for _, calibrated in again])
        if not np.isfinite([value, middle, *others]).all():
            return value, Interval(*bounds, math.inf)
        error = math.hypot(float(others.std(ddof=1)), float(others.mean()) - middle)
        wide = error * float(stats.t.ppf((1 + self.confidence) / 2, len(others) - 1))
        bias = _UNSEEN * (middle - value)
        ends = middle - wide + min(bias, 0.0) - unknown, middle + wide + max(bias, 0.0) + unknown
        low, high = (float(np.clip(end, *bounds)) for end in ends)
        return value, Interval(low, high, error)

    def require(self, what: str) -> None:
        """Refuse a question that only refits answer, if there are none."""
        if len(self.refits) < _LEAST:
            raise UsageError(
                f"{what}: was not measured as such, so refits are needed. Make the uncertainty with refits = 10, say."
            )

    def require_few(self, columns: Sequence[str]) -> None:
        """Refuse a function of more columns than can be calibrated together."""
        if len(columns) > _MOST_COLUMNS:
            raise UsageError(
                f"of: the function reads {len(columns)} columns. Name those that matter most, {_MOST_COLUMNS} at most: "
                "columns = [...]."
            )


def require_settings(
    release: Release, model: Model | None, *, refits: int, confidence: float, rows: int | None
) -> None:
    """Refuse what no intervals can be made with."""
    if refits < 0 or refits == 1:
        raise UsageError(f"refits must be 0, or at least {_LEAST}, not {refits}.")
    if not 0 < confidence < 1:
        raise UsageError(f"confidence must lie between 0 and 1, not {confidence}.")
    if rows is not None and rows < 1:
        raise UsageError(f"rows must be at least 1, not {rows}.")
    if model is not None and model.release != release.id:
        raise UsageError("the model was fitted to another release. Pass the release that it was fitted to.")


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
