"""Sharpness: public images filtered so that their frequencies are as strong, on average, as those of private ones.

Public photographs are often sharper, or smoother, than private ones, and whoever learns from them learns that, too.
"""

import math

import numpy as np
from numpy.typing import NDArray

from pointillist.features.images.spectrum import ImageSpectrum, cosine_waves
from pointillist.records import Records

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]

_MOST_GAIN = math.log(4.0)
"""No frequency is made stronger or weaker by more."""
_AT_A_TIME = 1024


def mean_logarithms(spectrum: ImageSpectrum, pixels: Bytes, weights: Floats) -> Floats:
    """The mean logarithm of the power in each band, each image by its weight; weights add up to 1."""
    total = np.zeros(spectrum.dimension)
    for start in range(0, len(pixels), _AT_A_TIME):
        part = pixels[start : start + _AT_A_TIME]
        features = spectrum(Records(len(part), {}, {}, {spectrum.image: part}))
        total += weights[start : start + _AT_A_TIME] @ features
    return spectrum.logarithms(total)


def gains(wanted: Floats, found: Floats, noise: float) -> Floats:
    """What amplitudes are multiplied by, for each band; nothing where they differ no more than noise explains.

    `noise` is the deviation of a wanted logarithm.
    """
    apart = np.clip(0.5 * (wanted - found), -_MOST_GAIN, _MOST_GAIN)
    shrunk = apart * np.maximum(0.0, 1 - (noise / np.maximum(np.abs(wanted - found), 1e-12)) ** 2)
    return np.asarray(np.exp(shrunk))


def filtered(pixels: Bytes, spectrum: ImageSpectrum, factors: Floats) -> Bytes:
    """Images with every band's waves multiplied; the mean brightness stays."""
    if np.allclose(factors, 1.0):
        return pixels
    wave_gain = np.where(spectrum.numbers < 0, 1.0, factors[np.maximum(spectrum.numbers, 0)])
    down, across = cosine_waves(spectrum.height), cosine_waves(spectrum.width)
    found = np.empty_like(pixels)
    for start in range(0, len(pixels), _AT_A_TIME):
        part = np.moveaxis(pixels[start : start + _AT_A_TIME].astype(np.float64), 3, 1)
        waves = down @ part @ across.T * wave_gain
        back = np.rint(np.clip(down.T @ waves @ across, 0, 255)).astype(np.uint8)
        found[start : start + _AT_A_TIME] = np.moveaxis(back, 1, 3)
    return found
