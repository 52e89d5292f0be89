"""The exponential mechanism: the right probabilities, the right scale, and a mu that covers it and no more."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from scipy.stats import norm

from pointillist.errors import BudgetError
from pointillist.privacy import exponential
from pointillist.privacy.accounting import gaussian_delta
from pointillist.privacy.exponential import draw, exponential_mu, integer_sensitivity, selection_scale

epsilons = st.floats(1e-3, 50)


def weights(scores: np.ndarray, scale: float) -> np.ndarray:
    """The formula, in floating point, which is good enough to compare with."""
    found = np.exp(-(scores - scores.min()) / scale)
    return found / found.sum()


@pytest.mark.parametrize("scores", [[0, 1, 3], [2**40, 2**40 + 2, 2**40 + 1]])
def test_candidates_come_as_often_as_the_formula_says(scores: list[int]) -> None:
    """6,000 draws, chi^2 at 1e-7 for each of two cases. OpenDP's other selection, permute-and-flip, would give the
    best candidate 63 % rather than 55 % of the first case, and fail by far."""
    array = np.array(scores)
    drawn = np.bincount([draw(array, 2.0) for _ in range(6_000)], minlength=3)
    assert stats.chisquare(drawn, 6_000 * weights(array, 2.0)).pvalue > 1e-7


def test_a_candidate_that_is_far_off_is_never_drawn() -> None:
    """The others have e^-100 each: no chance in a million runs."""
    assert {draw(np.array([200, 0, 300]), 2.0) for _ in range(100)} == {1}


def test_equal_candidates_are_equally_likely() -> None:
    """The chi^2 test at 1e-7."""
    drawn = np.bincount([draw(np.full(4, 7), 1e9) for _ in range(2_000)], minlength=4)
    assert stats.chisquare(drawn).pvalue > 1e-7


def test_the_draw_takes_no_seed() -> None:
    assert set(inspect.signature(draw).parameters) == {"scores", "scale"}
    assert "random" not in vars(exponential)


@given(epsilons, st.integers(1, 2**40))
def test_the_scale_is_rounded_up_and_by_no_more_than_a_float(epsilon: float, sensitivity: int) -> None:
    promised = Fraction(2 * sensitivity) / Fraction(selection_scale(epsilon, sensitivity))
    assert promised <= Fraction(epsilon)
    assert promised >= Fraction(epsilon) * (1 - Fraction(1, 2**50))


def test_an_epsilon_next_to_nothing_is_refused() -> None:
    with pytest.raises(BudgetError, match="chance"):
        selection_scale(1e-9, 1)


@given(st.integers(0, 10**24), st.integers(0, 10**24))
def test_rounded_distances_move_by_no_more_than_the_integer_sensitivity(one: int, other: int) -> None:
    """sqrt(a) and sqrt(b) are apart by sqrt(a + b - 2 sqrt(ab)); an integer at or above that square bounds it."""
    apart = one + other - 2 * math.isqrt(one * other)
    assert abs(math.isqrt(one) - math.isqrt(other)) <= integer_sensitivity(apart)


def test_integer_sensitivity_is_the_square_root_rounded_up() -> None:
    assert [integer_sensitivity(squared) for squared in (0, 1, 2, 4, 5, 9, 10)] == [0, 1, 2, 2, 3, 3, 4]


class TestMu:
    """delta(epsilon) of the mechanism, at every epsilon, is below that of the Gaussian: then so is its trade-off."""

    @given(
        st.floats(0.01, 20),
        st.lists(st.tuples(st.floats(0, 30), st.floats(-1, 1)), min_size=2, max_size=8),
    )
    def test_it_covers_any_scores(self, epsilon: float, scores: list[tuple[float, float]]) -> None:
        here = np.array([score for score, _ in scores])
        there = here + np.array([moved for _, moved in scores])  # sensitivity 1
        one, other = weights(here, 2 / epsilon), weights(there, 2 / epsilon)
        mu = exponential_mu(epsilon)
        for at in np.linspace(-epsilon, epsilon, 21):
            assert np.maximum(one - math.exp(at) * other, 0).sum() <= gaussian_delta(mu, at) + 1e-11

    @given(st.floats(0.01, 20), st.floats(-30, 30))
    def test_it_covers_every_pair_of_two_outcomes(self, epsilon: float, place: float) -> None:
        """All that the proof leaves: two outcomes whose log-odds are epsilon apart, wherever they lie."""
        needed = norm.isf(expit(place - epsilon / 2)) - norm.isf(expit(place + epsilon / 2))
        assert needed <= exponential_mu(epsilon) + 1e-9

    @given(st.floats(0.01, 20))
    def test_it_is_reached(self, epsilon: float) -> None:
        """Two candidates that swap places: no smaller mu would do."""
        one = weights(np.array([0.0, 1.0]), 2 / epsilon)
        mu = norm.isf(one[1]) - norm.isf(one[0])
        assert math.isclose(mu, exponential_mu(epsilon), rel_tol=1e-6)

    def test_it_is_what_any_mechanism_of_half_the_epsilon_needs(self) -> None:
        """-2 Phi^-1(1 / (1 + e^epsilon)) is what randomised response needs, the worst epsilon-private mechanism."""
        for epsilon in (0.1, 1.0, 5.0):
            assert math.isclose(exponential_mu(2 * epsilon), 2 * norm.isf(expit(-epsilon)), rel_tol=1e-6)

    def test_large_and_small(self) -> None:
        assert 0 < exponential_mu(1e-6) < 1e-6
        assert math.isfinite(exponential_mu(500.0))
