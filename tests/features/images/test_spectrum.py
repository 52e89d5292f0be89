"""Spectrum: bands of frequencies, exact whatever the batch."""

import numpy as np
import pytest

from pointillist.features import ImageSpectrum, Records
from pointillist.features.images.spectrum import cosine_waves, wave_bands
from pointillist.features.serial import from_nodes, to_nodes


def of(pixels: np.ndarray) -> Records:  # type: ignore[type-arg]
    return Records(len(pixels), {}, {}, {"image": pixels})


def test_white_noise_has_the_same_power_everywhere() -> None:
    rng = np.random.default_rng(0)
    pixels = rng.integers(100, 150, (200, 16, 16, 1)).astype(np.uint8)
    spectrum = ImageSpectrum("image", 16, 16, 1)
    powers = np.exp(spectrum.logarithms(spectrum(of(pixels)).mean(axis=0)))
    assert powers[-3:] == pytest.approx((pixels / 255).var(), rel=0.1)


@pytest.mark.parametrize("shape", [(16, 16, 3), (9, 14, 1), (1, 8, 1), (128, 128, 3)])
def test_any_size_within_length_1_and_the_same_bits_in_any_batch(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    ends = np.stack([np.zeros(shape), np.full(shape, 255), np.indices(shape).sum(axis=0) % 2 * 255]).astype(np.uint8)
    pixels = np.concatenate([ends, rng.integers(0, 256, (2, *shape), dtype=np.uint8)])
    spectrum = ImageSpectrum("image", *shape)
    together = spectrum(of(pixels))
    assert together.min() >= 0
    assert np.linalg.norm(together, axis=1).max() <= 1
    for number in range(len(pixels)):
        assert np.array_equal(spectrum(of(pixels[number : number + 1]))[0], together[number])


def test_bands_are_numbered_without_gaps_from_coarse_to_fine() -> None:
    numbers = wave_bands(32, 32, 12)
    assert numbers[0, 0] == -1
    assert numbers[0, 1] == 0
    assert sorted(set(numbers.ravel().tolist())) == list(range(-1, int(numbers.max()) + 1))
    assert (np.diff(numbers[0]) >= 0).all()
    assert numbers[31, 31] == numbers.max()


def test_waves_are_orthonormal() -> None:
    waves = cosine_waves(7)
    assert np.allclose(waves @ waves.T, np.eye(7))


def test_it_is_written_and_read_again_and_checked() -> None:
    spectrum = ImageSpectrum("image", 8, 8, 3, 5)
    assert from_nodes(*to_nodes(spectrum)) == spectrum
    with pytest.raises(ValueError, match="two pixels or more"):
        ImageSpectrum("image", 1, 1, 1)
