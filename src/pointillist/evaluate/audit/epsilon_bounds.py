"""Epsilon bounds: from an attack's scores to a lower bound on epsilon that holds with a stated confidence.

Each bound takes `alpha`, the chance that it is wrong. Pure statistics: nothing here knows what was attacked.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from pointillist.evaluate.arrays import Floats

_MOST_EPSILON = 700.0
"""Beyond this e^epsilon is not a number."""


@dataclass(frozen=True)
class Estimate:
    """A number with the interval that holds it: each end is wrong with probability at most alpha."""

    value: float
    low: float
    high: float


def gaussian_mu(outside: Floats, inside: Floats, alpha: float) -> Estimate:
    """How many standard deviations lie between the scores of two hypotheses.

    Exact where scores are normal with one variance, as those of Gaussian noise are: then Student's t statistic follows
    the noncentral t distribution, which is inverted here.
    """
    freedom = len(outside) + len(inside) - 2
    spread = math.sqrt(
        (np.var(outside, ddof=1) * (len(outside) - 1) + np.var(inside, ddof=1) * (len(inside) - 1)) / freedom
    )
    size = math.sqrt(len(outside) * len(inside) / (len(outside) + len(inside)))
    if spread == 0:  # no noise at all
        gap = float(np.mean(inside) - np.mean(outside))
        value = math.inf if gap > 0 else 0.0
        return Estimate(value, value, value)
    mu = float(np.mean(inside) - np.mean(outside)) / spread
    low, high = (_noncentral(mu * size, freedom, level) / size for level in (1 - alpha, alpha))
    return Estimate(mu, max(0.0, low), max(0.0, high))


def _noncentral(statistic: float, freedom: int, level: float) -> float:
    """The noncentrality at which a t statistic stays below `statistic` with probability `level`."""
    # The chance of T < t is the mean of Phi(t * s - centre) over s, the root mean square of `freedom` normals.
    scale = _spreads(freedom)
    reach = 40.0 + abs(statistic)

    def excess(centre: float) -> float:
        return float(np.mean(special.ndtr(statistic * scale - centre))) - level

    from scipy.optimize import brentq  # here and below, because it takes long to load

    return float(brentq(excess, statistic - reach, statistic + reach, xtol=1e-9))


@cache
def _spreads(freedom: int) -> Floats:
    """Root mean squares of so many standard normals, from small to large, all equally likely."""
    return np.sqrt(2 * special.gammaincinv(freedom / 2, (np.arange(2000) + 0.5) / 2000) / freedom)


def noise_ratio(squares: float, count: int, alpha: float) -> Estimate:
    """Noise that was drawn over noise that was promised, from `count` residuals in units of the promised deviation.

    Exact where the residuals are independent normals: their sum of squares is a chi-squared.
    """
    low, high = (
        math.sqrt(squares / (2 * float(special.gammaincinv(count / 2, level)))) for level in (1 - alpha, alpha)
    )
    return Estimate(math.sqrt(squares / count), low, high)


def at_least(successes: int, trials: int, alpha: float) -> float:
    """Clopper and Pearson's lower limit of a probability."""
    return float(special.betaincinv(successes, trials - successes + 1, alpha)) if successes > 0 else 0.0


def at_most(successes: int, trials: int, alpha: float) -> float:
    """Clopper and Pearson's upper limit of a probability."""
    return float(special.betaincinv(successes + 1, trials - successes, 1 - alpha)) if successes < trials else 1.0


def threshold_epsilon(outside: Floats, inside: Floats, threshold: float, delta: float, alpha: float) -> float:
    """Lower bound on epsilon from "the score is above the threshold", whatever the distribution of the scores.

    (epsilon, delta)-privacy bounds hits by e^epsilon * false alarms + delta, and likewise for the opposite guess. The
    threshold must have been chosen without a look at these scores.
    """
    hits = at_least(int((inside >= threshold).sum()), len(inside), alpha / 2)
    alarms = at_most(int((outside >= threshold).sum()), len(outside), alpha / 2)
    return max(_log_ratio(hits - delta, alarms), _log_ratio(1 - alarms - delta, 1 - hits))


def _log_ratio(above: float, below: float) -> float:
    return max(0.0, math.log(above / below)) if above > 0 else 0.0


def event_epsilon(one: int, runs: int, other: int, other_runs: int, delta: float, alpha: float) -> float:
    """Lower bound on epsilon from an event seen in `one` of `runs` on one side, `other` of `other_runs` on the other."""
    bounds = []
    for (hits, trials), (alarms, others) in (((one, runs), (other, other_runs)), ((other, other_runs), (one, runs))):
        often, seldom = at_least(hits, trials, alpha / 4), at_most(alarms, others, alpha / 4)
        bounds.append(_log_ratio(often - delta, seldom))
    return max(bounds)


@cache
def same_chance(one: int, runs: int, other: int, other_runs: int) -> float:
    """How surprising an event's two frequencies are if its probability is the same on both sides (Fisher's test)."""
    seen, ways = one + other, math.comb(runs + other_runs, one + other)
    lowest, highest = max(0, seen - other_runs), min(runs, seen)
    counts = {k: math.comb(runs, k) * math.comb(other_runs, seen - k) for k in range(lowest, highest + 1)}
    below, above = (sum(counts[k] for k in span) for span in (range(lowest, one + 1), range(one, highest + 1)))
    return min(1.0, 2 * min(below, above) / ways)


