"""Trade-off: how well anyone can tell two neighbouring data sets apart, as a whole curve.

A curve bounds the chance P(S) of any event S on one side of a pair of neighbours by its chance Q(S) on the other:
P(S) <= power(Q(S)), and so Q(S) >= alarm(P(S)). It holds in both directions, and for everything that is computed from what
was released. docs/explanation/privacy-person.md has the proofs.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from scipy.special import ndtr, ndtri

from pointillist.privacy.guarantee import Guarantee

_MARGIN = 1e-9
"""Far more than the floating-point error of the functions here; every bound is moved by it to the safe side."""


class TradeOff(Protocol):
    """A bound on how far the chance of an event can move between neighbours. Concave in the chance."""

    def power(self, alarm: float) -> float:
        """The most likely that an event can be on one side, if its chance on the other is `alarm`."""

    def alarm(self, power: float) -> float:
        """The least likely that an event can be on one side, if its chance on the other is `power`."""

    @property
    def advantage(self) -> float:
        """The most that the chance of any event can differ between the two sides."""


@dataclass(frozen=True)
class GaussianTradeOff:
    """delta(epsilon + epsilon_slack) <= delta_G(epsilon; mu) + delta_slack for all epsilon >= 0: what a release promises."""

    mu: float
    epsilon_slack: float = 0.0
    delta_slack: float = 0.0

    @property
    def _shift(self) -> float:
        return self.delta_slack - math.expm1(-self.epsilon_slack)

    def power(self, alarm: float) -> float:
        """Phi(Phi^-1(alarm) + mu), and what the slacks add."""
        moved = min(1.0, math.exp(self.epsilon_slack) * (alarm + self.delta_slack))
        return _up(float(ndtr(ndtri(moved) + self.mu)) + self._shift)

    def alarm(self, power: float) -> float:
        """Phi(Phi^-1(power) - mu), less what the slacks take."""
        moved = max(0.0, power - self._shift)
        return _down(math.exp(-self.epsilon_slack) * float(ndtr(ndtri(moved) - self.mu)) - self.delta_slack)

    @property
    def advantage(self) -> float:
        """2 Phi(mu / 2) - 1, and what the slacks add."""
        return _up(math.erf(self.mu / math.sqrt(8)) + self.delta_slack + math.expm1(self.epsilon_slack))


@dataclass(frozen=True)
class ApproximateTradeOff:
    """All that (epsilon, delta) says by itself, whatever the mechanism."""

    epsilon: float
    delta: float

    def power(self, alarm: float) -> float:
        steep = math.exp(min(700.0, self.epsilon)) * alarm + self.delta
        flat = 1 - math.exp(-self.epsilon) * max(0.0, 1 - self.delta - alarm)
        return _up(min(steep, flat))

    def alarm(self, power: float) -> float:
        steep = math.exp(-self.epsilon) * (power - self.delta)
        flat = 1 - self.delta - math.exp(min(700.0, self.epsilon)) * (1 - power)
        return _down(max(steep, flat))

    @property
    def advantage(self) -> float:
        """(e^epsilon - 1 + 2 delta) / (e^epsilon + 1)."""
        half = math.tanh(self.epsilon / 2)
        return _up(half + self.delta * (1 - half))


@dataclass(frozen=True)
class InTurn:
    """Two releases of the same data, of which anyone may see both; the second may be chosen in view of the first."""

    first: TradeOff
    second: TradeOff

    def power(self, alarm: float) -> float:
        return self.second.power(self.first.power(alarm))

    def alarm(self, power: float) -> float:
        return self.first.alarm(self.second.alarm(power))

    @property
    def advantage(self) -> float:
        """At most the sum of both."""
        return min(1.0, self.first.advantage + self.second.advantage)


@dataclass(frozen=True)
class Both:
    """Two curves that hold for the same releases: of each bound the better one."""

    one: TradeOff
    other: TradeOff

    def power(self, alarm: float) -> float:
        return min(self.one.power(alarm), self.other.power(alarm))

    def alarm(self, power: float) -> float:
        return max(self.one.alarm(power), self.other.alarm(power))

    @property
    def advantage(self) -> float:
        return min(self.one.advantage, self.other.advantage)


def promised(guarantee: Guarantee) -> GaussianTradeOff | ApproximateTradeOff:
    """The curve of a guarantee: that of its mu or, where it has no delta and is not Gaussian, that of its epsilon."""
    if guarantee.delta == 0:
        return ApproximateTradeOff(guarantee.epsilon, 0.0)
    return GaussianTradeOff(guarantee.mu, guarantee.epsilon_slack, guarantee.delta_slack)


def _up(chance: float) -> float:
    return min(1.0, chance * (1 + _MARGIN))


def _down(chance: float) -> float:
    return max(0.0, chance * (1 - _MARGIN))
