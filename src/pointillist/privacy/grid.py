"""Grid: the integers on which features are added up. Chosen in the plan, enforced in the embedding."""

import math
from dataclasses import dataclass
from typing import Self

FINEST = 26
"""The most bits of any grid."""


@dataclass(frozen=True)
class Grid:
    """Features are multiples of 2^-bits, and no record's squared norm is above 4^bits."""

    bits: int

    @classmethod
    def counting(cls) -> Self:
        """For rounds of indicators: counts of up to 2^36 rows fit 64-bit integers."""
        return cls(FINEST)

    @classmethod
    def dense(cls, dimension: int) -> Self:
        """For other rounds: the finest on which the squared norm of any features within [-1, 1] fits 64 bits."""
        return cls(min(24, (62 - math.ceil(math.log2(dimension + 1))) // 2))

    @property
    def scale(self) -> int:
        """The integer that stands for a feature of 1."""
        return 1 << self.bits

    @property
    def squared_norm(self) -> int:
        """No record's integer features have a squared norm above this."""
        return 1 << (2 * self.bits)

    def weight(self, weight: float) -> int:
        """What a record adds to its cell of a block with this weight."""
        return math.floor(weight * self.scale)

    def holds(self, dimension: int) -> bool:
        """Whether the squared norm of any features within [-1, 1] fits 64-bit integers."""
        return self.squared_norm * dimension < 1 << 63
