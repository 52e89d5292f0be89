"""Rule: something that holds in every real row, and how often synthetic rows break it.

A rule that only chance makes hold would be broken by the next real sample, too. So each kind of rule asks for evidence:
how many real rows would break it if the columns knew nothing of each other.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pointillist.evaluate.advice import Advice
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.tables.sample import Sample
from pointillist.registry import Registry
from pointillist.schema.levels import Levels

LEAST_ROWS = 100
"""In fewer real rows, nothing is called a rule."""
EVIDENCE = 50.0
"""So many real rows would break a rule if the columns were independent."""
FEW = 60
"""A column with no more values than this may be a category."""
_PROBE = 1_000
"""Rules are looked for in so many rows first: most fail there."""

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """One rule, with the share of synthetic rows that break it."""

    kind: str
    text: str
    columns: tuple[str, ...]
    """Those that it is about; what it says about the last follows from the others, where it is a function."""
    broken: float
    advice: tuple[Advice, ...] = ()
    chance: float = 0.0
    """The share of further real rows that may break it: of values, those that are there but once are a hint."""

    @property
    def beyond(self) -> float:
        """How often it is broken beyond that."""
        return max(0.0, self.broken - self.chance)

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "columns": list(self.columns), "advice": [each.to_json() for each in self.advice]}


@dataclass(frozen=True, eq=False, repr=False)
class Values:
    """One column of both tables, value by value."""

    level: Levels
    real: Codes
    """The number of every row's value; values are numbered from 0, those of both tables together."""
    synthetic: Codes
    size: int
    numbers: tuple[Floats, Floats]
    """Real and synthetic values as numbers, NaN where missing; all NaN where they are none."""
    counted: bool
    """Whether they are numbers."""
    gaps: tuple[Flags, Flags]

    @property
    def name(self) -> str:
        return self.level.name

    @cached_property
    def counts(self) -> Codes:
        """How many real rows have each value."""
        return np.bincount(self.real, minlength=self.size)

    @cached_property
    def distinct(self) -> int:
        """Different values among the real rows."""
        return int(np.count_nonzero(self.counts))

    @cached_property
    def variety(self) -> float:
        """The chance that two real rows differ in it."""
        return 1 - float(np.square(self.counts / max(1, self.counts.sum())).sum())

    @cached_property
    def whole(self) -> bool:
        """Whether all real values are whole numbers."""
        if not self.counted:
            return False
        known = self.numbers[0][~self.gaps[0]]
        return bool(len(known)) and bool((known == np.floor(known)).all())


@dataclass(frozen=True, eq=False, repr=False)
class Facts:
    """Both tables, column by column, for those that look for rules."""

    columns: tuple[Values, ...]
    rows: int
    others: int

    @property
    def probe(self) -> slice:
        """The rows that are looked at first."""
        return slice(0, _PROBE)

    @cached_property
    def shuffled(self) -> Codes:
        """Some rows in another order: what a row would be with another row's value. The same each time."""
        return np.random.default_rng(0).permutation(self.rows)

    @property
    def numeric(self) -> list[Values]:
        return [each for each in self.columns if each.counted]


class RuleKind(ABC):
    """Finds the rules of one kind. Has no state."""

    replaces: ClassVar[tuple[str, ...]] = ()
    """Kinds that say less about the same columns: theirs are left out where it has found a rule."""

    @abstractmethod
    def find(self, facts: Facts) -> Iterable[Rule]:
        """All rules that hold in every real row, with how often they are broken."""


RULES: Registry[type[RuleKind]] = Registry("kind of rule", "pointillist.evaluate.tables.rules")


def facts_of(real: Sample, synthetic: Sample) -> Facts:
    """Two samples, ready to be searched."""
    return Facts(tuple(_values(real, synthetic, each) for each in real.levels), real.rows, synthetic.rows)


def _values(real: Sample, synthetic: Sample, level: Levels) -> Values:
    name = level.name
    gaps = real.missing(name), synthetic.missing(name)
    if not level.numeric:
        codes = real.codes(name), synthetic.codes(name)
        counted = not level.has_other and all(type(each) is int for each in level.categories)
        worth = np.full(level.size, np.nan)
        if counted:
            worth[: level.regular] = level.categories
        return Values(level, *codes, level.size, (worth[codes[0]], worth[codes[1]]), counted, gaps)
    first, second = (each.unbounded(name, _snapped(each.values(name))) for each in (real, synthetic))
    values = first, second
    distinct, both = np.unique(np.concatenate(values), return_inverse=True)  # all gaps are one value
    return Values(level, both[: real.rows], both[real.rows :], len(distinct), values, True, gaps)


def _snapped(values: Floats) -> Floats:
    """Numbers without the rounding errors of the way through the schema's scale: 4.9999999999999 was 5."""
    size = np.nanmax(np.abs(values), initial=1.0)
    return np.asarray(np.round(values, int(11 - np.ceil(np.log10(size)))))
