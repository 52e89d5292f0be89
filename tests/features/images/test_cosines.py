"""Cosines: low frequencies as whole numbers, orthogonal up to rounding, for every size of image."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.features.images.cosines import SCALE, cosine_basis

sizes = st.integers(1, 20)


@given(height=sizes, width=sizes, channels=st.sampled_from([1, 3]), frequencies=st.integers(1, 24))
def test_vectors_are_whole_numbers_orthogonal_up_to_rounding(
    height: int, width: int, channels: int, frequencies: int
) -> None:
    basis = cosine_basis(height, width, channels, frequencies)
    pixels = height * width * channels
    assert basis.vectors.dtype == np.int16
    assert basis.vectors.shape == (basis.size, pixels)
    assert basis.size <= pixels
    # Each entry is off by half of 1 / SCALE at most: inner products of unit vectors by sqrt(pixels) / SCALE.
    np.testing.assert_allclose(basis.unit @ basis.unit.T, np.eye(basis.size), atol=1.1 * np.sqrt(pixels) / SCALE)


@given(height=sizes, width=sizes, channels=st.sampled_from([1, 3]))
def test_all_frequencies_hold_all_of_an_image(height: int, width: int, channels: int) -> None:
    most = 60  # also two fifths of them are more than an image of 20 x 20 has
    basis = cosine_basis(height, width, channels, most)
    assert basis.size == height * width * channels
    image = np.random.default_rng(0).random(basis.size)
    np.testing.assert_allclose(image @ basis.unit.T @ basis.unit, image, atol=0.02)


@given(height=sizes, width=sizes, channels=st.sampled_from([1, 3]), frequencies=st.integers(1, 24))
def test_the_first_vector_is_brightness(height: int, width: int, channels: int, frequencies: int) -> None:
    first = cosine_basis(height, width, channels, frequencies).unit[0]
    np.testing.assert_allclose(first, 1 / np.sqrt(height * width * channels), atol=1 / SCALE)


@given(height=sizes, width=sizes, channels=st.sampled_from([1, 3]), frequencies=st.integers(1, 24))
def test_bands_are_numbered_without_gaps(height: int, width: int, channels: int, frequencies: int) -> None:
    basis = cosine_basis(height, width, channels, frequencies)
    assert basis.bands.shape == (basis.size,)
    assert np.unique(basis.bands).tolist() == list(range(basis.bands.max() + 1))


def test_bands_gather_frequencies_of_one_length() -> None:
    """In order of down, across: (0,0) (0,1) (0,2) (1,0) (1,1) (1,2) (2,0) (2,1) (2,2)."""
    assert cosine_basis(8, 8, 1, 3).bands.tolist() == [0, 1, 2, 1, 1, 2, 2, 2, 2]


def test_brightness_and_colours_share_no_band() -> None:
    basis = cosine_basis(6, 6, 3, 5)
    brightness, colours = 25, 4
    assert basis.size == brightness + 2 * colours
    parts = [basis.bands[:25], basis.bands[25:29], basis.bands[29:]]
    assert all(not set(a.tolist()) & set(b.tolist()) for a in parts for b in parts if a is not b)


def test_grey_images_have_no_colours() -> None:
    basis = cosine_basis(5, 5, 3, 4)
    grey = np.repeat(np.random.default_rng(0).integers(0, 256, 25), 3)
    coefficients = basis.vectors[16:].astype(np.int64) @ grey
    np.testing.assert_allclose(coefficients / (255 * SCALE), 0, atol=1e-3)


@pytest.mark.parametrize(("height", "width"), [(1, 1), (128, 128), (1, 128)])
@pytest.mark.parametrize("channels", [1, 3])
def test_the_largest_entries_fit_16_bits(height: int, width: int, channels: int) -> None:
    """No entry is beyond length 1, and 1 is well within 16 bits: nothing wraps round."""
    basis = cosine_basis(height, width, channels, 3)
    assert int(np.abs(basis.vectors.astype(np.int64)).max()) <= SCALE
    np.testing.assert_allclose(np.linalg.norm(basis.unit, axis=1), 1, atol=0.02)
