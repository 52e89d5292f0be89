"""Moments: means and covariances of coefficients, out of noisy moments.

Noise is known, so every number is pulled towards what is likely without it by as much as its noise asks for: covariances
between frequencies towards none, a class's covariances towards those of all classes, a class's mean towards the others', a
kind's mean to where it lies in its class by what was known before.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dctn

Floats = NDArray[np.float64]
Bands = NDArray[np.int64]

_BETWEEN_FREQUENCIES = 0.05
"""How large a squared covariance is, typically, as a part of the product of the two variances."""
_BETWEEN_CLASSES = 0.5
"""How far a class's covariances are from those of all classes, in the same units: more than is typical. What is left of the
noise makes images more varied in directions that nobody measured, and classifiers learn more from such images."""
_BETWEEN_SPREADS = 0.2
"""How far a class's scale is from that of all classes, typically."""
_SCALES = (0.5, 3.0)
_LEFT_OUT = 0.004
"""Frequencies that are not measured may hold this part of what classes' mean images differ by."""
_LEAST = 1e-6


@dataclass(frozen=True, eq=False)
class KindSums:
    """Noisy sums for the kinds of every class, of coefficients around public centres; each array is by class and kind."""

    centres: Floats
    """(classes, kinds, coefficients)."""
    counts: Floats
    """Images of a kind, none below what noise hides."""
    means: Floats
    """Mean coefficients less the centre."""
    noise: Floats
    """The deviation of the noise on these means."""

    @property
    def shares(self) -> Floats:
        """Of a class's kinds."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @property
    def class_means(self) -> Floats:
        return np.asarray(np.einsum("cj,cjk->ck", self.shares, self.centres + self.means))

    @property
    def class_noise(self) -> Floats:
        return np.asarray(np.sqrt(np.sum((self.shares * self.noise) ** 2, axis=1)))

    def covariances(self, products: Floats) -> Floats:
        """Around the kinds' means, for each class, from the mean products of two coefficients around the centres."""
        size = products.shape[1]
        squares = np.einsum("cj,cjk,cjl->ckl", self.shares, self.means, self.means)
        blur = np.sum(self.shares * self.noise**2, axis=1)  # what noise adds to squares of means, on average
        return np.asarray(products - squares + np.eye(size) * blur[:, None, None])

    def denoised(self, class_means: Floats, class_noise: Floats, bands: Bands) -> tuple[Floats, Floats]:
        """Means by class and kind, with the deviation of what noise is left, given better means of the classes.

        Before kinds were measured, they were taken to lie around the class's mean as their centres do. How far they really
        are from there is told band by band, over all kinds, from what is larger than the noise.
        """
        expected = self.centres - np.einsum("cj,cjk->ck", self.shares, self.centres)[:, None, :]
        apart = self.centres + self.means - self.class_means[:, None, :] - expected
        weights = self.counts / self.counts.sum()
        left = np.zeros_like(self.noise)
        for band in np.unique(bands):
            own = bands == band
            found = np.mean(apart[:, :, own] ** 2, axis=2) - self.noise**2
            between = max(0.0, float(np.sum(weights * found)))
            kept = between / np.maximum(between + self.noise**2, 1e-300)
            apart[:, :, own] *= kept[:, :, None]
            left += kept * self.noise**2 * (own.sum() / len(bands))
        return class_means[:, None, :] + expected + apart, np.sqrt(class_noise[:, None] ** 2 + left)


def covariances(noisy: Floats, noise: Floats, counts: Floats, bands: Bands) -> Floats:
    """For each class. `noise` is the deviation of a variance's noise; that of a covariance of two is smaller by sqrt 2."""
    weights = counts / max(counts.sum(), 1.0)
    pooled = np.einsum("c,cij->ij", weights, noisy)
    common = _tapered(pooled, float(np.sqrt(np.sum((weights * noise) ** 2))), bands)
    spectrum, vectors = np.linalg.eigh(common)
    spectrum = np.maximum(spectrum, _LEAST)
    return np.stack([_own(each, own, spectrum, vectors) for each, own in zip(noisy, noise, strict=True)])


def averaged(one: Floats, one_noise: Floats, other: Floats, other_noise: Floats) -> tuple[Floats, Floats]:
    """Two measurements of each class's mean as one, weighed by their noise; and its noise."""
    kept = one_noise**2 / (one_noise**2 + other_noise**2)
    return one + kept[:, None] * (other - one), np.sqrt(1 / (1 / one_noise**2 + 1 / other_noise**2))


def shrunken_means(means: Floats, noise: Floats, counts: Floats, bands: Bands) -> Floats:
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


def scales(wanted: Floats, noise: Floats, found: Floats, counts: Floats) -> Floats:
    """For each class, by how much its variances must be multiplied so that they add up to the wanted ones.

    Deviations are shortened before they are added up, and fine frequencies are not measured at all: both take variance away.
    """
    weights = counts / max(counts.sum(), 1.0)
    found = np.maximum(found, _LEAST)
    common = float(weights @ wanted) / float(weights @ found)
    own = wanted / found
    likely = (_BETWEEN_SPREADS * common) ** 2
    kept = likely / np.maximum(likely + (noise / found) ** 2, 1e-300)
    return np.asarray(np.clip(common + kept * (own - common), *_SCALES))


def needed_frequencies(images: Floats, noise: float, counts: Floats, fewest: int, most: int) -> int:
    """How many frequencies hold nearly all that classes' mean images differ by, as far as the noise lets it be told.

    `images` are noisy means, `noise` is the deviation of a pixel of the sums that they come from. Differences of sums have
    the same noise for every class; a class of few images has little weight.
    """
    shares = counts / counts.sum()
    sums = shares[:, None, None] * (images.mean(axis=3) - np.einsum("c,cyxk->yx", shares, images) / images.shape[3])
    noise_squared = (noise / counts.sum()) ** 2 / images.shape[3]
    blurred = noise_squared * float(np.sum(1 - 2 * shares + len(shares) * shares**2))
    energy = np.sum(dctn(sums, axes=(1, 2), norm="ortho") ** 2, axis=0) - blurred
    finest = np.maximum(*np.indices(energy.shape))
    for number in range(fewest, most):
        outside = energy[finest >= number]
        chance = blurred * math.sqrt(2 * len(outside) / max(1, len(shares) - 1))
        if outside.sum() - chance <= _LEFT_OUT * max(energy.sum(), 0.0):
            return number
    return most


def _tapered(pooled: Floats, noise: float, bands: Bands) -> Floats:
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