def split_epsilon(outside: Floats, inside: Floats, delta: float, alpha: float) -> float:
    """`threshold_epsilon` with the threshold chosen on the first half of the runs and used on the second."""
    (first_out, last_out), (first_in, last_in) = (np.split(each, [len(each) // 2]) for each in (outside, inside))
    candidates = np.quantile(np.concatenate([first_out, first_in]), np.linspace(0, 1, 41))
    best = max(candidates, key=lambda t: threshold_epsilon(first_out, first_in, float(t), delta, alpha))
    return threshold_epsilon(last_out, last_in, float(best), delta, alpha)


def one_run_chance(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """The most likely that (epsilon, delta)-privacy makes `correct` or more right guesses (Steinke et al. 2023).

    Each of `canaries` rows went in by the toss of a coin; `guesses` of the tosses are guessed after one run. Without
    delta, right guesses are at most as many as heads of a coin that shows e^epsilon / (1 + e^epsilon). Delta adds
    2 * canaries * delta times the steepest mean slope of that coin's upper tail below `correct`.
    """
    right = special.expit(epsilon)
    tail = float(special.bdtrc(correct - 1, guesses, right))
    if correct == 0 or delta == 0:
        return min(1.0, tail)
    steps = np.arange(1, correct + 1)
    slope = float(np.max((special.bdtrc(correct - steps - 1, guesses, right) - tail) / steps))
    return min(1.0, tail + 2 * canaries * delta * max(0.0, slope))


def one_run_epsilon(canaries: int, guesses: int, correct: int, delta: float, alpha: float) -> float:
    """The largest epsilon that one run refutes: at it, so many right guesses have a chance below alpha."""

    def excess(epsilon: float) -> float:
        return one_run_chance(canaries, guesses, correct, epsilon, delta) - alpha

    if guesses == 0 or excess(0.0) >= 0:
        return 0.0
    most = 1.0
    while excess(most) < 0 and most < _MOST_EPSILON:
        most *= 2
    from scipy.optimize import brentq

    return float(brentq(excess, 0.0, most, xtol=1e-6))


SHARES = (0.02, 0.1, 0.4)
"""The parts of the canaries that are guessed to be in, and again to be out; all three are tried, and paid for."""


def best_one_run(scores: Floats, member: NDArray[np.bool_], delta: float, alpha: float) -> tuple[float, int, int]:
    """The best bound of one run over `SHARES`, with its guesses and how many of them were right."""
    share = alpha / len(SHARES)
    return max(
        (one_run_epsilon(len(scores), guesses, correct, delta, share), guesses, correct)
        for guesses, correct in _guess(scores, member)
    )


def _guess(scores: Floats, member: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """How many are guessed, and how many of them right.

    The highest scores are guessed to be in, as many of the lowest to be out, and the rest not at all.
    """
    order = np.argsort(scores, kind="stable")
    ends = [max(1, int(share * len(scores))) for share in SHARES]
    return [(2 * n, int((~member[order[:n]]).sum() + member[order[len(order) - n :]].sum())) for n in ends]


def refutes(scores: Floats, member: NDArray[np.bool_], promises: Sequence[tuple[float, float]], alpha: float) -> bool:
    """Whether one run breaks a promise that holds at several (epsilon, delta) at once, as that of a Gaussian does.

    At a delta of 1e-5 no run can: with a thousand canaries a lucky one in ten thousand may give everything away. Alpha
    is the chance of a false alarm, shared out among all that is tried.
    """
    share = alpha / (len(SHARES) * len(promises))
    return any(
        one_run_chance(len(scores), guesses, correct, epsilon, delta) < share
        for guesses, correct in _guess(scores, member)
        for epsilon, delta in promises
    )


def ideal_one_run(canaries: int, mu: float, delta: float, alpha: float, *, seed: int = 0) -> float:
    """What the bound would be, on average, if every canary were attacked alone and the noise were as promised."""
    generator = np.random.default_rng(seed)
    bounds = []
    for _ in range(10):
        member = generator.random(canaries) < 0.5
        bounds.append(best_one_run(generator.normal(size=canaries) + mu * member, member, delta, alpha)[0])
    return float(np.mean(bounds))


def area(outside: Floats, inside: Floats, alpha: float) -> Estimate:
    """The chance that a member scores above a non-member (area under the ROC curve), with DeLong's interval.

    The interval is asymptotic: it needs some dozens of rows on each side.
    """
    order_in = (
        np.searchsorted(np.sort(outside), inside, side="left"),
        np.searchsorted(np.sort(outside), inside, "right"),
    )
    order_out = (
        np.searchsorted(np.sort(inside), outside, side="left"),
        np.searchsorted(np.sort(inside), outside, "right"),
    )
    above = (order_in[0] + order_in[1]) / (2 * len(outside))
    below = 1 - (order_out[0] + order_out[1]) / (2 * len(inside))
    value = float(above.mean())
    error = math.sqrt(above.var(ddof=1) / len(inside) + below.var(ddof=1) / len(outside))
    reach = -float(special.ndtri(alpha)) * error
    return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))


def hits_at(outside: Floats, inside: Floats, false_alarms: float, alpha: float) -> Estimate:
    """The part of members found when at most `false_alarms` of non-members are, with Clopper and Pearson's interval."""
    allowed = int(false_alarms * len(outside))
    threshold = np.sort(outside)[len(outside) - 1 - allowed]
    found, trials = int((inside > threshold).sum()), len(inside)
    return Estimate(found / trials, at_least(found, trials, alpha), at_most(found, trials, alpha))
