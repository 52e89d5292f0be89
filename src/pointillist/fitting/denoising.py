"""Denoising: noisy counts made possible, and smoothed where the noise alone explains what they show."""

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_AROUND = 5
"""How many neighbours on either side a count is compared with."""


def project_to_simplex(values: Floats, total: float = 1.0) -> Floats:
    """The nearest point with no negative entry and the given total: the least change that makes counts possible."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def denoise_ordered(values: Floats, sigma: float) -> Floats:
    """Noisy counts of neighbouring levels, with what the noise alone explains smoothed away.

    Values that stand out by themselves are set aside first: they are atoms, and smoothing would spread them over their
    neighbours. The rest is smoothed by Haar wavelets: sums and differences of ever longer runs of neighbours. A difference
    below the largest that noise alone would show among those of its length is set to none, so empty tails become flat
    while edges stay. Averaged over shifts, so that it does not matter where the runs begin. Without it, the noise in many
    empty bins of a long tail would be taken for mass there, and means of skewed columns would come out too large.
    """
    alone = spikes(values, sigma)
    rest, size = values - alone, len(values)
    length = 1 << max(0, size - 1).bit_length()
    padded = np.concatenate([rest, rest[::-1]])[: max(length, size)]
    padded = np.pad(padded, (0, length - len(padded)), mode="edge") if len(padded) < length else padded
    shifts = range(0, length, max(1, length // 16))
    total = np.zeros(length)
    for shift in shifts:
        total += np.roll(_haar_threshold(np.roll(padded, shift), sigma), -shift)
    return (total / len(shifts))[:size] + alone


def spikes(values: Floats, sigma: float) -> Floats:
    """How far each count stands out of its neighbours, where it is farther than noise alone would take any; else 0."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, _AROUND, mode="edge"), 2 * _AROUND + 1)
    excess = values - np.maximum(np.median(around, axis=1), 0.0)
    return np.where(excess > _largest(sigma, len(values)), excess, 0.0)


def _largest(sigma: float, count: int) -> float:
    """About the largest of so many values of noise."""
    return sigma * math.sqrt(2 * math.log(max(2, count)))


def _haar_threshold(values: Floats, sigma: float) -> Floats:
    if len(values) == 1:
        return values
    even, odd = values[0::2], values[1::2]
    sums, gaps = (even + odd) / np.sqrt(2), (even - odd) / np.sqrt(2)
    gaps = np.where(np.abs(gaps) > _largest(sigma, len(gaps)), gaps, 0.0)
    sums = _haar_threshold(sums, sigma)
    result = np.empty_like(values)
    result[0::2], result[1::2] = (sums + gaps) / np.sqrt(2), (sums - gaps) / np.sqrt(2)
    return result
