"""Quantiles: where a number's distribution lies, real and synthetic, and how far a synthetic quantile is off."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from pointillist.evaluate.tables.sample import Sample

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SLACK = 0.02
"""This share of the rows may lie on the wrong side of a quantile: whole numbers jump where a few rows change sides."""
_NORMAL = 3.29
"""A bell-shaped number spans this many standard deviations from its 5 % to its 95 % quantile."""


@dataclass(frozen=True)
class Quantiles:
    """Of a number: the real quantiles, what they may be by chance, and the synthetic ones."""

    real: tuple[float, ...]
    synthetic: tuple[float, ...]
    low: tuple[float, ...]
    """The lowest that each may be: chance, and a few rows on the wrong side."""
    high: tuple[float, ...]
    chance: float
    """Two standard deviations of a median's place, as a share of the rows."""

    @cached_property
    def unit(self) -> float:
        """The spread of the middle nine tenths, as a standard deviation; 0 where they are all alike."""
        return (self.real[-1] - self.real[0]) / _NORMAL

    @property
    def shifts(self) -> tuple[float, ...]:
        """How far each synthetic quantile lies outside what it may be, in units."""
        if self.unit <= 0:
            return (0.0,) * len(SHARES)
        found = zip(self.synthetic, self.low, self.high, strict=True)
        return tuple(max(0.0, low - made, made - high) / self.unit for made, low, high in found)

    @property
    def worst(self) -> int:
        """Which is furthest off, by number."""
        return int(np.argmax(self.shifts))


def quantiles_of(real: Sample, synthetic: Sample, name: str) -> Quantiles | None:
    """Of a numeric column; None where either table has no value of it."""
    found = [np.sort(values[~np.isnan(values)]) for values in (real.as_is(name), synthetic.as_is(name))]
    if not all(len(values) for values in found):
        return None
    shares = np.array(SHARES)
    scatter = 2 * np.sqrt(shares * (1 - shares) * sum(1 / len(values) for values in found))

    def at(values: np.ndarray, places: np.ndarray) -> tuple[float, ...]:
        picked = np.ceil(np.clip(places, 0.0, 1.0) * len(values) - 1e-9).astype(np.int64) - 1  # 0.05 × 100 is 5
        return tuple(values[np.clip(picked, 0, len(values) - 1)].tolist())

    first, second = found
    return Quantiles(
        at(first, shares),
        at(second, shares),
        at(first, shares - scatter - _SLACK),
        at(first, shares + scatter + _SLACK),
        float(scatter[len(SHARES) // 2]),
    )
