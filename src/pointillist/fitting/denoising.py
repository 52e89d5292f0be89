"""Denoising: noisy counts made possible, and smoothed where the noise alone explains what they show."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def project_to_simplex(values: Floats, total: float = 1.0) -> Floats:
    """The nearest point with no negative entry and the given total: the least change that makes counts possible."""
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    last = np.flatnonzero(ordered > excess)[-1]
    return np.maximum(values - excess[last], 0.0)


def denoise_ordered(values: Floats, sigma: float) -> Floats:
    """Noisy counts of neighbouring levels, with what the noise alone explains smoothed away.

    Haar wavelets: sums and differences of ever longer runs of neighbours. A difference below the largest that noise
    alone would show is set to none, so empty tails become flat while spikes and edges stay. Averaged over shifts, so
    that it does not matter where the runs begin. Without it, the noise in many empty bins of a long tail would be taken
    for mass there, and means of skewed columns would come out too large.
    """
    size = len(values)
    length = 1 << max(0, size - 1).bit_length()
    padded = np.concatenate([values, values[::-1]])[: max(length, size)]
    padded = np.pad(padded, (0, length - len(padded)), mode="edge") if len(padded) < length else padded
    limit = sigma * np.sqrt(2 * np.log(max(2, length)))
    shifts = range(0, length, max(1, length // 16))
    total = np.zeros(length)
    for shift in shifts:
        total += np.roll(_haar_threshold(np.roll(padded, shift), limit), -shift)
    return (total / len(shifts))[:size]


def _haar_threshold(values: Floats, limit: float) -> Floats:
    if len(values) == 1:
        return values
    even, odd = values[0::2], values[1::2]
    sums, gaps = (even + odd) / np.sqrt(2), (even - odd) / np.sqrt(2)
    gaps = np.where(np.abs(gaps) > limit, gaps, 0.0)
    sums = _haar_threshold(sums, limit)
    result = np.empty_like(values)
    result[0::2], result[1::2] = (sums + gaps) / np.sqrt(2), (sums - gaps) / np.sqrt(2)
    return result
