"""Image estimate: means and covariances of coefficients by class, out of noisy moments.

Noise is known, so every number is pulled towards what is likely without it by as much as its noise asks for: covariances
between frequencies towards none, a class's covariances towards those of all classes, a class's mean towards the others'.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_BETWEEN_FREQUENCIES = 0.05
"""How large a squared covariance is, typically, as a part of the product of the two variances."""
_BETWEEN_CLASSES = 0.5
"""How far a class's covariances are from those of all classes, typically, in the same units."""
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class Moments:
    """Noisy moments of coefficients around public centres, for each class, with the deviation of their noise."""

    counts: Floats
    means: Floats
    mean_noise: Floats
    """One for each class."""
    squares: Floats
    """(classes, coefficients, coefficients): means of products."""
    square_noise: Floats
    """One for each class, of a square; that of a product of two coefficients is smaller by sqrt 2."""


def estimate(moments: Moments, bands: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Means, less the centres, and covariances for each class."""
    size = moments.means.shape[1]
    squared = np.einsum("ci,cj->cij", moments.means, moments.means)
    covariances = moments.squares - squared + np.eye(size) * (moments.mean_noise**2)[:, None, None]
    weights = moments.counts / max(moments.counts.sum(), 1.0)
    pooled = np.einsum("c,cij->ij", weights, covariances)
    noise = float(np.sqrt(np.sum((weights * moments.square_noise) ** 2)))
    common = _tapered(pooled, noise, bands)
    spectrum, vectors = np.linalg.eigh(common)
    spectrum = np.maximum(spectrum, _LEAST)
    own = [
        _own(covariance, own_noise, spectrum, vectors)
        for covariance, own_noise in zip(covariances, moments.square_noise, strict=True)
    ]
    return moments.means, np.stack(own)


def shrunken_means(means: Floats, noise: Floats, counts: Floats, bands: NDArray[np.int64]) -> Floats:
    """Class means pulled towards the mean of all, band by band: a small class cannot tell its finer features."""
    if len(means) == 1:
        return means
    weights = counts / max(counts.sum(), 1.0)
    centre = weights @ means
    found = np.empty_like(means)
    for band in np.unique(bands):
        own = bands == band
        apart = means[:, own] - centre[own]
        between = max(0.0, float(weights @ (np.mean(apart**2, axis=1) - noise**2)))
        kept = between / np.maximum(between + noise**2, 1e-300)
        found[:, own] = centre[own] + kept[:, None] * apart
    return found


def _tapered(pooled: Floats, noise: float, bands: NDArray[np.int64]) -> Floats:
    """The covariances of all classes: variances pulled towards their band's, products of two coefficients towards 0."""
    variances = np.diag(pooled)
    typical = np.array([max(float(variances[bands == band].mean()), _LEAST) for band in range(bands.max() + 1)])[bands]
    kept = 0.3 * typical**2 / (0.3 * typical**2 + noise**2)
    variances = np.maximum(typical + kept * (variances - typical), 0.1 * typical)
    likely = _BETWEEN_FREQUENCIES * np.outer(variances, variances)
    tapered = pooled * (likely / (likely + noise**2 / 2))
    np.fill_diagonal(tapered, variances)
    return _positive(tapered)


def _own(covariance: Floats, noise: float, spectrum: Floats, vectors: Floats) -> Floats:
    """A class's covariances, pulled towards those of all classes in the directions that these are made of."""
    turned = vectors.T @ covariance @ vectors
    likely = _BETWEEN_CLASSES * np.outer(spectrum, spectrum)
    blurred = noise**2 / 2 * (1 + np.eye(len(spectrum)))
    common = np.diag(spectrum)
    turned = common + likely / (likely + blurred) * (turned - common)
    return np.asarray(vectors @ _positive(turned) @ vectors.T)


def _positive(matrix: Floats) -> Floats:
    """The nearest matrix without negative variances."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
