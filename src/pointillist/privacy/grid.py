"""Grid: the integers on which features are added up. Chosen in the plan, enforced in the embedding."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from pointillist.files.facts import whole

FINEST = 26
"""The most bits of a grid on which every record counts by itself."""
_SHARED, _FINEST_SHARED = 16, 34
"""Bits of the parts into which a person's weight is cut, and the most bits of a grid with such parts."""


@dataclass(frozen=True)
class Grid:
    """Features are multiples of 2^-bits, and no record's squared norm is above 4^bits."""

    bits: int
    shared: int = 0
    """Where all records of a person together count as one: every weight is a multiple of 2^shared, so that it can be cut
    into as many parts, and each of a person's m records adds floor(2^shared / m) of them."""

    @classmethod
    def counting(cls) -> Self:
        """For rounds of indicators: counts of up to 2^36 rows fit 64-bit integers."""
        return cls(FINEST)

    @classmethod
    def of_persons(cls) -> Self:
        """For rounds of indicators that a person's records share: counts of up to 2^28 persons fit 64-bit integers."""
        return cls(_FINEST_SHARED, _SHARED)

    @classmethod
    def dense(cls, dimension: int) -> Self:
        """For other rounds: the finest on which the squared norm of any features within [-1, 1] fits 64 bits."""
        return cls(min(24, (62 - math.ceil(math.log2(dimension + 1))) // 2))

    @property
    def scale(self) -> int:
        """The integer that stands for a feature of 1."""
        return 1 << self.bits

    @property
    def parts(self) -> int:
        """Into how many parts the weight of a person is cut; 1 where every record counts by itself."""
        return 1 << self.shared

    @property
    def squared_norm(self) -> int:
        """No record's integer features have a squared norm above this; nor have all of a person's, where they share."""
        return 1 << (2 * self.bits)

    def weight(self, weight: float) -> int:
        """What a record adds to its cell of a block with this weight; what a person adds in all, where records share."""
        return self.part_weight(weight) * self.parts

    def part_weight(self, weight: float) -> int:
        """What one part of it is."""
        return math.floor(weight * (1 << (self.bits - self.shared)))

    def holds(self, dimension: int) -> bool:
        """Whether the squared norm of any features within [-1, 1] fits 64-bit integers."""
        return self.squared_norm * dimension < 1 << 63

    def to_json(self) -> dict[str, int]:
        """As facts of a file, beside others. Earlier versions had no parts."""
        return {"bits": self.bits, **({"shared": self.shared} if self.shared else {})}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        if "shared" not in facts:
            return cls(whole(facts, "bits", 1, FINEST))
        return cls(whole(facts, "bits", _SHARED + 1, _FINEST_SHARED), whole(facts, "shared", 1, _SHARED))
