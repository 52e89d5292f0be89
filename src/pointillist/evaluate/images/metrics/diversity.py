"""Diversity: whether synthetic images vary as real ones do, which accuracy alone does not show.

Three views: how accuracy grows with the number of synthetic images (where it goes flat, further images only repeat earlier
ones; DP-HP, Fig. 3); precision and recall of neighbourhoods (Kynkäänniemi et al., 2019: the share of synthetic images
inside the real ones' neighbourhoods, and of real images inside the synthetic ones'); the variance within each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.errors import UsageError
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.feature_space import Space, cosines
from pointillist.evaluate.images.metrics.classifiers import MOST_IMAGES, classify
from pointillist.evaluate.images.reading import at_most, flat, labels_of, require_alike, take
from pointillist.files.images import Pictures
from pointillist.progress import Progress, silent

NEIGHBOURS = 3
"""How far a neighbourhood reaches: to the third nearest image, as in the paper."""
MOST_COMPARED = 4_000
"""Of each set; precision and recall depend on the number of images, so both sets are cut to one size."""
SIZES = (100, 300, 1_000, 3_000, 10_000)
CURVE_MODELS = ("logistic regression", "random forest")


@dataclass(frozen=True)
class Point:
    """One classifier after so many images."""

    model: str
    images: int
    synthetic: float | None
    real: float | None
    """Accuracy after as many real images, to see what images of that number can teach; None without any."""


@dataclass(frozen=True)
class Curve:
    """Accuracy against the number of images."""

    points: tuple[Point, ...]

    def of(self, model: str) -> tuple[Point, ...]:
        return tuple(each for each in self.points if each.model == model)

    def enough(self, model: str, tolerance: float = 0.01) -> int:
        """The fewest images from which on the accuracy stays within `tolerance` of that of all."""
        found = [(each.images, each.synthetic) for each in self.of(model) if each.synthetic is not None]
        if not found:
            raise UsageError(f"model {model!r} has no curve here.")
        last, images = found[-1][1], found[-1][0]
        for count, accuracy in reversed(found):
            if accuracy < last - tolerance:
                break
            images = count
        return images


@dataclass(frozen=True)
class Coverage:
    """Precision and recall of neighbourhoods."""

    space: str
    neighbours: int
    images: int
    """Of each set."""
    precision: float
    """The share of synthetic images that lie where real ones do."""
    recall: float
    """The share of real images that lie where synthetic ones do: low where kinds of images are missing."""
    expected_precision: float | None
    expected_recall: float | None
    """The same for held-out real images: what a second real set shows. None without any."""


@dataclass(frozen=True)
class Diversity:
    """All three views."""

    coverage: Coverage
    variances: dict[str, float]
    """For each class the variance of its synthetic images as a part of that of its real ones, over all pixels."""
    curve: Curve | None
    """None for images without labels."""

    def to_json(self) -> dict[str, Any]:
        return {
            "coverage": dict(vars(self.coverage)),
            "variance_ratios": dict(self.variances),
            "curve": None if self.curve is None else [dict(vars(each)) for each in self.curve.points],
        }


def coverage(
    real: Pictures,
    synthetic: Pictures,
    held_out: Pictures | None = None,
    *,
    space: Space | None = None,
    neighbours: int = NEIGHBOURS,
    most_images: int = MOST_COMPARED,
    seed: int = 0,
) -> Coverage:
    """Compare neighbourhoods in a space, by default that of low frequencies."""
    sets = [each for each in (real, synthetic, held_out) if each is not None]
    require_alike(*sets)
    count = min(most_images, *map(len, sets))
    if count <= neighbours:
        raise UsageError(f"{count} images are too few for neighbourhoods of {neighbours}.")
    chosen = cosines() if space is None else space
    truth, *others = (chosen(at_most(each, count, seed=seed).pixels) for each in sets)
    found = [(_inside(other, truth, neighbours), _inside(truth, other, neighbours)) for other in others]
    expected = found[1] if len(found) > 1 else (None, None)
    return Coverage(chosen.name, neighbours, count, *found[0], *expected)


def _inside(points: Floats, others: Floats, neighbours: int) -> float:
    """The share of points that lie within the neighbourhood of at least one of the others."""
    # The nearest of an image's own set is the image itself.
    reach = np.concatenate([np.partition(part, neighbours, axis=1)[:, neighbours] for part in _blocks(others, others)])
    return float(np.mean(np.concatenate([(part <= reach).any(axis=1) for part in _blocks(points, others)])))


def _blocks(points: Floats, others: Floats) -> list[Floats]:
    return [squared_distances(points[start : start + 512], others) for start in range(0, len(points), 512)]


def squared_distances(points: Floats, others: Floats) -> Floats:
    """Between all pairs; rounding errors below zero are zero."""
    sums = (points**2).sum(axis=1)[:, None] + (others**2).sum(axis=1)[None, :]
    return np.maximum(sums - 2 * points @ others.T, 0.0)


def variance_ratios(real: Pictures, synthetic: Pictures) -> dict[str, float]:
    """By class, where both have at least two images of it; under "all images" where there are no labels."""
    require_alike(real, synthetic)
    if real.codes is None or synthetic.codes is None:
        return {"all images": _ratio(real, synthetic)}
    parts = {
        str(name): (take(real, real.codes == code), take(synthetic, synthetic.codes == code))
        for code, name in enumerate(real.classes)
    }
    return {name: _ratio(*pair) for name, pair in parts.items() if min(map(len, pair)) > 1}


def _ratio(real: Pictures, synthetic: Pictures) -> float:
    spread = [float(flat(at_most(each, MOST_IMAGES, seed=0)).var(axis=0).sum()) for each in (real, synthetic)]
    return spread[1] / spread[0] if spread[0] > 0 else float(spread[1] == 0)


def curve(
    synthetic: Pictures,
    test: Pictures,
    real: Pictures | None = None,
    *,
    sizes: Sequence[int] = SIZES,
    models: Sequence[str] = CURVE_MODELS,
    seed: int = 0,
    progress: Progress = silent,
) -> Curve:
    """Train on ever larger parts of the images, each of which holds the one before."""
    labels_of(synthetic)
    most = max(len(synthetic), 0 if real is None else len(real))
    wanted = sorted({min(size, most) for size in sizes if size > 0})
    if not wanted:
        raise UsageError("sizes is empty: name at least one number of images, or leave it out.")
    found: dict[tuple[str, str], dict[int, float | None]] = {}
    for number, size in enumerate(wanted):
        for role, pictures in (("synthetic", synthetic), ("real", real)):
            if pictures is None or (len(pictures) < size and number and len(pictures) <= wanted[number - 1]):
                continue  # no more images than at the last size
            results = classify(pictures, test, models=models, most_images=size, seed=seed)
            for each in results.results:
                found.setdefault((each.model, role), {})[size] = each.accuracy
        progress("curve", (number + 1) / len(wanted))
    points = [
        Point(model, size, *(found.get((model, role), {}).get(size) for role in ("synthetic", "real")))
        for model in dict.fromkeys(name for name, _ in found)
        for size in wanted
    ]
    return Curve(tuple(points))
