"""Claim: a figure of the documentation, a small way to measure it, and the band that it must lie in."""

import math
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Folder = Path | None
"""Where public data sets are; None: nowhere."""
Status = Literal["ok", "off", "failed", "skipped"]


@dataclass(frozen=True)
class Band:
    """Where a figure must lie, ends included, and how the ends were found."""

    why: str
    least: float = -math.inf
    most: float = math.inf

    def holds(self, value: float) -> bool:
        return self.least <= value <= self.most  # False for NaN

    def __str__(self) -> str:
        if self.least == -math.inf:
            return f"≤ {self.most:.4g}"
        return f"≥ {self.least:.4g}" if self.most == math.inf else f"{self.least:.4g} to {self.most:.4g}"


@dataclass(frozen=True)
class Claim:
    """One line of the table."""

    name: str
    where: str
    """The page of the documentation that the figure stands on."""
    band: Band
    measure: Callable[[Folder], float]
    """The figure as it is now, given the folder of data sets. Claims of one area share work by `functools.cache`."""
    needs: tuple[str, ...] = ()
    """Files in the folder of data sets; without them the claim is skipped."""
    quick: bool = False
    """Whether `make test` checks it, too."""


@dataclass(frozen=True)
class Outcome:
    """What became of a claim."""

    claim: Claim
    status: Status
    value: float | None = None
    reason: str = ""
    cpu_seconds: float = 0.0

    @property
    def fine(self) -> bool:
        return self.status in ("ok", "skipped")


def check(claim: Claim, data: Folder) -> Outcome:
    """Measure, and hold against the band. A measure that fails is off, and no reason to leave out the others."""
    missing = [name for name in claim.needs if data is None or not (data / name).exists()]
    if missing:
        where = "--data or POINTILLIST_DATA names no folder" if data is None else f"not in {data}"
        return Outcome(claim, "skipped", reason=f"needs {', '.join(missing)}: {where}")
    start = _clock()
    try:
        value = float(claim.measure(data))
    except Exception as error:  # whatever goes wrong is a result: the other claims go on
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        return Outcome(claim, "failed", None, reason, _clock() - start)
    return Outcome(claim, "ok" if claim.band.holds(value) else "off", value, cpu_seconds=_clock() - start)


def _clock() -> float:
    """Processor time of this process and of those that it has waited for."""
    return sum(os.times()[:4])


def quick(claims: Iterable[Claim]) -> list[Claim]:
    return [claim for claim in claims if claim.quick]
