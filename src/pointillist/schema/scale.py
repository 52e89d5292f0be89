"""Scale: how the range of a number is bent before it is cut into bins of equal width.

"linear" leaves it as it is. "log" takes logarithms: bins of equal ratio, for numbers above zero. "asinh" is a logarithm with
a sign: linear near zero, equal ratios far from it on both sides, so that it suits balances, gains and losses.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ScaleName = Literal["linear", "log", "asinh"]
CODES = {"linear": 0, "log": 1, "asinh": 2}
"""The scales as compiled code knows them."""
_NEAR_ZERO = 1e-3
"""Within this part of the farther bound, the asinh scale is about linear."""


class Scale(NamedTuple):
    """A strictly increasing function of the numbers of a column."""

    name: ScaleName
    width: float = 1.0
    """Of asinh: how far from zero it is about linear."""

    @classmethod
    def of(cls, name: ScaleName, low: float, high: float) -> "Scale":
        """The scale of numbers between two bounds."""
        if name != "asinh":
            return cls(name)
        return cls(name, max(_NEAR_ZERO * max(abs(low), abs(high)), np.finfo(np.float64).tiny))

    def bend(self, values: Floats) -> Floats:
        """Numbers on the scale."""
        if self.name == "log":
            return np.asarray(np.log(values))
        return np.arcsinh(values / self.width) if self.name == "asinh" else values

    def unbend(self, bent: Floats) -> Floats:
        """The inverse of `bend`, up to rounding."""
        if self.name == "log":
            return np.asarray(np.exp(bent))
        return self.width * np.sinh(bent) if self.name == "asinh" else bent

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """Two numbers on the scale: to the last bit the same wherever it is asked, for bins are cut between them."""
        if self.name == "log":
            return math.log(low), math.log(high)
        return (math.asinh(low / self.width), math.asinh(high / self.width)) if self.name == "asinh" else (low, high)
