"""Spaces in which images are compared: of any size, each image by itself."""

import numpy as np
import pytest

from pointillist.evaluate.images.feature_space import Space, cosines, random_filters


@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 9, 3), (28, 28, 1)])
@pytest.mark.parametrize("space", [cosines(), random_filters()])
def test_spaces_take_any_size(space: Space, shape: tuple[int, int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (7, *shape)).astype(np.uint8)
    found = space(pixels)
    assert found.shape[0] == 7
    assert np.isfinite(found).all()
    assert np.allclose(space(pixels[3:4]), found[3:4])  # each image by itself


def test_brightness_is_for_frequencies_and_not_for_filters() -> None:
    grey = np.full((2, 8, 8, 1), 100, dtype=np.uint8)
    grey[1] = 200
    assert np.ptp(cosines()(grey), axis=0).max() > 1
    assert np.allclose(random_filters()(grey), 0.0, atol=1e-9)


def test_a_space_needs_frequencies() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        cosines(0)
