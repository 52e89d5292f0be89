"""Moments: mean and spread of a number, real and synthetic, and how much of a difference chance explains."""

from dataclasses import dataclass

import numpy as np

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.sample import Sample


@dataclass(frozen=True)
class Moments:
    """Mean and spread of a number, real and synthetic."""

    mean: tuple[float, float]
    spread: tuple[float, float]
    rows: tuple[int, int]
    """Rows that have a value."""
    kurtosis: float = 3.0
    """Of the real values: how much single values weigh in their spread. 3 for a normal distribution."""

    @property
    def shift(self) -> float:
        """How far the mean is off, in units of the real spread."""
        return abs(self.mean[1] - self.mean[0]) / self.spread[0] if self.spread[0] > 0 else 0.0

    @property
    def chance(self) -> float:
        """The standard deviation of `shift`'s difference between two samples of these sizes."""
        return float(np.sqrt(sum(1 / max(1, rows) for rows in self.rows)))

    @property
    def stretch(self) -> float:
        """By which part the spread is too large or too small; 0 where the real values do not differ."""
        return abs(self.spread[1] / self.spread[0] - 1) if self.spread[0] > 0 else 0.0

    @property
    def stretch_chance(self) -> float:
        """The standard deviation of `stretch` between two samples of these sizes, of one distribution."""
        return self.chance * float(np.sqrt(max(0.0, self.kurtosis - 1) / 4))


def moments_of(real: Sample, synthetic: Sample, name: str) -> Moments | None:
    """Of a numeric column; None where either table has no value of it."""
    found = [values[~np.isnan(values)] for values in (real.as_is(name), synthetic.as_is(name))]
    if not all(len(values) for values in found):
        return None
    first, second = found
    return Moments(
        (float(first.mean()), float(second.mean())),
        (float(first.std()), float(second.std())),
        (len(first), len(second)),
        _kurtosis(first),
    )


def _kurtosis(values: Floats) -> float:
    spread = float(values.std())
    return float(np.mean(((values - values.mean()) / spread) ** 4)) if spread > 0 else 1.0
