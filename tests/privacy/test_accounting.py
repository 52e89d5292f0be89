"""Accounting against known values, against dp_accounting's PLD, and against the noise that is really drawn."""

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import pld
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import norm

from pointillist.errors import BudgetError
from pointillist.privacy.accounting import (
    calibrate,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    grid_delta,
    grid_epsilon,
    sharing_slack,
    total_epsilon,
)
from pointillist.privacy.budget import Budget
from pointillist.privacy.owners import MOST_OWNERS, Owners, Trust

budgets = st.builds(Budget, st.floats(0.01, 50), st.sampled_from([1e-9, 1e-6, 1e-5, 1e-3]))


def test_the_known_value_at_one_and_1e_5() -> None:
    """sigma / Delta = 3.7306 at (1, 1e-5), by the analytic Gaussian mechanism of Balle and Wang (2018)."""
    assert 1 / gaussian_mu(Budget(1.0, 1e-5)) == pytest.approx(3.7306316, rel=1e-6)


@pytest.mark.parametrize(("mu", "epsilon"), [(0.1, 0.341), (0.268, 1.000), (1.0, 4.377), (2.0, 9.997)])
def test_known_epsilons_at_1e_5(mu: float, epsilon: float) -> None:
    assert gaussian_epsilon(mu, 1e-5) == pytest.approx(epsilon, abs=1e-3)


@given(mu=st.floats(0.01, 20), epsilon=st.floats(0, 60))
def test_delta_is_the_analytic_formula(mu: float, epsilon: float) -> None:
    plain = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
    assert gaussian_delta(mu, epsilon) == pytest.approx(plain, rel=1e-6, abs=1e-14)


@given(budget=budgets)
def test_mu_keeps_to_its_budget_and_uses_it_up(budget: Budget) -> None:
    mu = gaussian_mu(budget)
    assert gaussian_delta(mu, budget.epsilon) <= budget.delta
    assert gaussian_delta(mu * 1.001, budget.epsilon) > budget.delta


@pytest.mark.parametrize("sigmas", [[4.0], [6.0, 5.0], [10.0, 12.0, 30.0]])
def test_composition_agrees_with_pld(sigmas: list[float]) -> None:
    """PLD is an upper bound that is tight to its discretisation."""
    accountant = pld.PLDAccountant()
    for sigma in sigmas:
        accountant.compose(dp_accounting.GaussianDpEvent(sigma))
    ours = total_epsilon([(1 / sigma, 0.0, 0.0) for sigma in sigmas], 1e-5)
    theirs = accountant.get_epsilon(1e-5)
    assert ours <= theirs * (1 + 1e-6)
    assert ours == pytest.approx(theirs, rel=2e-3)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 10.0, 100.0])
@pytest.mark.parametrize("delta", [1e-9, 1e-5])
def test_a_plan_is_within_a_hundredth_of_the_analytic_gaussian(epsilon: float, delta: float) -> None:
    budget = Budget(epsilon, delta)
    mu, _, _ = calibrate(budget, [(5_000, 2.0**26, 0.2), (400_000, 2.0**26, 0.8)])
    assert gaussian_mu(budget) * 0.99 <= mu <= gaussian_mu(budget)


@given(budget=budgets, dimension=st.integers(1, 10**6), share=st.floats(0.05, 0.95))
def test_what_is_promised_covers_the_grid(budget: Budget, dimension: int, share: float) -> None:
    rounds = [(dimension, 2.0**26, share), (1000, 2.0**26, 1 - share)]
    mu, epsilon_slack, delta_slack = calibrate(budget, rounds)
    sigmas = [s / (mu * math.sqrt(part)) for _, s, part in rounds]
    assert math.sqrt(sum((s / sigma) ** 2 for (_, s, _), sigma in zip(rounds, sigmas, strict=True))) <= mu * (1 + 1e-12)
    assert sum(grid_epsilon(d, s, sigma) for (d, s, _), sigma in zip(rounds, sigmas, strict=True)) <= epsilon_slack * (
        1 + 1e-9
    )
    assert sum(grid_delta(d, sigma) for (d, _, _), sigma in zip(rounds, sigmas, strict=True)) <= delta_slack * (
        1 + 1e-9
    )
    assert gaussian_delta(mu, budget.epsilon - epsilon_slack) + delta_slack <= budget.delta


def discrete_gaussian(sigma: float) -> tuple[np.ndarray, np.ndarray]:
    support = np.arange(-int(40 * sigma), int(40 * sigma) + 1)
    weights = np.exp(-(support**2) / (2 * sigma**2))
    return support, weights / weights.sum()


