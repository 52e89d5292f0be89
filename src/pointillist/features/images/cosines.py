"""Cosines: the low frequencies of an image, as a basis of whole numbers.

Most of what tells images apart is in their low frequencies, and the cosine transform gathers it in few coefficients. Colour
is turned first into brightness and two differences, which need fewer frequencies.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SCALE = 1 << 14
"""The whole number that stands for 1 in a basis."""
_COLOURS = np.array([[1, 1, 1], [1, 0, -1], [1, -2, 1]]) / np.sqrt([[3.0], [2.0], [6.0]])
_COLOUR_FREQUENCIES = 0.4
"""How many frequencies the differences of colours get, as a part of brightness's."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Low frequencies of images of one size."""

    vectors: NDArray[np.int16]
    """One row for each coefficient, one column for each pixel and channel; of length `SCALE`, up to rounding."""
    bands: NDArray[np.int64]
    """For each coefficient the number of its band: coefficients of one band are alike."""

    @property
    def size(self) -> int:
        return len(self.vectors)

    @property
    def unit(self) -> Floats:
        """The vectors at length 1."""
        return self.vectors / SCALE


@lru_cache(maxsize=4)
def cosine_basis(height: int, width: int, channels: int, frequencies: int) -> Basis:
    """The lowest `frequencies` of each direction, of every channel."""
    vectors, bands = [], []
    turns = np.ones((1, 1)) if channels == 1 else _COLOURS
    for number, turn in enumerate(turns):
        most = frequencies if number == 0 else max(1, round(_COLOUR_FREQUENCIES * frequencies))
        down, across = _waves(height, most), _waves(width, most)
        planes = np.einsum("ay,bx->abyx", down, across)[..., None] * turn
        vectors.append(planes.reshape(len(down) * len(across), -1))
        radius = np.hypot(*np.meshgrid(np.arange(len(down)), np.arange(len(across)), indexing="ij"))
        bands.append(radius.astype(np.int64).ravel() + 1000 * number)
    _, numbered = np.unique(np.concatenate(bands), return_inverse=True)
    return Basis(np.rint(np.concatenate(vectors) * SCALE).astype(np.int16), numbered.astype(np.int64))


def _waves(size: int, frequencies: int) -> Floats:
    """The first waves of the cosine transform (type II) along one direction, at length 1."""
    number = np.arange(min(size, frequencies))[:, None]
    waves = np.cos(np.pi * number * (np.arange(size)[None, :] + 0.5) / size)
    return np.asarray(waves / np.linalg.norm(waves, axis=1, keepdims=True))
