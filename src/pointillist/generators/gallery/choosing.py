"""Choosing: which public images stand for a class, given noisy sums of where private ones lie.

Private images of a class are taken for a Gaussian cloud around their mean, all clouds of one shape. Then the logarithm of
how much likelier a class is at a place is linear in the place (a linear discriminant), and the images of the gallery where
a class is likeliest beside the others stand for it. The shape comes from one second moment for all classes: where its
eigenvalues sink into the noise they are raised to the noise's edge, or what is noise would count for much.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from pointillist.features.images.gallery import GalleryMoments
from pointillist.release import Measurement

Floats = NDArray[np.float64]

_FEW = 4.0
"""Classes of fewer images than so many deviations of the noise are not seen: their mean is that of all."""

_MOST_RIDGE, _LEAST_RIDGE = 100.0, 1e-5


@dataclass(frozen=True, eq=False)
class GallerySums:
    """What a release tells of where private images lie."""

    rows: float
    """All images."""
    counts: Floats
    """Images of each class, noisy."""
    means: Floats
    """Of each class; that of all images where a class is hidden by the noise."""
    mean_noise: Floats
    """For each class the deviation of the noise on each coordinate of its mean."""
    second: Floats
    """The mean of z z^T over all images."""
    edge: float
    """The largest eigenvalue that noise alone gives the second moment, or nearly so."""

    @classmethod
    def of(cls, measurement: Measurement, moments: GalleryMoments, rows: float | None) -> "GallerySums":
        """As the first three blocks of a measurement hold them."""
        means, counted, squares = [block for block, _ in zip(measurement.blocks(), range(3), strict=False)]
        size = moments.point.dimension
        sums = (means.values / means.scale).reshape(-1, size)
        counts, noise = counted.values / counted.added, means.sigma / means.scale
        rows = max(1.0, float(counts.sum())) if rows is None else rows
        seen = counts > max(1.0, _FEW * counted.sigma / counted.added)
        divided = np.where(seen, counts, 1.0)
        found = sums / divided[:, None]
        found[~seen] = sums.sum(axis=0) / rows
        own = np.where(seen, noise / divided, noise * math.sqrt(len(counts)) / rows)
        second = moments.squares.matrices(squares.values / squares.scale) / rows
        # A symmetric matrix of noise, of deviation s off the diagonal, has its largest eigenvalue at 2 s sqrt(size).
        edge = 2 * math.sqrt(size / 2) * squares.sigma / squares.scale / rows
        return cls(rows, counts, found, own, second, edge)

    @property
    def shares(self) -> Floats:
        """Of the classes."""
        counts = np.maximum(self.counts, 0.0)
        return np.asarray(counts / counts.sum()) if counts.sum() > 0 else np.full(len(counts), 1 / len(counts))

    def within(self) -> Floats:
        """How images of a class vary around its mean, with eigenvalues no lower than the noise's edge."""
        between = (self.means.T * self.shares) @ self.means
        between -= np.eye(len(between)) * float(self.shares @ self.mean_noise**2)
        values, vectors = np.linalg.eigh(self.second - between)
        least = max(self.edge, 1e-3 / len(values))
        return np.asarray((vectors * np.maximum(values, least)) @ vectors.T)

    def scores(self, units: Floats) -> Floats:
        """For each image at `units` and each class: the logarithm of the chance that it is of the class."""
        slopes = np.linalg.solve(self.within(), self.means.T)
        # Noise makes a mean longer in the measure of the within-class shape; what it adds on average is taken off.
        longer = np.trace(np.linalg.inv(self.within())) * self.mean_noise**2
        found = units @ slopes - 0.5 * (np.einsum("ck,kc->c", self.means, slopes) - longer)
        found -= found.max(axis=1, keepdims=True)
        return np.asarray(found - np.log(np.exp(found).sum(axis=1, keepdims=True)))


def best(scores: Floats, number: int) -> NDArray[np.int64]:
    """For each class the images that are likeliest to be of it, the likeliest first; the first of those that are alike."""
    return np.argsort(-scores, axis=0, kind="stable")[:number].T


def tilted(units: Floats, mean: Floats, noise: float) -> Floats:
    """Weights of images, as even as can be, under which their mean is as near to a noisy one as its noise warrants.

    The weights are exp(<t, z>) up to a factor, with the t for which log(mean of exp(<t, z>)) - <t, mean> + r |t|^2 / 2 is
    least: a convex function. The mean then misses the noisy one by r t, and r falls until that is no longer than the noise.
    """
    slope, ridge = np.zeros(units.shape[1]), _MOST_RIDGE
    while ridge > _LEAST_RIDGE:
        slope = minimize(_tilt, slope, (units, mean, ridge), method="L-BFGS-B", jac=True, options={"maxiter": 100}).x
        if ridge * float(np.linalg.norm(slope)) <= noise * math.sqrt(len(mean)):
            break
        ridge /= 4
    powers = units @ slope
    weights = np.exp(powers - powers.max())
    return np.asarray(weights / weights.sum())


def _tilt(slope: Floats, units: Floats, mean: Floats, ridge: float) -> tuple[float, Floats]:
    """The function that `tilted` makes least, and its gradient."""
    powers = units @ slope
    top = float(powers.max())
    weights = np.exp(powers - top)
    total = float(weights.sum())
    value = top + math.log(total / len(units)) - float(slope @ mean) + 0.5 * ridge * float(slope @ slope)
    return value, np.asarray(units.T @ (weights / total) - mean + ridge * slope)


def reach(units: Floats, chosen: NDArray[np.int64], weights: Floats, sums: GallerySums) -> Floats:
    """How far towards what sets a class apart its chosen images lie, as a part of how far private ones do.

    Deviations from the mean of all classes count: what all private images have in common and no public one has, such as
    their blur, says nothing of classes. Near 1: the gallery has images as typical of the class as its own are. Near 0: it
    has nothing of the kind. Noise that makes a mean longer is taken off.
    """
    if len(chosen) == 1:
        return np.ones(1)
    private = sums.means - sums.shares @ sums.means
    public = np.stack([own @ units[members] for own, members in zip(weights, chosen, strict=True)])
    public -= sums.shares @ public
    squared = np.einsum("ck,ck->c", private, private)
    least = private.shape[1] * sums.mean_noise**2
    found = np.einsum("ck,ck->c", public, private) / np.maximum(squared, 1e-12)
    return np.asarray(np.where(squared > 2 * least, found * squared / np.maximum(squared - least, 1e-12), found))
