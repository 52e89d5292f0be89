"""Bounds of DP-MEPF: what noise on a mean embedding does to distances, and to the generator that is fitted to it.

After Harder et al. (2022), Sec. 4 and App. A, derived anew. Symbols: a release holds mu(D) + n, the mean embedding of the
private data D with noise n ~ N(0, S), S diagonal. A generator t has the mean embedding mu(t), a = mu(D) - mu(t) is its
difference, |a| its distance (MMD), and |a + n| the noisy distance that a fit can see. Tr, |S|_F and |S| are the trace, the
Frobenius norm and the largest value of S; L = log(1 / failure).

What all but the first rest on: with probability 1 - failure, |n| <= R, where (Laurent and Massart, 2000, Lemma 1)

    R^2 = Tr + 2 |S|_F sqrt(L) + 2 |S| L.                                                            (`Noise.radius`)

Where the constants differ from the paper's, and why:

- eq. 7: |S|_F of two moments is sqrt(C1^4 + C2^4) sqrt(D) times 4 s^2/m^2, not (C1^2 + C2^2) sqrt(D); ours is smaller.
- eq. 6, 7: the factor 4 is the sensitivity 2/m, squared. Here S is whatever noise the plan adds: no sensitivity is assumed.
- Prop. A.2: sqrt(2/pi) |S^(1/2) a| must be twice that, as it is in A.1; the published bound drops a factor 2 on its way from
  eq. 11. Instead of Lipschitz concentration we take the normal distribution's own quantile, which is smaller than either.
- Prop. A.3: 2 B |S|^(1/2) sqrt(log(2/failure)) lacks a sqrt(2). And both of its terms are functions of |n|, so one event
  does for both: log(1/failure) in place of log(2/failure), and R in place of sqrt(Tr) + sqrt(2 |S| L), which is larger.
- Prop. A.4: the paper takes the bound of A.3 twice. But n'n stands in both noisy distances and drops out of their
  difference, which leaves 2 n'(mu(t) - mu(t')): no squared term, and half of the other.
- Prop. A.5: |S| in its third term should be |S|^(1/2), by its units. With n'n dropped out, |a(t)|^2 - |a(t')|^2 <=
  2 |n| (|a(t)| + |a(t')|), so |a(t)| <= |a(t')| + 2 |n|. That is 4 R^2 where the paper has 9 Tr, and it can be attained.

Prop. 4.1, 4.2 and 4.3 are A.2, A.4 and A.5 without constants.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Self

from pointillist.errors import UsageError

FAILURE = 0.05
"""How often a bound may fail, unless another chance is asked for."""


@dataclass(frozen=True)
class Noise:
    """Independent normal noise on a mean embedding, by what the bounds need of its covariance."""

    trace: float
    """The expected squared length."""
    frobenius: float
    largest: float
    """The largest variance."""

    @classmethod
    def of(cls, parts: Iterable[tuple[float, int]]) -> Self:
        """Parts of a mean embedding, each with its standard deviation and its number of coordinates (eq. 6 and 7)."""
        known = list(parts)
        if not known or any(not (0 <= each < math.inf and count >= 1) for each, count in known):
            raise UsageError(
                "noise needs parts with a standard deviation of at least 0, and a coordinate or more each."
            )
        return cls(
            math.fsum(count * each**2 for each, count in known),
            math.sqrt(math.fsum(count * each**4 for each, count in known)),
            max(each**2 for each, _ in known),
        )

    def radius(self, failure: float = FAILURE) -> float:
        """The length that the noise exceeds with at most this probability."""
        rest = math.log(1 / _chance(failure))
        return math.sqrt(self.trace + 2 * self.frobenius * math.sqrt(rest) + 2 * self.largest * rest)


def expected_error(noise: Noise, distance: float) -> float:
    """E | |a + n|^2 - |a|^2 | at most, for one fixed pair of data sets (Prop. A.1): Tr + 2 sqrt(2/pi) |S^(1/2) a|.

    `distance` is |a|; |S^(1/2) a| is at most |S|^(1/2) |a|, and is just that where all noise is alike. At a distance of 0
    the bound is the expectation itself.
    """
    return noise.trace + 2 * math.sqrt(2 / math.pi * noise.largest) * _distance(distance)


def likely_error(noise: Noise, distance: float, failure: float = FAILURE) -> float:
    """| |a + n|^2 - |a|^2 | at most, but for this probability, for one fixed pair of data sets (Prop. 4.1, A.2).

    | n'n + 2 n'a | <= R^2 + 2 |n'a|, each with half of the chance to fail; n'a is normal with deviation |S^(1/2) a|.
    """
    half = _chance(failure) / 2
    normal = NormalDist().inv_cdf(1 - half / 2)
    return noise.radius(half) ** 2 + 2 * normal * math.sqrt(noise.largest) * _distance(distance)


def uniform_error(noise: Noise, farthest: float, failure: float = FAILURE) -> float:
    """The same for all pairs of data sets at once (Prop. A.3): R^2 + 2 R times the largest distance.

    `farthest` is the largest distance of two mean embeddings: 2 B for features of length up to B, sqrt(2) B if no feature
    is ever negative.
    """
    radius = noise.radius(failure)
    return radius**2 + 2 * radius * _distance(farthest)


def worst_excess(noise: Noise, farthest: float, failure: float = FAILURE) -> float:
    """How much larger |a|^2 may be for the generator that fits the noisy embedding best than for the best (Prop. 4.2, A.4).

    Its noisy distance is no larger: |a|^2 + 2 n'a <= |a'|^2 + 2 n'a', where n'n stood on both sides. So the excess is at
    most 2 n'(a' - a) <= 2 R times the largest distance of two mean embeddings.
    """
    return 2 * noise.radius(failure) * _distance(farthest)


def optimistic_excess(noise: Noise, best: float, failure: float = FAILURE) -> float:
    """The same where the best generator comes within a distance of `best` (Prop. 4.3, A.5): 4 R^2 + 4 R best.

    From |a| <= best + 2 R. A generator that can match the data's features (best = 0) loses 1/m^2, not 1/m.
    """
    radius = noise.radius(failure)
    return 4 * radius**2 + 4 * radius * _distance(best)


def farther(noise: Noise, failure: float = FAILURE) -> float:
    """How much farther from the data, as a distance, the generator may be that fits the noisy embedding best: 2 R."""
    return 2 * noise.radius(failure)


def _chance(failure: float) -> float:
    if not 0 < failure < 1:
        raise UsageError(f"failure must lie between 0 and 1, not {failure}.")
    return failure


def _distance(distance: float) -> float:
    if not 0 <= distance < math.inf:
        raise UsageError(f"a distance must be finite and not negative, not {distance}.")
    return distance
