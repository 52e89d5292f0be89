"""Distances: the Fréchet distance between two sets of images, in a named space.

For Gaussians with the sets' means and covariances: |m - m'|² + tr(S + S' - 2 (S S')^½). Divided here by the real images'
total variance tr S, so that it has no unit: 0 is the same, 1 is as far as one grey mean image repeated.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.feature_space import NOT_COMPARABLE, Space, cosines, random_filters
from pointillist.evaluate.images.metric import DISTANCE, METRICS, ImageContext, ImageMetric
from pointillist.evaluate.images.reading import require_alike
from pointillist.evaluate.metric import Result
from pointillist.files.images import Images
from pointillist.pages import count, number
from pointillist.pages.blocks import Table, html
from pointillist.pages.report import Section

MOST_IMAGES = 5_000
"""Of each set; the distance of small sets is too large, so both are cut to one size."""


@dataclass(frozen=True)
class Distance:
    """How far a set of images lies from the real ones."""

    space: str
    value: float
    """Synthetic to real, as a part of the real images' variance."""
    floor: float | None
    """The same for held-out real images: what a second real set of that size shows. None without any."""
    images: int
    """Of each set."""
    note: str = NOT_COMPARABLE

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(frozen=True)
class Distances(Result):
    """One for each space."""

    each: tuple[Distance, ...]

    def to_json(self) -> list[dict[str, Any]]:
        return [one.to_json() for one in self.each]

    def headlines(self) -> dict[str, float]:
        return {f"Fréchet distance in {one.space} ({one.note})": one.value for one in self.each}

    def lines(self) -> tuple[str, ...]:
        return tuple(f"Fréchet distance in {one.space}: {one.value:.4f} ({one.note})." for one in self.each)

    def sections(self) -> tuple[Section, ...]:
        what = html(
            "As a part of the real images' variance in the space named: 0 is the same, 1 is as far as one mean image "
            "repeated. <strong>Relative, not comparable with published FID</strong>, which is taken in a space of its own."
        )
        rows = [
            (f"{one.space} ({one.note})", count(one.images), number(one.value, 4), number(one.floor, 4))
            for one in self.each
        ]
        table = Table.of("space|#images of each|*synthetic to real|#a second real set", rows, "Fréchet distances")
        return (DISTANCE.saying(what, blocks=[table]),)


@METRICS.register("distances", place=60)
class DistancesMetric(ImageMetric[Distances]):
    """How far the sets lie apart."""

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Distances:
        training, test = context.training_and_test
        return Distances(distances(training, synthetic, test, spaces=context.spaces, seed=context.seed))


def distances(
    real: Images,
    synthetic: Images,
    held_out: Images | None = None,
    *,
    spaces: tuple[Space, ...] | None = None,
    most_images: int = MOST_IMAGES,
    seed: int = 0,
) -> tuple[Distance, ...]:
    """One distance for each space; by default low frequencies and random filters."""
    sets = [each for each in (real, synthetic, held_out) if each is not None]
    require_alike(*sets)
    count = min(most_images, *map(len, sets))
    parts = [each.at_most(count, seed=seed).pixels for each in sets]
    found = []
    for space in spaces if spaces is not None else (cosines(), random_filters()):
        truth, *others = (space(pixels) for pixels in parts)
        scale = max(float(truth.var(axis=0).sum()), np.finfo(np.float64).tiny)
        values = [frechet(truth, other) / scale for other in others]
        found.append(Distance(space.name, values[0], values[1] if len(values) > 1 else None, count))
    return tuple(found)


def frechet(first: Floats, second: Floats, *, unbiased: bool = False) -> float:
    """The distance itself, squared as is the custom; with covariances over n, or over n - 1 as in published FID."""
    means = first.mean(axis=0) - second.mean(axis=0)
    one, other = (np.atleast_2d(np.cov(each, rowvar=False, bias=not unbiased)) for each in (first, second))
    root = _root(one)
    shared = np.linalg.eigvalsh(root @ other @ root)
    overlap = np.sqrt(np.maximum(shared, 0.0)).sum()
    return max(0.0, float(means @ means + np.trace(one) + np.trace(other) - 2 * overlap))


def _root(matrix: Floats) -> Floats:
    """The symmetric root of a covariance; rounding errors below zero are zero."""
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)
