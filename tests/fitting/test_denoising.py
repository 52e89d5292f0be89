"""Denoising: counts made possible by the least change, and smoothed only where the noise explains what they show."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.fitting.denoising import denoise_ordered, project_to_simplex, spikes

MANY = settings(deadline=None, max_examples=100)

counts = st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, 1.0, -1.0]), min_size=1, max_size=40)
noisy = counts.map(lambda values: np.array(values, dtype=np.float64))
totals = st.floats(0.5, 1e7)


class TestProjection:
    @MANY
    @given(noisy, totals)
    def test_is_possible(self, values: Any, total: float) -> None:
        nearest = project_to_simplex(values, total)
        assert nearest.shape == values.shape
        assert (nearest >= 0).all()
        assert nearest.sum() == pytest.approx(total, rel=1e-9, abs=1e-7)

    @MANY
    @given(noisy.map(abs))
    def test_leaves_what_is_possible_alone(self, values: Any) -> None:
        values = values + 0.25
        assert np.allclose(project_to_simplex(values, values.sum()), values, rtol=1e-9, atol=1e-7)

    @MANY
    @given(st.data(), noisy, totals)
    def test_nothing_possible_is_nearer(self, data: st.DataObject, values: Any, total: float) -> None:
        nearest = project_to_simplex(values, total)
        weights = data.draw(st.lists(st.floats(0, 1), min_size=len(values), max_size=len(values)))
        other = np.array(weights) + 1e-9
        other *= total / other.sum()
        distance = np.linalg.norm(nearest - values)
        assert distance <= np.linalg.norm(other - values) * (1 + 1e-9) + 1e-6

    @MANY
    @given(noisy, totals)
    def test_takes_the_same_from_all_that_stay(self, values: Any, total: float) -> None:
        """The mark of the nearest point: one amount is taken off everywhere, and nothing goes below zero."""
        nearest = project_to_simplex(values, total)
        stay = nearest > 1e-6
        amount = (values - nearest)[stay]
        assert np.ptp(amount) <= 1e-6
        assert (values[~stay] <= amount.max() + 1e-5).all()

    def test_examples(self) -> None:
        assert project_to_simplex(np.array([0.5, 0.7])).tolist() == pytest.approx([0.4, 0.6])
        assert project_to_simplex(np.array([-1.0, 2.0, 9.0]), 10.0).tolist() == pytest.approx([0, 1.5, 8.5])
        assert project_to_simplex(np.zeros(4)).tolist() == [0.25] * 4


class TestDenoising:
    @pytest.mark.parametrize("size", [1, 2, 3, 7, 16, 100, 256, 257])
    def test_without_noise_nothing_changes(self, size: int) -> None:
        values = np.random.default_rng(size).random(size)
        np.testing.assert_allclose(denoise_ordered(values, 0.0), values, atol=1e-12)

    def test_empty_tails_become_flat_and_spikes_stay(self) -> None:
        """Noise of 30 on 256 bins: the error of the tail falls by more than three quarters, the spike keeps its height."""
        rng = np.random.default_rng(0)
        truth = np.zeros(256)
        truth[:40] = 300.0
        truth[20] = 5_000.0
        noisy = truth + 30 * rng.standard_normal(256)
        smooth = denoise_ordered(noisy, 30.0)
        assert np.abs(smooth[60:]).mean() < 0.25 * np.abs(noisy[60:]).mean()
        assert abs(smooth[20] - 5_000) < 300
        assert np.abs(smooth - truth).mean() < 0.5 * np.abs(noisy - truth).mean()

    @pytest.mark.parametrize(("rows", "share"), [(3_000, 0.9), (30_000, 0.99)])
    def test_few_values_among_many_levels_stay_apart(self, rows: int, share: float) -> None:
        """Eleven values on a grid of a thousand, noise of 30: nearly all mass stays where it is, not beside it."""
        truth = np.zeros(1001)
        truth[5 + 95 * np.arange(11)] = rows / 11
        smooth = np.maximum(denoise_ordered(truth + 30 * np.random.default_rng(0).standard_normal(1001), 30.0), 0.0)
        assert smooth[truth > 0].sum() > share * smooth.sum()

    def test_spikes_are_what_noise_does_not_explain(self) -> None:
        """Noise alone shows one among 256 levels once in about 9 tables; these ten, with a fixed seed, show two at most."""
        noise = 30 * np.random.default_rng(1).standard_normal((10, 256))
        assert sum(np.count_nonzero(spikes(each, 30.0)) for each in noise) <= 2
        high = noise[0].copy()
        high[100] += 500.0
        assert np.flatnonzero(spikes(high, 30.0)).tolist() == [100]
        assert spikes(high, 30.0)[100] == pytest.approx(500, abs=100)
