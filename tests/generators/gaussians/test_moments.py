"""Image estimate: how many frequencies the noise lets one tell apart."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.generators.gaussians.moments import needed_frequencies

SIZE = 12


def stripes(waves: int) -> np.ndarray:
    """An image of one frequency, between black and white."""
    across = np.cos(np.pi * waves * (np.arange(SIZE) + 0.5) / SIZE)
    return 0.5 + 0.4 * np.tile(across, (SIZE, 1))[:, :, None]


class TestNeededFrequencies:
    @settings(max_examples=60)
    @given(st.integers(1, 5), st.integers(1, 12), st.integers(0, 8), st.integers(0, 2**32 - 1))
    def test_it_is_within_the_limits(self, classes: int, fewest: int, more: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        images, counts = rng.random((classes, SIZE, SIZE, 1)), rng.uniform(1, 100, classes)
        assert fewest <= needed_frequencies(images, rng.random(), counts, fewest, fewest + more) <= fewest + more

    @pytest.mark.parametrize("waves", range(1, SIZE))
    @pytest.mark.parametrize("channels", [1, 3])
    def test_without_noise_the_finest_difference_counts(self, waves: int, channels: int) -> None:
        images = np.repeat(np.stack([stripes(waves), stripes(0)]), channels, axis=3)
        assert needed_frequencies(images, 0.0, np.array([50.0, 70.0]), 3, SIZE) == max(3, waves + 1)

    def test_what_all_classes_share_does_not_count(self) -> None:
        images = np.stack([0.5 * stripes(11) + 0.2 * stripes(1), 0.5 * stripes(11)])
        assert needed_frequencies(images, 0.0, np.array([50.0, 70.0]), 1, SIZE) == 2

    def test_noise_alone_asks_for_none(self) -> None:
        """It does so with a chance of about 0.8, in 400 draws of a fixed seed."""
        rng = np.random.default_rng(0)
        counts, noise = np.array([50.0, 70.0, 200.0]), 5.0
        found = []
        for _ in range(400):
            images = 0.5 + noise * rng.standard_normal((3, SIZE, SIZE, 1)) / counts[:, None, None, None]
            found.append(needed_frequencies(images, noise, counts, 2, SIZE))
        assert np.mean(np.array(found) == 2) > 0.65
