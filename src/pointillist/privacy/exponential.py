"""Exponential mechanism: one of several public candidates, the likelier the better it fits. Pure epsilon, delta 0.

Scores are integers with an integer sensitivity, and OpenDP draws in rational arithmetic: there is no softmax in floating
point whose rounding could give a row away. There is no seed, as for any privacy noise.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri_exp

from pointillist.errors import BudgetError

Integers = NDArray[np.int64]

SMALLEST_EPSILON = 1e-6
"""Below this the choice is chance, and the scale nears the end of the numbers."""
LARGEST_SCORE = 1 << 62
"""Scores are cut off here. Cutting off brings no two scores further apart."""


def integer_sensitivity(squared: int) -> int:
    """How far a score moves, where it is a distance rounded down and the distance moves by at most sqrt(squared).

    floor(a) - floor(b) is an integer below a - b + 1, so at most ceil(a - b).
    """
    return math.isqrt(squared - 1) + 1 if squared > 0 else 0


def selection_scale(epsilon: float, sensitivity: int) -> float:
    """The scale t for which P[candidate] ~ exp(-score / t) is epsilon-private: 2 Delta / epsilon, rounded up."""
    if epsilon < SMALLEST_EPSILON:
        raise BudgetError(
            f"epsilon = {epsilon:g} is so small that the choice would be chance. Choose {SMALLEST_EPSILON:g} or more."
        )
    exact = Fraction(2 * sensitivity) / Fraction(epsilon)
    scale = float(exact)
    return scale if Fraction(scale) >= exact else math.nextafter(scale, math.inf)


def exponential_mu(epsilon: float) -> float:
    """The mu at which an exponential mechanism of `epsilon` is as private as a Gaussian, rounded up.

    mu = -2 Phi^-1(1 / (1 + e^(epsilon/2))): half an epsilon, because its privacy loss lies in an interval of length
    epsilon, where that of just any epsilon-private mechanism may lie in one of 2 epsilon. Proof:
    docs/explanation/privacy-choosing.md.
    """
    half = epsilon / 2
    mu = -2 * float(ndtri_exp(-half - math.log1p(math.exp(-half))))
    return mu * (1 + 1e-9) + 1e-12  # far more than the error of the inverse


def draw(scores: Integers, scale: float) -> int:
    """The number of a candidate, drawn with probability proportional to exp(-score / scale), exactly."""
    return int(_mechanism(scale)(np.asarray(scores, dtype=np.int64)))


@lru_cache(maxsize=8)
def _mechanism(scale: float) -> Any:
    # Here, because few calls draw; not opendp.prelude, which loads every library it has something for.
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import zero_concentrated_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    space = vector_domain(atom_domain(T="i64")), linf_distance(T="i64")
    # OpenDP's selection for zCDP is the exponential mechanism; its selection for pure DP is permute-and-flip, whose
    # privacy loss is not confined to an interval of length epsilon.
    mechanism = make_noisy_max(*space, zero_concentrated_divergence(), scale=scale, negate=True)
    # Its own statement of what it does must agree with ours: rho = (2 / scale)^2 / 8 at sensitivity 1.
    if not math.isclose(mechanism.map(1), 0.5 / scale**2, rel_tol=1e-9):
        raise RuntimeError("OpenDP does not draw at the scale that was asked for")
    return mechanism