@pytest.mark.parametrize("sigma", [100.0, 250.0])
def test_the_distance_of_discrete_and_rounded_gaussian_is_below_the_bound(sigma: float) -> None:
    """The bound of docs/explanation/privacy.md for one coordinate, and its square-root growth through the chi^2 distance."""
    support, discrete = discrete_gaussian(sigma)
    rounded = norm.cdf((support + 0.5) / sigma) - norm.cdf((support - 0.5) / sigma)
    assert 0.5 * np.abs(rounded - discrete).sum() <= grid_delta(1, sigma)
    inner = np.abs(support) < 8 * sigma  # beyond, the difference of two cdfs has no digits left
    chi_squared = ((rounded - discrete)[inner] ** 2 / discrete[inner]).sum()
    assert math.sqrt(chi_squared / 2) <= 1 / (4 * sigma**2)


@pytest.mark.parametrize(("sigma", "shift"), [(100.0, 30), (100.0, 150), (300.0, 900)])
def test_the_discrete_gaussian_keeps_the_promise_exactly(sigma: float, shift: int) -> None:
    """delta(epsilon) of the discrete Gaussian, summed out, against the promise for the continuous one plus slack."""
    support, discrete = discrete_gaussian(sigma)
    loss = (shift**2 - 2 * support * shift) / (2 * sigma**2)
    for epsilon in (0.5, 1.0, 3.0):
        exact = float((discrete * np.maximum(0.0, -np.expm1(np.minimum(0.0, epsilon - loss)))).sum())
        mu, slack = shift / sigma, grid_epsilon(1, shift, sigma)
        assert exact <= gaussian_delta(mu, epsilon - slack) + grid_delta(1, sigma)


def test_a_grid_too_coarse_for_the_proof_is_refused() -> None:
    with pytest.raises(BudgetError, match="Choose a"):
        calibrate(Budget(400.0, 1e-5), [(10, 1000.0, 1.0)])
    with pytest.raises(BudgetError, match="Choose a"):
        calibrate(Budget(1.0, 1e-14), [(10**6, 2.0**20, 1.0)])


def test_nothing_spent_is_nothing() -> None:
    assert total_epsilon([], 1e-5) == 0.0
    assert total_epsilon([(0.1, 0.0, 1e-5)], 1e-6) == math.inf


class TestSharedNoise:
    """The sum of several discrete Gaussians is none, but nearly one."""

    @staticmethod
    def law(variance: float, most: int = 200) -> NDArray[np.float64]:
        """The discrete Gaussian from -most to most."""
        weights = np.exp(-(np.arange(-most, most + 1.0) ** 2) / (2 * variance))
        return weights / weights.sum()

    @pytest.mark.parametrize("shares", [2, 3, 5])
    @pytest.mark.parametrize("deviation", [1.01, 1.2, 1.5])
    def test_its_law_is_within_the_bound_of_the_discrete_gaussians(self, shares: int, deviation: float) -> None:
        """Kairouz, Liu & Steinke, summed out; the bound is ten times an estimate, and still far below one."""
        share = self.law(deviation**2)
        whole = share
        for _ in range(shares - 1):
            whole = np.convolve(whole, share)
        middle = len(whole) // 2
        most = 12  # in the tails, floats end before the law does
        near = whole[middle - most : middle + most + 1]
        expected = self.law(shares * deviation**2)[200 - most : 200 + most + 1]
        apart = float(np.abs(np.log(near / expected)).max())
        bound = sharing_slack(1, deviation * math.sqrt(shares), shares) / 2
        assert 0 < apart <= bound + 1e-13
        if shares == 2:
            assert apart > bound / 50, "the bound would pass for anything"

    def test_one_share_costs_nothing_and_many_cost_something(self) -> None:
        assert sharing_slack(10**6, 1e8, 1) == 0.0
        assert 0 < sharing_slack(10**6, 1e8, 3) < 1e-290, "no float is so small, so it is rounded up"
        assert sharing_slack(10, 30.0, 100) > sharing_slack(10, 30.0, 50) > 0

    def test_shares_that_are_less_than_the_grid_are_refused(self) -> None:
        with pytest.raises(BudgetError, match="so many owners"):
            sharing_slack(1, 20.0, 500)

    def test_at_the_least_noise_and_the_most_owners_it_is_next_to_nothing(self) -> None:
        """No sigma is below 100. It is counted all the same."""
        assert 0 < sharing_slack(1 << 32, 100.0, MOST_OWNERS) < 1e-28
        alone, shared = (
            calibrate(Budget(1.0, 1e-5), [(10, 1e4, 1.0)], owners) for owners in (None, Owners(3, Trust.SUM))
        )
        assert shared[1] >= alone[1]
        assert shared[2] >= alone[2]

    def test_more_noise_than_integers_hold_is_refused(self) -> None:
        rounds = [(10, 2.0**45, 1.0)]
        assert calibrate(Budget(0.9, 1e-5), rounds)[0] > 0
        with pytest.raises(BudgetError, match="more noise than 64-bit integers hold"):
            calibrate(Budget(0.9, 1e-5), rounds, Owners(100))
