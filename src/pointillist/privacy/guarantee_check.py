"""Guarantee check: whether the noise of a release gives what its guarantee says. For files that come in.

Everything that a guarantee rests on stands in the release: grids, noise and feature maps. So anyone can do the sum again,
and a file that promises more than its noise gives is refused, whoever wrote it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pointillist.privacy.accounting import LARGEST_SIGMA, gaussian_delta, grid_delta, grid_epsilon, sharing_slack
from pointillist.privacy.exponential import exponential_mu
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Guarantee
from pointillist.privacy.sensitivity import squared_sensitivity

_ROUNDING = 1e-9
"""Far more than the floating-point error of any sum here, and far less than anyone could make use of."""
_LOOSE = 1.01
"""Noise is made for the promise, and mu is the largest that it allows: nearer than this."""


@dataclass(frozen=True)
class Noisy:
    """What one noisy sum spends: its grid and its noise, and what is known of its features."""

    grid: Grid
    sigma: float
    dimension: int
    nonnegative: bool
    positive: bool

    def sensitivity(self, guarantee: Guarantee) -> float:
        """How far one privacy unit moves the sum, on the grid."""
        return math.sqrt(
            squared_sensitivity(
                self.grid.squared_norm,
                guarantee.neighbours,
                guarantee.person,
                nonnegative=self.nonnegative,
                positive=self.dimension if self.positive else None,
                shared=self.grid.shared > 0,
            )
        )


def require_promise(guarantee: Guarantee) -> None:
    """Refuse an (epsilon, delta) that does not follow from mu and the grid's slacks, or that is not what they were made for.

    A delta of 0 is the promise of a choice among candidates, which has no noise; its mu is what it counts for.
    """
    mu = guarantee.mu
    if guarantee.delta == 0:
        least = exponential_mu(guarantee.epsilon)
        if not least * (1 - _ROUNDING) <= mu <= least * _LOOSE or guarantee.epsilon_slack or guarantee.delta_slack:
            raise ValueError("the mu of its guarantee is not that of its epsilon")
        return
    epsilon, delta = guarantee.epsilon - guarantee.epsilon_slack, guarantee.delta - guarantee.delta_slack
    if not (epsilon > 0 and delta > 0 and gaussian_delta(mu, epsilon) <= delta):
        raise ValueError("its guarantee promises more than its mu gives")
    if not gaussian_delta(mu * _LOOSE, epsilon) > delta:
        raise ValueError("the mu of its guarantee is not that of its epsilon and delta")


def require_noise(guarantee: Guarantee, sums: Sequence[Noisy], spent: float) -> None:
    """Refuse a guarantee that the noise does not give. `spent` is the part of mu^2 that the plan spends.

    A plan may know less of its features than the features themselves show, and then reckons with a sensitivity that is too
    large by sqrt 2 at most. So mu may be that much larger than the noise says, and never smaller. Where several owners made
    it, only so much of the noise counts as they agreed to count on.
    """
    shares, spread = (1, 1.0) if guarantee.owners is None else (guarantee.owners.shares, guarantee.owners.spread)
    require_promise(guarantee)
    if guarantee.delta == 0:
        raise ValueError("no noise gives a delta of 0")
    if not all(0 < each.sigma <= LARGEST_SIGMA for each in sums):
        raise ValueError("sigma is out of range")
    counted = [replace(each, sigma=each.sigma / spread) for each in sums]
    moves = [(each, each.sensitivity(guarantee)) for each in counted]
    mu = math.sqrt(math.fsum((move / each.sigma) ** 2 for each, move in moves))
    if not mu <= guarantee.mu * (1 + _ROUNDING):
        raise ValueError("its guarantee promises more than its noise gives")
    if not guarantee.mu * math.sqrt(spent / 2) <= mu * (1 + _ROUNDING):
        raise ValueError("the mu of its guarantee contradicts its noise")
    epsilon = math.fsum(grid_epsilon(each.dimension, move, each.sigma) for each, move in moves)
    delta = math.fsum(grid_delta(each.dimension, each.sigma) for each, _ in moves)
    sharing = math.fsum(sharing_slack(each.dimension, each.sigma, shares) for each, _ in moves)
    epsilon, delta = epsilon + sharing, delta + sharing
    if not (epsilon <= guarantee.epsilon_slack * (1 + _ROUNDING) and delta <= guarantee.delta_slack * (1 + _ROUNDING)):
        raise ValueError("its guarantee leaves out what the grid of its noise costs")
