"""Selection: which values of a column are meant. Conditions on a sample and constraints in a schema are made of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Selection:
    """Values of one column."""

    values: tuple[Any, ...] = ()
    """Categories, or true and false; the column's `other_label` stands for what is unlisted."""
    ranges: tuple[tuple[Any, Any], ...] = ()
    """Lowest and highest number or moment of each range."""
    missing: bool = False

    def __str__(self) -> str:
        shown = [[str(end).removesuffix(" 00:00:00") for end in each] for each in self.ranges]
        ranges = (f"{low} to {high}" if low != high else low for low, high in shown)
        return " or ".join([*map(repr, self.values), *ranges, *(["missing"] if self.missing else [])])

    def includes(self, other: Self) -> bool:
        """Whether all of another selection of the same column is in this one."""
        return (
            set(other.values) <= set(self.values)
            and all(any(a <= low and high <= b for a, b in self.ranges) for low, high in other.ranges)
            and self.missing >= other.missing
        )

    @classmethod
    def united(cls, parts: Iterable[Self]) -> Self:
        """All that is in any of some selections of the same column."""
        parts = list(parts)
        values = dict.fromkeys(value for part in parts for value in part.values)
        ranges = sorted({each for part in parts for each in part.ranges})
        merged: list[tuple[Any, Any]] = []
        for low, high in ranges:
            if merged and low <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return cls(tuple(values), tuple(merged), any(part.missing for part in parts))
