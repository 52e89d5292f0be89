"""Trade-off curves: against closed forms, and against mechanisms that reach them."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_ndtr, ndtr, ndtri

from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.trade_off import ApproximateTradeOff, Both, GaussianTradeOff, InTurn, TradeOff, promised

MU = st.floats(0.01, 6)
CHANCE = st.floats(1e-9, 1 - 1e-9)
EPSILON = st.floats(0.01, 8)
DELTA = st.floats(0, 0.2)
CLOSE = 1e-7
CURVES = st.one_of(
    st.builds(GaussianTradeOff, MU, st.floats(0, 0.01), st.floats(0, 1e-3)),
    st.builds(ApproximateTradeOff, EPSILON, DELTA),
    st.builds(InTurn, st.builds(ApproximateTradeOff, EPSILON, DELTA), st.builds(GaussianTradeOff, MU)),
)


class TestGaussian:
    @given(MU, CHANCE)
    def test_closed_forms(self, mu: float, chance: float) -> None:
        curve = GaussianTradeOff(mu)
        assert curve.power(chance) == pytest.approx(ndtr(ndtri(chance) + mu), rel=CLOSE)
        assert curve.alarm(chance) == pytest.approx(ndtr(ndtri(chance) - mu), rel=1e-5, abs=1e-300)
        assert curve.advantage == pytest.approx(2 * ndtr(mu / 2) - 1, rel=CLOSE)

    @given(MU, st.floats(0, 0.05), st.floats(0, 0.01), CHANCE)
    def test_it_is_never_below_what_the_promise_allows(self, mu: float, slack: float, tau: float, alarm: float) -> None:
        """Every (epsilon, delta) of the promise allows an event a line; power must not lie below the lowest of them."""
        e = np.linspace(0, 7 * mu + mu**2, 4_000)
        delta = ndtr(mu / 2 - e / mu) - np.exp(e + log_ndtr(-mu / 2 - e / mu)) + tau
        steep = np.exp(e + slack) * alarm + delta
        flat = 1 - np.exp(-e - slack) * np.maximum(0.0, 1 - delta - alarm)
        allowed = min(1.0, steep.min(), flat.min())
        assert GaussianTradeOff(mu, slack, tau).power(alarm) >= allowed * (1 - 1e-3)  # the grid is no infimum

    @given(MU, CHANCE)
    def test_two_steps_are_twice_mu(self, mu: float, chance: float) -> None:
        curve = GaussianTradeOff(mu)
        assert InTurn(curve, curve).power(chance) == pytest.approx(GaussianTradeOff(2 * mu).power(chance), rel=1e-5)

    @given(MU, st.floats(0, 0.05), st.floats(0, 0.01))
    def test_slacks_add_to_the_advantage(self, mu: float, slack: float, tau: float) -> None:
        plain = 2 * ndtr(mu / 2) - 1
        expected = min(1.0, plain + tau + math.exp(slack) - 1)
        assert GaussianTradeOff(mu, slack, tau).advantage == pytest.approx(expected, rel=CLOSE)


class TestApproximate:
    @given(EPSILON, st.floats(0, 0.5))
    def test_the_worst_mechanism_reaches_it(self, epsilon: float, delta: float) -> None:
        """Four outcomes: two that give the data set away, with chance delta, and randomised response."""
        told = (1 - delta) / (1 + math.exp(epsilon))
        first = np.array([delta, told * math.exp(epsilon), told, 0.0])
        other = first[::-1]
        curve = ApproximateTradeOff(epsilon, delta)
        for count in (1, 2, 3):
            assert curve.power(other[:count].sum()) == pytest.approx(first[:count].sum(), rel=CLOSE)
            assert curve.alarm(first[:count].sum()) == pytest.approx(other[:count].sum(), rel=CLOSE, abs=1e-12)
        assert curve.advantage == pytest.approx(0.5 * np.abs(first - other).sum(), rel=CLOSE)


class TestAnyCurve:
    @given(CURVES, CHANCE, CHANCE)
    def test_it_is_a_concave_bound_above_the_diagonal(self, curve: TradeOff, one: float, other: float) -> None:
        middle = curve.power((one + other) / 2)
        assert middle >= 0.5 * (curve.power(one) + curve.power(other)) * (1 - CLOSE)
        assert curve.power(one) >= one
        assert curve.alarm(one) <= one

    @given(CURVES, CHANCE)
    def test_alarm_is_on_the_safe_side_of_the_inverse(self, curve: TradeOff, power: float) -> None:
        """No event that power allows has a smaller chance on the other side than alarm says."""
        assert curve.power(curve.alarm(power)) <= power * (1 + 1e-6) + 1e-9 or curve.alarm(power) == 0

    @given(CURVES, CHANCE)
    def test_no_event_differs_by_more_than_the_advantage(self, curve: TradeOff, alarm: float) -> None:
        assert curve.power(alarm) - alarm <= curve.advantage * (1 + CLOSE) + 0.03  # slacks count twice in power


@given(EPSILON, st.floats(0, 0.1), MU, st.integers(0, 2**32 - 1))
def test_two_releases_together_stay_below_their_curves_in_turn(
    epsilon: float, delta: float, mu: float, seed: int
) -> None:
    """Every cut of the likelihood ratio of randomised response beside a Gaussian that is cut into cells."""
    told = (1 - delta) / (1 + math.exp(epsilon))
    first = np.array([delta, told * math.exp(epsilon), told, 0.0])
    edges = np.concatenate([[-np.inf], np.sort(np.random.default_rng(seed).normal(0, 2, 5)), [np.inf]])
    one, other = np.diff(ndtr(edges - mu)), np.diff(ndtr(edges))
    p, q = np.outer(first, one).ravel(), np.outer(first[::-1], other).ravel()
    order = np.argsort(-p / np.maximum(q, 1e-300))
    curve = InTurn(ApproximateTradeOff(epsilon, delta), GaussianTradeOff(mu))
    powers, alarms = np.cumsum(p[order]), np.cumsum(q[order])
    assert all(power <= curve.power(min(1.0, alarm)) + 1e-9 for power, alarm in zip(powers, alarms, strict=True))
    assert (powers - alarms).max() <= curve.advantage + 1e-9


@given(EPSILON, MU, CHANCE)
def test_of_two_curves_that_hold_the_better_counts(epsilon: float, mu: float, chance: float) -> None:
    one, other = ApproximateTradeOff(epsilon, 1e-6), GaussianTradeOff(mu)
    both = Both(one, other)
    assert both.power(chance) == min(one.power(chance), other.power(chance))
    assert both.alarm(chance) == max(one.alarm(chance), other.alarm(chance))
    assert both.advantage == min(one.advantage, other.advantage)


def test_the_curve_of_a_guarantee() -> None:
    guarantee = Guarantee(1.0, 1e-5, Neighbours.ADD_REMOVE, None, 0.26, 1e-7, 1e-15)
    assert promised(guarantee) == GaussianTradeOff(0.26, 1e-7, 1e-15)
    assert promised(replace(guarantee, delta=0.0)) == ApproximateTradeOff(1.0, 0.0)
