"""Accounting: from (epsilon, delta) to noise and back, exactly.

Gaussian rounds compose exactly: rounds with sensitivity/sigma = mu_i are together as private as one Gaussian with
mu^2 = sum mu_i^2, also when a later round depends on the outcome of an earlier one. So a whole plan is one number mu,
and delta(epsilon) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

The noise that is really drawn is a discrete Gaussian on an integer grid. docs/explanation/privacy.md proves that it costs at
most a shift of epsilon by `grid_epsilon` and of delta by `grid_delta`; both are folded in before the noise is calibrated.
Where several owners each add a share of the noise, their sum is no discrete Gaussian, but nearly one: `sharing_slack`
bounds what that costs (docs/explanation/privacy-owners.md).
"""

import math
from functools import lru_cache

from scipy.special import log_ndtr

from pointillist.errors import BudgetError
from pointillist.privacy.budget import Budget
from pointillist.privacy.owners import Owners

_MARGIN = 1e-6
"""Part of delta that is left unused, far more than the floating-point error of any function here."""
LARGEST_SIGMA = 2.0**48
_SLACK_SHARE = 0.01
"""The grid may take at most this share of epsilon and of delta; it takes far less in practice."""


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The smallest delta at which a Gaussian with sensitivity/sigma = mu is (epsilon, delta)-private."""
    if mu == 0:
        return 0.0
    first = log_ndtr(mu / 2 - epsilon / mu)
    second = epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return float(math.exp(first) * -math.expm1(min(0.0, second - first)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon at which a Gaussian with sensitivity/sigma = mu is (epsilon, delta)-private."""
    if mu == 0:
        return 0.0
    import dp_accounting  # here and below, because it takes long to load

    epsilon = float(dp_accounting.get_epsilon_gaussian(1 / mu, delta))
    while gaussian_delta(mu, epsilon) > delta * (1 - _MARGIN):
        epsilon += 1e-8 * max(epsilon, mu)
    return epsilon


@lru_cache(256)  # plans ask for the same budgets again and again
def gaussian_mu(budget: Budget) -> float:
    """The largest mu that (epsilon, delta) allows, rounded to the safe side."""
    import dp_accounting

    mu = 1 / float(dp_accounting.get_sigma_gaussian(budget.epsilon, budget.delta))
    while gaussian_delta(mu, budget.epsilon) > budget.delta * (1 - 2 * _MARGIN):
        mu *= 1 - 1e-8
    return mu


def grid_epsilon(dimension: int, sensitivity: float, sigma: float) -> float:
    """How much rounding to the integer grid can move the privacy loss: sqrt(D) * Delta / (2 sigma^2)."""
    return math.sqrt(dimension) * sensitivity / (2 * sigma**2)


def grid_delta(dimension: int, sigma: float) -> float:
    """Bound on the distance between discrete and rounded Gaussian noise in D coordinates: sqrt(D) / (4 sigma^2)."""
    if sigma < 100:
        raise BudgetError(
            "epsilon is too large for the noise grid: the noise would be coarser than the proof of privacy allows. "
            "Choose a smaller epsilon."
        )
    return math.sqrt(dimension) / (4 * sigma**2)


def sharing_slack(dimension: int, sigma: float, shares: int) -> float:
    """What it costs, in epsilon and again in delta, that noise with deviation `sigma` is a sum of so many equal shares.

    The law of the sum of m discrete Gaussians with deviation s lies within a factor e^t of the discrete Gaussian's of the
    same variance, t = 10 sum over j < m of e^(-2 pi^2 s^2 j / (j + 1)), in each coordinate (Kairouz, Liu & Steinke 2021).
    """
    if shares == 1:
        return 0.0
    variance = sigma**2 / shares
    if variance < 1:
        raise BudgetError(
            "epsilon is too large for so many owners: a share of the noise would be less than the grid of the sums. Choose "
            "a smaller epsilon."
        )
    # No float holds e^-700 or less: what is smaller is rounded up to that.
    powers = (math.exp(max(-700.0, -2 * math.pi**2 * variance * j / (j + 1))) for j in range(1, shares))
    return 2 * dimension * 10 * math.fsum(powers)


def calibrate(
    budget: Budget, rounds: list[tuple[int, float, float]], owners: Owners | None = None
) -> tuple[float, float, float]:
    """mu for a plan, with the slack in epsilon and in delta for the grid, and for sharing the noise among owners.

    Each round is (dimension, sensitivity on the grid, share of mu^2). The slacks are computed at the largest mu that
    could come out, so they hold for the smaller one that does.
    """
    shares, spread = (1, 1.0) if owners is None else (owners.shares, owners.spread)
    most = gaussian_mu(budget)
    sigmas = [sensitivity / (most * math.sqrt(share)) for _, sensitivity, share in rounds]
    epsilon_slack = sum(grid_epsilon(d, s, sigma) for (d, s, _), sigma in zip(rounds, sigmas, strict=True))
    delta_slack = sum(grid_delta(d, sigma) for (d, _, _), sigma in zip(rounds, sigmas, strict=True))
    sharing = sum(sharing_slack(d, sigma, shares) for (d, _, _), sigma in zip(rounds, sigmas, strict=True))
    epsilon_slack, delta_slack = epsilon_slack + sharing, delta_slack + sharing
    if epsilon_slack > _SLACK_SHARE * budget.epsilon or delta_slack > _SLACK_SHARE * budget.delta:
        raise BudgetError(
            f"({budget.epsilon:g}, {budget.delta:g}) cannot be promised for so many measurements: the noise grid alone "
            "would take over a hundredth of it. Choose a larger delta, or ignore some columns."
        )
    mu = gaussian_mu(Budget(budget.epsilon - epsilon_slack, budget.delta - delta_slack))
    if max(sensitivity / (mu * math.sqrt(share)) for _, sensitivity, share in rounds) * spread > LARGEST_SIGMA:
        raise BudgetError(
            f"({budget.epsilon:g}, {budget.delta:g}) calls for more noise than 64-bit integers hold. "
            "Choose a larger epsilon."
        )
    return mu, epsilon_slack, delta_slack


def total_epsilon(spends: list[tuple[float, float, float]], delta: float) -> float:
    """Epsilon at `delta` of several releases together, each given as (mu, epsilon slack, delta slack)."""
    if not spends:
        return 0.0
    mu = math.sqrt(sum(m * m for m, _, _ in spends))
    left = delta - sum(d for _, _, d in spends)
    if left <= 0:
        return math.inf
    return gaussian_epsilon(mu, left) + sum(e for _, e, _ in spends)
