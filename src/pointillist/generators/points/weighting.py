"""Weighting: weights under which given points stand in for a table, from its noisy mean embedding.

The weights are to bring the points' mean features near the table's. Whether a fit is good is known, because the noise
has a known size. So a fit under bounds starts from equal weights and ends as soon as the noise alone explains what is
left: to go on would be to fit the noise, and the more points there are, the more of it.
"""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, lstsq
from scipy.optimize import nnls

from pointillist.errors import UsageError
from pointillist.fitting.denoising import project_to_simplex

Floats = NDArray[np.float64]
Kind = Literal["probabilities", "bounded", "signed"]
KINDS: tuple[str, ...] = get_args(Kind)

_STEPS = 300
"""Of the descent, before the best weights are worked out point by point."""
_ROUNDS = 8
"""How often points are added to those that the best weights are looked for among."""
_CLOSE = 1e-4
"""Weights are good enough when none can bring the distance down by more than this part of it."""
_CONDITION = 1e-10
"""Directions in which the points' features differ less than this part of the most are left alone by signed weights."""


def weigh(
    features: Floats, target: Floats, sigma: float, kind: Kind = "probabilities", *, start: Floats | None = None
) -> Floats:
    """Weights w for points with these features (a row each), so that features.T @ w is near `target`.

    `sigma` is the standard deviation of the noise on each coordinate of the target.
        "probabilities": not negative, adding up to 1: rows can be drawn from the points.
        "bounded": absolute values that add up to at most 1.
        "signed": the least squares solution, of all such the shortest; no bounds (Balog et al., Algorithm 1, line 8).
    The first two begin at `start`, or at equal weights, and stop once the noise explains what is left.
    """
    require_kind(kind)
    if features.ndim != 2 or not len(features) or target.shape != features.shape[1:]:
        raise ValueError("weigh needs a row of features for each point, and a target of the same length")
    if not (np.isfinite(features).all() and np.isfinite(target).all() and 0 <= sigma < math.inf):
        raise ValueError("features, target and sigma must be finite")
    if kind == "signed":
        return np.asarray(lstsq(features.T, target, cond=_CONDITION, lapack_driver="gelsy")[0])
    begin = np.full(len(features), 1 / len(features)) if start is None else np.asarray(start, dtype=np.float64)
    if begin.shape != (len(features),):
        raise ValueError("start must hold a weight for each point")
    if kind == "probabilities":
        return _probabilities(features, target, unexplained(len(target), sigma), project_to_simplex(begin))
    # Absolute values up to 1 are probabilities of the points, their mirror images, and one point at the origin.
    mirrored = np.concatenate([features, -features, np.zeros((1, features.shape[1]))])
    halves = np.concatenate([np.maximum(begin, 0), np.maximum(-begin, 0)])
    halves = project_to_simplex(np.append(halves, max(0.0, 1 - float(halves.sum()))))
    plus, minus, _ = np.split(
        _probabilities(mirrored, target, unexplained(len(target), sigma), halves), [len(begin), 2 * len(begin)]
    )
    return np.asarray(plus - minus)


def informed(features: Floats, target: Floats, sigma: float) -> tuple[Floats, float]:
    """A noisy mean embedding, drawn towards that of the points as far as the points are to be believed; and the noise left.

    Public rows are a sample. Their own mean is off by their covariance divided by their number, which anyone can work out;
    the target is off by the noise. Each direction is a mean of the two, by their precision: where there is little noise the
    private rows have their say, where there is much the public ones have, and never do both together know less than one.
    Points that are no sample at all (a biased part, or rows spread over the domain) lie further away than that; in a
    direction where neither their covariance nor the noise explains the gap, they are not believed.
    """
    centre = features.mean(axis=0)
    apart, gap = (features - centre) / len(features), target - centre
    variance, axes = eigh(apart.T @ apart)
    if sigma == 0:
        return target, sigma
    turned = axes.T @ gap
    surprise = (9 + 2 * math.log(len(gap))) * sigma**2  # noise reaches it in hardly any direction
    variance = np.maximum(variance, np.maximum(turned**2 - surprise, 0.0))
    believed = variance / (variance + sigma**2)
    return centre + axes @ (believed * turned), sigma * math.sqrt(float(believed.sum()) / len(target))


def require_kind(kind: str) -> None:
    """Refuse an unknown kind of weights."""
    if kind not in KINDS:
        raise UsageError(f"weights {kind!r} are not known. Choose one of {', '.join(KINDS)}.")


def unexplained(dimension: int, sigma: float) -> float:
    """How large a squared distance noise alone explains: its mean, less twice its standard deviation.

    At the mean itself every other fit would end too early; that far below, hardly any does, and little noise is fitted.
    """
    return max(dimension / 2, dimension - 2 * math.sqrt(2 * dimension)) * sigma**2


