"""Each bound holds as often as it says, and agrees with others' implementations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats
from sklearn.metrics import roc_auc_score

from pointillist.evaluate.audit.epsilon_bounds import (
    _noncentral,
    area,
    at_least,
    at_most,
    best_one_run,
    event_epsilon,
    gaussian_mu,
    hits_at,
    ideal_one_run,
    noise_ratio,
    one_run_chance,
    one_run_epsilon,
    refutes,
    same_chance,
    split_epsilon,
    threshold_epsilon,
)

STEPS = np.arange(100)
OUTSIDE = np.sin(STEPS * 1.7) + STEPS / 100
INSIDE = np.sin(STEPS * 2.3) + STEPS / 100 + 0.9


@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "delta", "alpha", "expected"),
    [
        (1000, 1000, 600, 1e-5, 0.05, 0.2972269575896597),
        (1000, 200, 190, 1e-5, 0.05, 2.3936181606621587),
        (1000, 1000, 1000, 1e-5, 0.05, 5.782283131572193),
        (5000, 500, 400, 1e-4, 0.05, 1.1574427541156398),
        (100, 100, 55, 1e-5, 0.05, 0.0),
        (1000, 100, 100, 1e-3, 0.01, 0.0),
    ],
)
def test_one_run_bounds_are_those_of_jax_privacy(
    canaries: int, guesses: int, correct: int, delta: float, alpha: float, expected: float
) -> None:
    """`expected` was computed once with jax_privacy 2.0.0, auditing._epsilon_one_run."""
    assert one_run_epsilon(canaries, guesses, correct, delta, alpha) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(0.0, 0.003108788461995558), (0.5, 0.005409441895540698), (2.0, 0.9999999099981948)]
)
def test_one_run_chances_are_those_of_jax_privacy(epsilon: float, expected: float) -> None:
    """`expected` was computed once with jax_privacy 2.0.0, auditing._one_run_p_value(1000, 200, 150, epsilon, 1e-4)."""
    assert one_run_chance(1000, 200, 150, epsilon, 1e-4) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("threshold", "expected"), [(0.5, 0.7732892561940484), (1.0, 0.30414831475686177), (1.6, 0.8693725478143399)]
)
def test_threshold_bounds_are_those_of_jax_privacy(threshold: float, expected: float) -> None:
    """`expected`: jax_privacy 2.0.0, CanaryScoreAuditor(INSIDE, OUTSIDE).epsilon_clopper_pearson(0.05, 1e-5,
    one_sided=False, threshold_strategy=Explicit(threshold))."""
    assert threshold_epsilon(OUTSIDE, INSIDE, threshold, 1e-5, 0.05) == pytest.approx(expected, rel=1e-9)


def test_limits_of_a_probability_are_scipys() -> None:
    limits = stats.binomtest(7, 30).proportion_ci(0.9, "exact")
    assert (at_least(7, 30, 0.05), at_most(7, 30, 0.05)) == pytest.approx((limits.low, limits.high))
    assert (at_least(0, 30, 0.05), at_most(30, 30, 0.05)) == (0.0, 1.0)


@pytest.mark.parametrize(("statistic", "freedom"), [(3.0, 50), (10.0, 198), (-1.0, 20), (0.0, 18)])
@pytest.mark.parametrize("level", [0.95, 0.05, 1 - 1e-6])
def test_the_noncentral_t_is_inverted(statistic: float, freedom: int, level: float) -> None:
    centre = _noncentral(statistic, freedom, level)
    assert 1 - stats.nct.cdf(statistic, freedom, centre) == pytest.approx(1 - level, rel=0.03)


def wrong_at_most(wrong: int, trials: int, alpha: float) -> bool:
    """Whether so many wrong bounds are no surprise, at one false alarm in a million."""
    return bool(stats.binom.sf(wrong - 1, trials, alpha) > 1e-6)


def test_bounds_on_mu_hold_as_often_as_they_say() -> None:
    """2,000 audits of 15 runs a side at alpha = 0.1; the seed is fixed, and one seed in 500,000 would fail."""
    rng = np.random.default_rng(1)
    found = [gaussian_mu(rng.normal(size=15) * 3, 3 * (rng.normal(size=15) + 0.8), 0.1) for _ in range(2_000)]
    low, high = sum(each.low > 0.8 for each in found), sum(each.high < 0.8 for each in found)
    assert wrong_at_most(low, 2_000, 0.1)
    assert wrong_at_most(high, 2_000, 0.1)
    assert min(low, high) > 120  # and they are not needlessly wide: 200 are expected


def test_bounds_on_the_noise_hold_as_often_as_they_say() -> None:
    """2,000 samples of 20 residuals at alpha = 0.1; one seed in 500,000 would fail."""
    rng = np.random.default_rng(2)
    found = [noise_ratio(float((rng.normal(size=20) ** 2).sum()) * 0.25, 20, 0.1) for _ in range(2_000)]
    low, high = sum(each.low > 0.5 for each in found), sum(each.high < 0.5 for each in found)
    assert wrong_at_most(low, 2_000, 0.1)
    assert wrong_at_most(high, 2_000, 0.1)
    assert min(low, high) > 120


def test_threshold_bounds_hold_whatever_the_distribution() -> None:
    """Randomised response at epsilon = 1, 300 audits at alpha = 0.1; one seed in a million would fail."""
    rng = np.random.default_rng(3)
    right = special.expit(1.0)
    wrong = 0
    for _ in range(300):
        outside, inside = (rng.random(100) > right).astype(float), (rng.random(100) < right).astype(float)
        wrong += split_epsilon(outside, inside, 0.0, 0.1) > 1.0
    assert wrong_at_most(wrong, 300, 0.1)


def test_one_run_bounds_hold_where_they_are_tight() -> None:
    """Randomised response at epsilon = 1 on 200 canaries, 400 audits at alpha = 0.1; one seed in a million would fail."""
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(400):
        member = rng.random(200) < 0.5
        said = np.where(rng.random(200) < special.expit(1.0), member, ~member)
        wrong += best_one_run(said + 0.01 * rng.random(200), member, 0.0, 0.1)[0] > 1.0
    assert wrong_at_most(wrong, 400, 0.1)


def test_scores_without_noise_have_an_infinite_mu() -> None:
    assert gaussian_mu(np.zeros(10), np.ones(10), 0.05).low == math.inf
    assert gaussian_mu(np.zeros(10), np.zeros(10), 0.05).high == 0.0


@given(st.integers(1, 300), st.data(), st.floats(1e-8, 1e-2))
def test_one_run_bounds_grow_with_right_guesses_and_shrink_with_delta(
    guesses: int, data: st.DataObject, delta: float
) -> None:
    correct = data.draw(st.integers(0, guesses))
    bound = one_run_epsilon(300, guesses, correct, delta, 0.05)
    assert 0 <= bound < math.inf
    assert one_run_epsilon(300, guesses, min(guesses, correct + 1), delta, 0.05) >= bound - 1e-5
    assert one_run_epsilon(300, guesses, correct, 2 * delta, 0.05) <= bound + 1e-5
    if bound > 0:
        assert one_run_chance(300, guesses, correct, bound, delta) == pytest.approx(0.05, rel=1e-3)


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), st.lists(st.integers(0, 9), min_size=2, max_size=40))
def test_area_is_scikit_learns(outside: list[int], inside: list[int]) -> None:
    found = area(np.array(outside, float), np.array(inside, float), 0.05)
    truth = roc_auc_score([0] * len(outside) + [1] * len(inside), outside + inside)
    assert found.value == pytest.approx(truth)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_area_interval_holds_as_often_as_it_says() -> None:
    """1,000 samples at alpha = 0.1 a side; the interval is asymptotic, so 13 % are let pass."""
    rng = np.random.default_rng(5)
    truth = stats.norm.cdf(0.5 / math.sqrt(2))
    found = [area(rng.normal(size=60), rng.normal(size=60) + 0.5, 0.1) for _ in range(1_000)]
    assert 60 < sum(each.low > truth for each in found) < 150
    assert 60 < sum(each.high < truth for each in found) < 150


def test_hits_keep_to_the_false_alarms() -> None:
    found = hits_at(np.arange(200.0), np.array([197.5, 198.5, 300.0, 10.0]), 0.01, 0.05)
    assert found.value == 0.75  # two alarms are allowed, at 198 and 199
    assert hits_at(np.arange(50.0), np.array([48.5, 49.5]), 0.01, 0.05).value == 0.5  # none is allowed


def test_the_best_achievable_bound_lies_below_the_truth() -> None:
    """At mu = 0.268 (epsilon = 1 at 1e-5) one run of 1,000 canaries shows a fifth of it, at mu = 1.6 (epsilon = 7) more."""
    assert 0.05 < ideal_one_run(1_000, 0.268, 1e-5, 0.05) < 0.5
    assert 1.0 < ideal_one_run(1_000, 1.6, 1e-5, 0.05) < 7.0


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_equal_frequencies_are_tested_as_scipy_does(runs: int, other_runs: int, data: st.DataObject) -> None:
    one, other = data.draw(st.integers(0, runs)), data.draw(st.integers(0, other_runs))
    table = [[one, runs - one], [other, other_runs - other]]
    tails = [stats.fisher_exact(table, alternative).pvalue for alternative in ("less", "greater")]
    assert same_chance(one, runs, other, other_runs) == pytest.approx(min(1.0, 2 * min(tails)))


def test_bounds_from_an_event_hold_as_often_as_they_say() -> None:
    """Randomised response at epsilon = 1, 2,000 audits at alpha = 0.1; one seed in a million would fail."""
    rng = np.random.default_rng(6)
    right = special.expit(1.0)
    hits, alarms = rng.binomial(100, right, 2_000), rng.binomial(100, 1 - right, 2_000)
    found = [event_epsilon(int(a), 100, int(b), 100, 0.0, 0.1) for a, b in zip(hits, alarms, strict=True)]
    assert wrong_at_most(sum(each > 1.0 for each in found), 2_000, 0.1)
    assert max(found) > 0.8
    assert event_epsilon(90, 100, 0, 100, 1e-5, 0.05) == event_epsilon(0, 100, 90, 100, 1e-5, 0.05) > 2.5


def test_false_alarms_of_one_run_are_shared_among_all_promises() -> None:
    """The same promise stated twice halves what each may use up."""
    scores, member = np.arange(100.0), np.arange(100) >= 50
    chances = [one_run_chance(100, 2 * n, 2 * n, 1.0, 0.0) for n in (2, 10, 40)]
    alpha = 1.5 * 3 * min(chances)
    assert refutes(scores, member, [(1.0, 0.0)], alpha)
    assert not refutes(scores, member, [(1.0, 0.0), (1.0, 0.0)], alpha)
