"""What a privacy loss means for a person: closed forms, attacks that reach the bounds, and none that passes them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri

from pointillist.privacy.disclosure import (
    CHANCE_FIT,
    CONFIDENCE,
    belief,
    guess,
    most_people,
    rarity,
    singled_out,
    singled_out_by_chance,
)
from pointillist.privacy.trade_off import ApproximateTradeOff, GaussianTradeOff

MU = st.floats(0.01, 5)
CHANCE = st.floats(1e-4, 1 - 1e-4)
PRIOR = st.floats(1e-3, 0.999)


class TestBelief:
    @given(MU, PRIOR, CHANCE)
    def test_it_is_the_belief_of_the_best_test(self, mu: float, prior: float, unlucky: float) -> None:
        """An attacker who looks only whether the score is above a threshold: reached, not only bounded."""
        threshold = -ndtri(unlucky) + mu
        seen, otherwise = ndtr(-(threshold - mu)), ndtr(-(threshold))
        expected = prior * seen / (prior * seen + (1 - prior) * otherwise)
        assert belief(GaussianTradeOff(mu), prior, unlucky) == pytest.approx(expected, rel=1e-6)

    @given(MU, PRIOR, CHANCE, st.integers(0, 2**32 - 1))
    def test_no_post_processing_exceeds_it_more_often(self, mu: float, prior: float, unlucky: float, seed: int) -> None:
        """Outcomes lumped together at random: whoever sees the lump has a belief for each; the high ones are seldom."""
        rng = np.random.default_rng(seed)
        edges = np.concatenate([[-np.inf], np.linspace(-4, mu + 4, 30), [np.inf]])
        p, q = np.diff(ndtr(edges - mu)), np.diff(ndtr(edges))
        lumps = rng.integers(0, 8, len(p))
        seen, otherwise = np.bincount(lumps, p, 8), np.bincount(lumps, q, 8)
        beliefs = prior * seen / (prior * seen + (1 - prior) * otherwise + 1e-300)
        highest = belief(GaussianTradeOff(mu), prior, unlucky)
        assert seen[beliefs > highest + 1e-9].sum() <= unlucky + 1e-9

    @given(st.floats(0.01, 8), st.floats(0, 1e-3), PRIOR)
    def test_by_epsilon_and_delta(self, epsilon: float, delta: float, prior: float) -> None:
        least = max((0.01 - delta) / math.exp(epsilon), 1 - delta - 0.99 * math.exp(epsilon))
        expected = prior * 0.01 / (prior * 0.01 + (1 - prior) * least)
        assert belief(ApproximateTradeOff(epsilon, delta), prior) == pytest.approx(expected, rel=1e-6)

    def test_without_delta_it_is_bayes(self) -> None:
        """The odds move by e^epsilon."""
        assert belief(ApproximateTradeOff(math.log(3), 0.0), 0.5) == pytest.approx(0.75)
        assert belief(ApproximateTradeOff(math.log(3), 0.0), 0.1) == pytest.approx(0.25)


class TestGuess:
    @given(MU, st.integers(2, 40))
    def test_it_is_reached_by_a_guess_among_equals(self, mu: float, values: int) -> None:
        """Without the person, 1 / values. A release that moves in one direction for the person's own value."""
        baseline = 1 / values
        threshold = -ndtri(baseline)
        assert guess(GaussianTradeOff(mu), baseline) == pytest.approx(ndtr(-(threshold - mu)), rel=1e-6)

    @given(MU, CHANCE)
    def test_it_is_never_less_than_without(self, mu: float, baseline: float) -> None:
        assert guess(GaussianTradeOff(mu), baseline) >= baseline


class TestSinglingOut:
    @given(st.integers(1, 10**7))
    def test_the_description_fits_one_with_about_a_stated_chance(self, people: int) -> None:
        share = rarity(people)
        exact = people * share * (1 - share) ** (people - 1)
        assert singled_out_by_chance(people, share) == pytest.approx(exact, rel=1e-6)
        assert 0.98 * CHANCE_FIT < exact <= CHANCE_FIT

    @given(MU, st.integers(1, 10**6), st.floats(1e-9, 1e-2))
    def test_closed_form(self, mu: float, people: int, share: float) -> None:
        expected = min(1.0, people * ndtr(ndtri(share) + mu))
        assert singled_out(GaussianTradeOff(mu), people, share) == pytest.approx(expected, rel=1e-6)
        assert singled_out(GaussianTradeOff(mu), people, share) >= singled_out_by_chance(people, share)

    @given(MU, st.integers(1, 3_000), st.floats(0, 100), st.floats(-3.09, 6))
    def test_a_noisy_count_that_is_too_low_gives_no_lower_bound(
        self, mu: float, people: int, error: float, luck: float
    ) -> None:
        """Whatever noise there was, but for one case in a thousand: the bound of the true number is not passed."""
        estimate = max(1.0, people + luck * error)
        share = rarity(estimate)
        most = most_people(estimate, error)
        curve = GaussianTradeOff(mu)
        assert most >= people
        assert singled_out(curve, most, share) >= min(1.0, people * ndtr(ndtri(share) + mu))
        assert singled_out_by_chance(most, share) >= people * share * (1 - share) ** (people - 1) * (1 - 1e-9)

    def test_twenty_counted_where_sixty_are(self) -> None:
        curve, share = GaussianTradeOff(0.27), rarity(20)
        assert singled_out(curve, 20, share) < 0.026
        assert singled_out(curve, most_people(20, 13), share) > singled_out(curve, 60, share) > 0.075

    def test_the_most_people_are_a_quantile(self) -> None:
        assert pytest.approx(0.999) == CONFIDENCE
        assert most_people(1_000, 0.0) == 1_000
        assert most_people(1_000, 10.0) == math.ceil(1_000 + 10 * 3.0902323)
        assert most_people(0.2, 0.0) == 1

    def test_an_attack_stays_below(self) -> None:
        """Two people with one of 40 values each; noisy counts; the value that stands out most is named.

        30,000 runs: the share that comes out is within 6 standard deviations, one false alarm in 500 million.
        """
        rng, runs, people, values, mu = np.random.default_rng(5), 30_000, 2, 40, 2.0
        drawn = rng.integers(0, values, (runs, people))
        counts = np.zeros((runs, values))
        for person in range(people):
            counts[np.arange(runs), drawn[:, person]] += 1
        named = (counts + rng.normal(0, 1 / mu, counts.shape)).argmax(axis=1)
        alone = (drawn == named[:, None]).sum(axis=1) == 1
        bound = singled_out(GaussianTradeOff(mu), people, 1 / values)
        assert singled_out_by_chance(people, 1 / values) < alone.mean() < bound + 6 * math.sqrt(0.25 / runs)