def _probabilities(features: Floats, target: Floats, allowed: float, weights: Floats) -> Floats:
    # Weights add up to 1, so the same may be taken off all features and the target: what remains is better conditioned.
    centre = features.mean(axis=0)
    features, target = features - centre, target - centre
    if len(features) < len(target):
        # No weights reach what is at right angles to all features: it is a constant, and fewer coordinates hold the rest.
        rotation, triangle = np.linalg.qr(features.T)
        reached = rotation.T @ target
        allowed -= float(np.square(target - rotation @ reached).sum())
        features, target = np.ascontiguousarray(triangle.T), reached
    weights, done = _descend(features, target, allowed, weights)
    if done:
        return weights
    best = _best(features, target, allowed, weights)
    share = _share_of_way(features.T @ weights - target, features.T @ best - target, allowed)
    return (1 - share) * weights + share * best


def _descend(features: Floats, target: Floats, allowed: float, weights: Floats) -> tuple[Floats, bool]:
    """Accelerated projected gradient with restarts; whether it ended at the `allowed` squared distance, or the least."""
    curvature = _largest_eigenvalue(features)
    if not curvature > 0:
        return weights, True
    rest = features.T @ weights - target
    left, least = float(rest @ rest), 0.0
    ahead, ahead_rest, momentum = weights, rest, 1.0
    for _ in range(_STEPS):
        if left <= allowed:
            return weights, True
        slope = features @ ahead_rest
        least = max(least, _least(ahead_rest, slope, ahead))
        moved = project_to_simplex(ahead - slope / curvature)
        moved_rest = features.T @ moved - target
        moved_left = float(moved_rest @ moved_rest)
        if moved_left > left and momentum > 1:  # too much momentum: begin again from here
            ahead, ahead_rest, momentum = weights, rest, 1.0
            continue
        following = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        share = (momentum - 1) / following
        ahead = moved + share * (moved - weights)
        ahead_rest = moved_rest + share * (moved_rest - rest)
        weights, rest, left, momentum = moved, moved_rest, moved_left, following
        if left - least <= _CLOSE * left:
            return weights, True
    return weights, left <= allowed


def _best(features: Floats, target: Floats, allowed: float, weights: Floats) -> Floats:
    """Weights of least distance: solved exactly among some points, to which those that promise most are added.

    The shortest weighted mean of vectors v has the direction of the w >= 0 that minimises |sum w v|^2 + (sum w - 1)^2: for
    w = s p with probabilities p, the least over s is d / (1 + d) with d = |sum p v|^2, which grows with d. So non-negative
    least squares finds it.
    """
    dimension = features.shape[1]
    chosen = np.argsort(-weights, kind="stable")[: min(2 * dimension, int((weights > 0).sum()))]
    slope = features @ (features.T @ weights - target)
    chosen = np.union1d(chosen, np.argsort(slope, kind="stable")[: dimension // 2 + 1])
    for _ in range(_ROUNDS):
        vectors = np.vstack([(features[chosen] - target).T, np.ones(len(chosen))])
        try:
            found, _ = nnls(vectors, np.append(np.zeros(dimension), 1.0))
        except RuntimeError:  # it gave up: what was found before stands
            break
        if not found.sum() > 0:
            break
        weights = np.zeros(len(features))
        weights[chosen] = found / found.sum()
        rest = features.T @ weights - target
        slope, left = features @ rest, float(rest @ rest)
        if left <= allowed or left - _least(rest, slope, weights) <= _CLOSE * left:
            break
        added = np.argsort(slope, kind="stable")[: dimension // 2 + 1]
        chosen = np.union1d(np.flatnonzero(weights), added)
    return weights


def _least(rest: Floats, slope: Floats, weights: Floats) -> float:
    """The squared distance of no probabilities is below this: a tangent of a convex function is nowhere above it."""
    return float(rest @ rest) + 2 * float(slope.min() - slope @ weights)


def _share_of_way(here: Floats, there: Floats, allowed: float) -> float:
    """How far to go from one rest towards another: to the `allowed` squared distance, or to the least on the way."""
    step = there - here
    a, b, c = float(step @ step), 2 * float(here @ step), float(here @ here) - allowed
    if not (a > 0 and b < 0):
        return 0.0
    lowest = min(1.0, -b / (2 * a))
    if (a * lowest + b) * lowest + c >= 0:
        return lowest
    return min(1.0, 2 * c / (-b + math.sqrt(max(0.0, b * b - 4 * a * c))))


def _largest_eigenvalue(features: Floats) -> float:
    """Of the features' Gram matrix, a little rounded up."""
    gram = features @ features.T if len(features) < features.shape[1] else features.T @ features
    last = len(gram) - 1
    return float(eigh(gram, eigvals_only=True, subset_by_index=(last, last))[0]) * (1 + 1e-9)
