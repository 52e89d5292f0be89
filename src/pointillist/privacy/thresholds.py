"""Thresholds: which values that nobody knew of may be named, once there is noise on their counts.

A value that one person alone has must not be named because that person is there. So only those are named whose noisy count
reaches a threshold, and the chance that one person's own values do is a small part of delta.
docs/explanation/privacy-drafting.md has the proof.
"""

import math

from scipy.special import ndtri

_MARGIN = 1e-9
"""Far more than the error of the inverse."""


def threshold(sigma: float, most: int, keys: int, delta: float) -> int:
    """The least T for which none of `keys` counts of at most `most`, each with noise, reaches T: but for a chance `delta`.

    All in grid units. The discrete Gaussian has P[Z >= t] <= P[N(0, sigma^2) >= t - 1] for whole t (Canonne, Kamath &
    Steinke 2020, Prop. 25), and the chances of several add up at most.
    """
    if not (0 < delta < 1 and sigma > 0 and most > 0 and keys > 0):
        raise ValueError("a threshold needs noise, keys and a chance")
    reach = -float(ndtri(delta / keys)) * sigma
    return most + 1 + math.ceil(max(0.0, reach) * (1 + _MARGIN))


def epsilon_slack(delta: float) -> float:
    """How much of epsilon it takes that values of the other side alone are named with a chance of `delta`."""
    return -math.log1p(-delta) * (1 + _MARGIN)
