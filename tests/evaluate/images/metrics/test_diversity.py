"""Diversity: what is alike scores as alike, and each way of being unlike shows where it should."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images import coverage, curve, variance_ratios

Bars = Callable[..., pt.Images]


class TestCoverage:
    def test_a_second_sample_shows_what_is_expected(self, bars: Bars) -> None:
        found = coverage(bars(600, 1), bars(600, 2), bars(600, 3))
        assert found.expected_precision is not None
        assert found.expected_recall is not None
        # Shares of 600 images: a gap of 0.15 is over five standard deviations.
        assert found.precision == pytest.approx(found.expected_precision, abs=0.15)
        assert found.recall == pytest.approx(found.expected_recall, abs=0.15)

    def test_a_missing_class_costs_recall_and_not_precision(self, bars: Bars) -> None:
        made = bars(900, 2)
        assert made.codes is not None
        found = coverage(bars(600, 1), made.part(made.codes != 2), bars(600, 3))
        assert found.expected_recall is not None
        assert found.expected_precision is not None
        assert found.recall < found.expected_recall - 0.2
        assert found.precision > found.expected_precision - 0.15

    def test_one_image_repeated_has_no_recall(self, bars: Bars) -> None:
        real = bars(200, 1)
        made = real.part(np.zeros(200, dtype=np.int64))
        found = coverage(real, made)
        assert (found.precision, found.expected_recall) == (1.0, None)
        assert found.recall < 0.05

    def test_noise_alone_has_no_precision(self, bars: Bars) -> None:
        noise = np.random.default_rng(0).integers(0, 256, (300, 12, 12, 1)).astype(np.uint8)
        found = coverage(bars(300, 1), pt.Images(noise, np.zeros(300, dtype=np.uint16), ("left", "middle", "right")))
        assert found.precision == 0.0

    def test_too_few_images(self, bars: Bars) -> None:
        with pytest.raises(UsageError, match="too few"):
            coverage(bars(3, 1), bars(3, 2))


class TestVariance:
    def test_too_uniform_and_too_noisy(self, bars: Bars) -> None:
        real = bars(600, 1)
        alike = variance_ratios(real, bars(600, 2))
        assert set(alike) == {"left", "middle", "right"}
        assert all(0.85 < ratio < 1.15 for ratio in alike.values())
        assert all(ratio > 1.5 for ratio in variance_ratios(real, bars(600, 2, noise=60.0)).values())
        assert all(ratio < 0.95 for ratio in variance_ratios(real, bars(600, 2, length=(7, 8))).values())

    def test_classes_with_one_image_are_left_out(self, bars: Bars) -> None:
        real = bars(100, 1)
        assert real.codes is not None
        few = real.part(np.concatenate([np.flatnonzero(real.codes == 0), np.flatnonzero(real.codes == 1)[:1]]))
        assert set(variance_ratios(real, few)) == {"left"}

    def test_without_labels(self, bars: Bars) -> None:
        real = pt.Images(bars(100, 1).pixels)
        assert variance_ratios(real, real) == {"all images": 1.0}


class TestCurve:
    def test_repeated_images_teach_nothing_new(self, bars: Bars) -> None:
        real = bars(800, 1, noise=90.0)
        repeated = real.part(np.arange(800) % 20)
        found = curve(repeated, bars(400, 2, noise=90.0), real, sizes=(20, 800), models=["random forest"])
        assert [(each.model, each.images) for each in found.points] == [("random forest", 20), ("random forest", 800)]
        few, many = found.points
        assert few.real is not None
        assert many.real is not None
        assert many.synthetic is not None
        assert many.real > few.real + 0.1
        assert many.real > many.synthetic + 0.1

    def test_enough(self, bars: Bars) -> None:
        found = curve(bars(500, 1), bars(300, 2), sizes=(3, 100, 500), models=["logistic regression"])
        assert found.enough("logistic regression", 0.05) == 100
        assert found.points[0].real is None
        with pytest.raises(UsageError, match="no curve"):
            found.enough("LDA")
