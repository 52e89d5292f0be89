"""Chosen: the images of a gallery that stand for each class, given what was measured."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.features.images.gallery import GalleryMoments
from pointillist.features.images.public_gallery import PublicGallery
from pointillist.features.images.spectrum import ImageSpectrum
from pointillist.generators.gallery.choosing import GallerySums, best, reach, tilted
from pointillist.generators.gallery.sharpness import filtered, gains, mean_logarithms
from pointillist.release import Measurement

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Chosen:
    """Images, and which of them stand for which class."""

    images: NDArray[np.uint8]
    """All of the gallery, filtered if that was asked for."""
    members: NDArray[np.int64]
    """For each class the numbers of its images."""
    weights: Floats
    """For each class how often each of them is drawn, in parts of 1."""
    counts: Floats
    """Private images of each class, noisy."""
    reach: Floats
    """For each class how far its images go towards its mean, as a part of how far private ones do."""

    @classmethod
    def of(
        cls, first: Measurement, gallery: PublicGallery, rows: float | None, number: int, *, sharpness: bool
    ) -> Self:
        """By discriminants where there are classes, `number` images for each; without, all images by weights.

        `rows` is the number of private images, if it is known better than by their noisy counts.
        """
        moments = next(part for part in _nested(first) if isinstance(part, GalleryMoments))
        sums = GallerySums.of(first, moments, rows)
        if len(sums.means) > 1:
            members = best(sums.scores(gallery.units), number)
            weights = np.full(members.shape, 1 / members.shape[1])
        else:
            members = np.arange(len(gallery.units))[None]
            weights = tilted(gallery.units, sums.means[0], float(sums.mean_noise[0]))[None]
        images = gallery.images.pixels
        if sharpness:
            images = _sharpened(first, images, members, weights, sums.rows)
        return cls(images, members, weights, sums.counts, reach(gallery.units, members, weights, sums))


def _nested(first: Measurement) -> list[object]:
    return [part for each in first.feature_map.parts for part in (each, *each.parts)]


def _sharpened(
    first: Measurement, images: NDArray[np.uint8], members: NDArray[np.int64], weights: Floats, rows: float
) -> NDArray[np.uint8]:
    """The gallery filtered so that the chosen images have the private spectrum."""
    for block in first.blocks():
        if isinstance(block.map, ImageSpectrum):
            spectrum = block.map
            wanted = spectrum.logarithms(block.values / block.scale / rows)
            steps = spectrum.logarithms(np.array([1.0, 0.0]))
            noise = block.sigma / block.scale / rows * float(steps[0] - steps[1])
            used, numbered = np.unique(members, return_inverse=True)
            shares = np.bincount(numbered.ravel(), weights.ravel(), len(used))
            found = mean_logarithms(spectrum, images[used], shares / shares.sum())
            return filtered(images, spectrum, gains(wanted, found, noise))
    return images
