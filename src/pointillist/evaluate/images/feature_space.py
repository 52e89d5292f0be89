"""Space: numbers that stand for an image when images are compared, such as its low frequencies.

No distance measured here can be set beside a published FID, which is taken in a space of its own (the activations of one
Inception network): every result carries the name of its space.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.evaluate.arrays import Floats

NOT_COMPARABLE = "relative, not comparable with published FID"
"""Goes wherever a Fréchet distance goes."""
_BATCH = 1024


@dataclass(frozen=True)
class Space:
    """From images to rows of numbers, one for each image."""

    name: str
    """What it is, in a few words: the network's name, or how the numbers are made."""
    features: Callable[[NDArray[np.uint8]], Floats]
    """From pixels, as (number, height, width, channels)."""

    def __call__(self, pixels: NDArray[np.uint8]) -> Floats:
        parts = [
            np.asarray(self.features(pixels[start : start + _BATCH]), dtype=np.float64).reshape(
                len(pixels[start : start + _BATCH]), -1
            )
            for start in range(0, len(pixels), _BATCH)
        ]
        return np.concatenate(parts)


def cosines(kept: int = 10) -> Space:
    """The lowest `kept` x `kept` frequencies of each channel (cosine transform): what is where, without fine detail."""
    if kept < 1:
        raise ValueError(f"kept must be at least 1, not {kept}")

    def features(pixels: NDArray[np.uint8]) -> Floats:
        from scipy.fft import dctn

        return np.asarray(dctn(pixels / 255.0, axes=(1, 2), norm="ortho")[:, :kept, :kept])

    return Space(f"the {kept} x {kept} lowest frequencies", features)


def random_filters(count: int = 64, size: int = 5, seed: int = 0) -> Space:
    """How strongly random filters respond in each quarter of the image: texture and edges, which low frequencies miss."""

    def features(pixels: NDArray[np.uint8]) -> Floats:
        height, width, channels = pixels.shape[1:]
        rows, columns = min(size, height), min(size, width)
        filters = np.random.default_rng(seed).standard_normal((rows * columns * channels, count))
        filters -= filters.mean(axis=0)  # blind to brightness: that is what frequencies are for
        if rows * columns * channels > 1:
            filters /= np.linalg.norm(filters, axis=0)
        windows = np.lib.stride_tricks.sliding_window_view(pixels / 255.0, (rows, columns), axis=(1, 2))
        answers = np.maximum(windows.reshape(*windows.shape[:3], -1) @ filters, 0.0)
        middle, centre = -(-answers.shape[1] // 2), -(-answers.shape[2] // 2)
        quarters = [answers[:, y, x] for y in (slice(0, middle), slice(-middle, None)) for x in (
            slice(0, centre), slice(-centre, None)
        )]  # fmt: skip
        return np.concatenate([each.mean(axis=(1, 2)) for each in quarters], axis=1)

    return Space(f"{count} random {size} x {size} filters (seed {seed})", features)
