"""Estimate: a statistic of the synthetic data, and the interval where the private one lies."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from pointillist.schema.kinds import show_in

Basis = Literal["measured", "bounded", "refits", "assisted", "not measured"]
Unit = str
"""What a value counts: "number", "share", or what a kind of column counts in; "day" and "second" are those from 1970."""


@dataclass(frozen=True)
class Interval:
    """Where a private statistic lies."""

    low: float
    high: float
    error: float
    """Standard deviation of the reading."""
    bounded: bool = False
    """Whether what happens inside cells has the larger part in it, not the noise."""

    def within(self, lowest: float, highest: float) -> "Interval":
        """The part of it that is possible.

        Noise may carry all of it, or nearly so, beyond what is possible. That is no certainty: a standard deviation is left.
        """
        low, high = (min(max(end, lowest), highest) for end in (self.low, self.high))
        least = min(self.error, self.high - self.low)
        if low == lowest and high - low < least:
            high = min(highest, low + least)
        if high == highest and high - low < least:
            low = max(lowest, high - least)
        return replace(self, low=low, high=high)


@dataclass(frozen=True)
class Estimate:
    """What the synthetic data show, and an interval for the same statistic of the private rows."""

    name: str
    unit: Unit
    value: float
    """Of rows sampled from the model."""
    low: float
    high: float
    """The private statistic lies between these with the stated confidence. The value itself may lie outside: then it is
    known to be off."""
    standard_error: float
    """Of the unbiased estimate that the interval is around."""
    confidence: float
    basis: Basis
    """"measured": from the known noise. "bounded": from the noise, and a bound for what happens inside cells that are wider
    than the question. "refits": from fitting again with fresh noise, with the fit's bias taken off as far as the release
    shows it. "assisted": a closed form, from rows of the model and what was measured together. "not measured": the release
    does not tell; there is no interval, and `low` and `high` are all that is possible."""
    note: str = ""
    """What else there is to know about it."""

    @property
    def known(self) -> bool:
        """Whether there is an interval."""
        return self.basis != "not measured"

    @property
    def error(self) -> float:
        """How far the value is from the private one at most, with the same confidence."""
        return max(self.high - self.value, self.value - self.low)

    def __str__(self) -> str:
        note = f" {self.note}" if self.note else ""
        if not self.known:
            return (
                f"{self.name}: {self.shown(self.value)} in the synthetic data; no interval.{note or ' Not measured.'}"
            )
        return (
            f"{self.name}: {self.shown(self.value)} in the synthetic data; with {self.confidence:.0%} confidence between "
            f"{self.shown(self.low)} and {self.shown(self.high)} in the private table ({self.basis}){'.' * bool(note)}{note}"
        )

    def _repr_html_(self) -> str:
        from pointillist.pages.notebook import Box, interval

        sure = (
            f"the private figure, with {self.confidence:.0%} confidence: {self.interval}"
            if self.known
            else "no interval"
        )
        drawn = [interval(self.value, self.low, self.high)] if self.known else []
        lines = [f"{self.shown(self.value)} in the synthetic data; {sure}.", *drawn]
        return Box(self.name, self.basis, lines, notes=[self.note] if self.note else []).to_html()

    @property
    def interval(self) -> str:
        """Where the private figure lies, in words."""
        return f"{self.shown(self.low)} to {self.shown(self.high)}" if self.known else "no interval"

    def shown(self, value: float) -> str:
        """A value in words: dates as dates, shares in per cent."""
        if not math.isfinite(value):
            return "unknown"
        if self.unit == "share":
            return f"{value:.2%}"
        return show_in(self.unit, value)

    def to_json(self) -> dict[str, Any]:
        unknown = {} if self.known else dict.fromkeys(("low", "high", "standard_error", "error"))
        return {**asdict(self), "error": self.error, **unknown}
