"""Diversity: whether synthetic images vary as real ones do, which accuracy alone does not show.

Three views: how accuracy grows with the number of synthetic images (where it goes flat, further images only repeat earlier
ones; DP-HP, Fig. 3); precision and recall of neighbourhoods (Kynkäänniemi et al., 2019: the share of synthetic images
inside the real ones' neighbourhoods, and of real images inside the synthetic ones'); the variance within each class.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from pointillist.errors import UsageError
from pointillist.evaluate import metric, verdict
from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.images.feature_space import Space, cosines
from pointillist.evaluate.images.metric import DIVERSITY, METRICS, MOST_CLASSES, ImageContext, ImageMetric
from pointillist.evaluate.images.metrics.classifiers import MOST_IMAGES, classify
from pointillist.evaluate.images.reading import flat, labels_of, require_alike
from pointillist.evaluate.report import GLOSSARY
from pointillist.files.images import Images
from pointillist.pages import charts, count, share
from pointillist.pages.blocks import Card, Cards, Items, Text, html
from pointillist.pages.report import Section
from pointillist.progress import Progress, silent

NEIGHBOURS = 3
"""How far a neighbourhood reaches: to the third nearest image, as in the paper."""
MOST_COMPARED = 4_000
"""Of each set; precision and recall depend on the number of images, so both sets are cut to one size."""
SIZES = (100, 300, 1_000, 3_000, 10_000)
CURVE_MODELS = ("logistic regression", "random forest")
_FEW = 200
"""With fewer images of each set, neighbourhoods say little."""


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
        for many, accuracy in reversed(found):
            if accuracy < last - tolerance:
                break
            images = many
        return images

    def cards(self) -> list[Card]:
        """A chart for each classifier."""
        found = []
        for model in dict.fromkeys(each.model for each in self.points):
            rows = [
                (f"{each.images:,} images", each.real, each.synthetic)
                for each in self.of(model)
                if each.real is not None and each.synthetic is not None
            ]
            if rows:
                title = f"{model[0].upper()}{model[1:]}: accuracy by number of images"
                found.append(Card(title, (charts.scores(rows, f"Accuracy of {model}"),)))
        return found


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

    def points(self) -> tuple[verdict.Point, ...]:
        """Likeness by precision, variety by recall."""
        likeness = "of the synthetic images lie where real images lie (precision)"
        variety = "of the real images lie where synthetic images lie (recall)"
        return (
            self._point("likeness of images", self.precision, self.expected_precision, likeness),
            self._point("variety of images", self.recall, self.expected_recall, variety),
        )

    def _point(self, question: str, found: float, expected: float | None, words: str) -> verdict.Point:
        kept = None if not expected else round(min(1.0, found / expected), 2)
        second = "" if expected is None else f"; a second real set would show {expected:.0%}"
        return verdict.Point(
            question,
            verdict.UNCLEAR if kept is None or self.images < _FEW else verdict.grade(1 - kept, 0.3, 0.6),
            f"{found:.0%}",
            f"{found:.0%} {words}{second}. {self.images:,} images of each set were compared.",
            f"as a part of what a second real set shows: good from 70 %, fair from 40 %; unclear below {_FEW} images",
        )

    def sentence(self) -> Markup:
        """Both, for the page."""
        second = ["" if each is None else share(each) for each in (self.expected_precision, self.expected_recall)]
        return html(
            "In the space of {}, with neighbourhoods that reach to the {}. nearest image and {} images of each set: "
            "<strong>{}</strong> of the synthetic images lie where real ones do (precision{}), and <strong>{}</strong> of "
            "the real images lie where synthetic ones do (recall{}).",
            self.space, self.neighbours, count(self.images), share(self.precision),
            f"; of a second real set {second[0]}" if second[0] else "", share(self.recall),
            f"; {second[1]}" if second[1] else "",
        )  # fmt: skip


@dataclass(frozen=True)
class Diversity(metric.Result):
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

    def headlines(self) -> dict[str, float]:
        return {"precision": self.coverage.precision, "recall": self.coverage.recall}

    def points(self) -> tuple[verdict.Point, ...]:
        return self.coverage.points()

    def sections(self) -> tuple[Section, ...]:
        rows = list(self.variances.items())[:MOST_CLASSES]
        text = ", ".join(f"{name} {value:.2f}" for name, value in rows)
        chart = charts.amounts(rows, f"Variance of synthetic images as a part of that of real ones: {text}")
        within = Card(
            f"Variance within {'the set' if self.curve is None else 'each class'}",
            (
                Text(
                    "Of the synthetic images, as a part of that of the real ones: 1 is alike, less is too uniform, more is "
                    "too loose or too noisy.",
                    "soft tight",
                ),
                chart,
            ),
        )
        drawn = [] if self.curve is None else self.curve.cards()
        return (
            DIVERSITY.saying(self.coverage.sentence(), blocks=[Cards((*drawn, within))]),
            GLOSSARY.saying(blocks=[Items(_TERMS)]),
        )


_TERMS = (
    (
        "Precision, recall",
        "of neighbourhoods. Images that look real but are all alike have high precision and low recall.",
    ),
    (
        "Accuracy by number of images",
        "where it goes flat, further synthetic images only repeat what earlier ones taught.",
    ),
)


@METRICS.register("diversity", place=50)
class DiversityMetric(ImageMetric[Diversity]):
    """Whether synthetic images vary as real ones do."""

    cost = 8

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Diversity:
        training, test = context.training_and_test
        fewest = min(map(len, (training, synthetic, test)))
        if fewest < 2:
            raise UsageError("at least two images of each set are needed, real, synthetic and held out.")
        return Diversity(
            coverage(
                training,
                synthetic,
                test,
                space=cosines(min(10, max(real.pixels.shape[1:3]))),
                neighbours=min(NEIGHBOURS, fewest - 1),  # as in the paper, or as far as few images go
                seed=context.seed,
            ),
            variance_ratios(real, synthetic),
            None if test.codes is None else self._curve(training, synthetic, test, context),
        )

    def _curve(self, training: Images, synthetic: Images, test: Images, context: ImageContext) -> Curve:
        most = context.most_images
        sizes = [size for size in SIZES if size <= most] or [most]
        return curve(
            synthetic, test, training, sizes=sizes, seed=context.seed, progress=lambda _, done: context.report(done)
        )


def coverage(
    real: Images,
    synthetic: Images,
    held_out: Images | None = None,
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
    truth, *others = (chosen(each.at_most(count, seed=seed).pixels) for each in sets)
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


def variance_ratios(real: Images, synthetic: Images) -> dict[str, float]:
    """By class, where both have at least two images of it; under "all images" where there are no labels."""
    require_alike(real, synthetic)
    if real.codes is None or synthetic.codes is None:
        return {"all images": _ratio(real, synthetic)}
    parts = {
        str(name): (real.part(real.codes == code), synthetic.part(synthetic.codes == code))
        for code, name in enumerate(real.classes)
    }
    return {name: _ratio(*pair) for name, pair in parts.items() if min(map(len, pair)) > 1}


def _ratio(real: Images, synthetic: Images) -> float:
    spread = [float(flat(each.at_most(MOST_IMAGES, seed=0)).var(axis=0).sum()) for each in (real, synthetic)]
    return spread[1] / spread[0] if spread[0] > 0 else float(spread[1] == 0)


def curve(
    synthetic: Images,
    test: Images,
    real: Images | None = None,
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
        for role, images in (("synthetic", synthetic), ("real", real)):
            if images is None or (len(images) < size and number and len(images) <= wanted[number - 1]):
                continue  # no more images than at the last size
            results = classify(images, test, models=models, most_images=size, seed=seed)
            for each in results.results:
                found.setdefault((each.model, role), {})[size] = each.accuracy
        progress("curve", (number + 1) / len(wanted))
    points = [
        Point(model, size, *(found.get((model, role), {}).get(size) for role in ("synthetic", "real")))
        for model in dict.fromkeys(name for name, _ in found)
        for size in wanted
    ]
    return Curve(tuple(points))
