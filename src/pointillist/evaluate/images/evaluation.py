"""Evaluation: everything there is to know about a set of synthetic images, beside the real one.

Computed from private images: exact, not differentially private, and for the owner's eyes only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pointillist.errors import PointillistError, UsageError, without_context
from pointillist.evaluate.images.feature_space import Space, cosines
from pointillist.evaluate.images.metrics.classifiers import (
    CLASSIFIERS,
    CNN,
    MOST_IMAGES,
    Results,
    classify,
)
from pointillist.evaluate.images.metrics.copies import Copies, copies
from pointillist.evaluate.images.metrics.distances import Distance, distances
from pointillist.evaluate.images.metrics.diversity import NEIGHBOURS, SIZES, Diversity, coverage, curve, variance_ratios
from pointillist.evaluate.images.reading import at_most, read, take
from pointillist.evaluate.images.verdict import verdict
from pointillist.evaluate.learners.classifiers import available, require_models
from pointillist.evaluate.tables.evaluation import schema_of
from pointillist.evaluate.tables.verdict import Verdict
from pointillist.files.images import Pictures
from pointillist.progress import Progress, silent
from pointillist.release import Release
from pointillist.schema import Schema

if TYPE_CHECKING:
    from pointillist.evaluate.audit import Audit

MODELS = ("logistic regression", "random forest", CNN)
"""What the report trains; all of the papers' classifiers if asked to."""
SHOWN = 16
"""Images of each class on the page."""


@dataclass(frozen=True, eq=False, repr=False)
class PictureEvaluation:
    """The result. `to_html()` is the report, `to_json()` the figures, `table()` the short version."""

    name: str
    images: dict[str, int]
    """Real, synthetic, and those held out or held back."""
    size: tuple[int, int, int]
    """Height, width and channels."""
    label: str | None
    shares: dict[str, tuple[float, float]]
    """By class: of the real images, and of the synthetic ones."""
    samples: dict[str, tuple[Pictures, Pictures]]
    """By class: some real and some synthetic images."""
    classifiers: dict[str, Results]
    """By what they were trained on, "real" or "synthetic"; empty without labels."""
    majority: float
    """Accuracy on the test images of always answering their most frequent class; 0 without labels."""
    diversity: Diversity
    distances: tuple[Distance, ...]
    copies: Copies | None
    """None without images that took no part in the release."""
    release: Release | None
    audit: "Audit | None"
    verdict: Verdict
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<PictureEvaluation of {self.name}: {self.verdict.grade}>"

    def to_json(self) -> dict[str, Any]:
        """All figures as plain values, and no image. Private, like the report."""
        return {
            "private": "computed from private images: exact, not differentially private, for the data owner only",
            "name": self.name,
            "images": self.images,
            "size": list(self.size),
            "label": self.label,
            "shares": {name: list(pair) for name, pair in self.shares.items()},
            "verdict": self.verdict.to_json(),
            "classifiers": {role: each.to_json() for role, each in self.classifiers.items()},
            "majority": self.majority,
            "diversity": self.diversity.to_json(),
            "distances": [each.to_json() for each in self.distances],
            "copies": self.copies and self.copies.to_json(),
            "guarantee": self.release and self.release.guarantee.to_json(),
            "audit": self.audit and self.audit.to_json(),
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        """The headline figures, one row each."""
        facts: dict[str, float] = {
            f"accuracy of {model}, trained on {role}": accuracy
            for role, results in self.classifiers.items()
            for model, accuracy in results.accuracies.items()
        }
        facts |= {"precision": self.diversity.coverage.precision, "recall": self.diversity.coverage.recall}
        facts |= {f"Fréchet distance in {each.space} ({each.note})": each.value for each in self.distances}
        if self.copies is not None:
            facts["nearest to a released image"] = self.copies.nearer
        return pa.table({"measure": list(facts), "value": list(facts.values())})

    def lines(self) -> tuple[str, ...]:
        """What the terminal says beside the verdict."""
        return tuple(f"Fréchet distance in {each.space}: {each.value:.4f} ({each.note})." for each in self.distances)

    def to_html(self) -> str:
        """The report: one page, complete in itself, with real images on it."""
        from pointillist.evaluate.images.report import render

        return render(self)


@without_context
def evaluate_pictures(
    real: Any,
    synthetic: Any,
    schema: Schema | str | Path | None = None,
    *,
    holdout: Any = None,
    release: Release | str | Path | None = None,
    audit: "Audit | None" = None,
    models: Sequence[str] | None = None,
    most_images: int = MOST_IMAGES,
    spaces: tuple[Space, ...] | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> PictureEvaluation:
    """Compare synthetic images with the real ones that they stand for.

    `schema` may be left out where a `release` is given. `holdout` are real images that the release has not seen:
    classifiers are tested on them; without it, on a quarter of the real images. `spaces` are where Fréchet distances are
    taken, such as `Space("name of a network", its features)`.
    """
    if isinstance(release, str | Path):
        release = Release.load(release)
    facts = schema_of(schema, release)
    if audit is not None and release is not None and not audit.matches(release):
        raise UsageError("the audit is not of this release. Make one with: pointillist audit --release …")
    if most_images < 1:
        raise UsageError(f"most_images must be at least 1, not {most_images}.")
    chosen = require_models(available(MODELS) if models is None else models, CLASSIFIERS)
    progress("evaluate", 0.0)
    given = {"real": real, "synthetic": synthetic} | ({} if holdout is None else {"holdout": holdout})
    sets = {role: _read(table, facts, role) for role, table in given.items()}
    truth, made = sets["real"], sets["synthetic"]
    images = {role: len(each) for role, each in sets.items()}
    notes: list[str] = []
    training, test = truth, sets.get("holdout")
    if test is None:
        training, test = _split(truth, seed)
        images["held back"] = len(test)
        notes.append(
            "No holdout was given: classifiers were tested on a quarter of the real images. Those images took part in the "
            "release, which favours images sampled from it by no more than its guarantee allows; and copies of released "
            "images could not be looked for."
        )
    results, majority, grown = _classified(training, made, test, chosen, most_images, seed, progress)
    if not results:
        notes.append("There are no labels, so no classifiers were trained.")
    varied = Diversity(
        coverage(training, made, test, space=_space(facts), neighbours=_reach(training, made, test), seed=seed),
        variance_ratios(truth, made),
        grown,
    )
    progress("evaluate", 0.9)
    copied = None if holdout is None else copies(truth, made, test, seed=seed)
    shares = _shares(truth, made)
    judged = verdict(results, majority, varied.coverage, shares, images, copied)
    far = distances(training, made, test, spaces=spaces, seed=seed)
    progress("evaluate", 1.0)
    return PictureEvaluation(
        name=facts.name,
        images=images,
        size=tuple(truth.pixels.shape[1:]),
        label=facts.label,
        shares=shares,
        samples=_samples(truth, made, seed),
        classifiers=results,
        majority=majority,
        diversity=varied,
        distances=far,
        copies=copied,
        release=release,
        audit=audit,
        verdict=judged,
        notes=tuple(notes),
    )


def _classified(
    training: Pictures,
    made: Pictures,
    test: Pictures,
    models: tuple[str, ...],
    most: int,
    seed: int,
    progress: Progress,
) -> tuple[dict[str, Results], float, Any]:
    """What classifiers learn from either set, and how that grows with the number of images."""
    if test.codes is None:
        return {}, 0.0, None

    def part(start: float, end: float) -> Progress:
        return lambda _, fraction: progress("evaluate", start + fraction * (end - start))

    results = {
        role: classify(pictures, test, models=models, most_images=most, seed=seed, progress=part(*span))
        for role, pictures, span in (("real", training, (0.05, 0.3)), ("synthetic", made, (0.3, 0.55)))
    }
    sizes = [size for size in SIZES if size <= most] or [most]
    grown = curve(made, test, training, sizes=sizes, seed=seed, progress=part(0.55, 0.85))
    return results, float(np.bincount(test.codes).max() / len(test)), grown


def _space(schema: Schema) -> Space:
    assert schema.image is not None
    return cosines(min(10, max(schema.image[1].height, schema.image[1].width)))


def _reach(*sets: Pictures) -> int:
    """Neighbourhoods as in the paper, or as far as few images go."""
    fewest = min(map(len, sets))
    if fewest < 2:
        raise UsageError("at least two images of each set are needed, real, synthetic and held out.")
    return min(NEIGHBOURS, fewest - 1)


def _split(pictures: Pictures, seed: int) -> tuple[Pictures, Pictures]:
    """Images to train on and images to test on."""
    if len(pictures) < 2:
        raise UsageError("one real image is too few to be compared with anything.")
    order = np.random.default_rng(seed).permutation(len(pictures))
    cut = max(1, len(pictures) // 4)
    return take(pictures, np.sort(order[cut:])), take(pictures, np.sort(order[:cut]))


def _shares(real: Pictures, synthetic: Pictures) -> dict[str, tuple[float, float]]:
    if real.codes is None or synthetic.codes is None:
        return {}
    counts = [np.bincount(each, minlength=len(real.classes)) for each in (real.codes, synthetic.codes)]
    pairs = zip(*(each / each.sum() for each in counts), strict=True)
    return {str(name): (float(a), float(b)) for name, (a, b) in zip(real.classes, pairs, strict=True) if a or b}


def _samples(real: Pictures, synthetic: Pictures, seed: int) -> dict[str, tuple[Pictures, Pictures]]:
    if real.codes is None or synthetic.codes is None:
        return {"all images": (at_most(real, 4 * SHOWN, seed=seed), at_most(synthetic, 4 * SHOWN, seed=seed))}
    found = {}
    for code, name in enumerate(real.classes):
        mine, made = (take(each, each.codes == code) for each in (real, synthetic) if each.codes is not None)
        if len(mine) or len(made):
            found[str(name)] = at_most(mine, SHOWN, seed=seed), at_most(made, SHOWN, seed=seed)
    return found


def _read(table: Any, schema: Schema, role: str) -> Pictures:
    try:
        return read(table, schema)
    except PointillistError as error:
        name = str(table) if isinstance(table, str | Path) else str(getattr(table, "name", ""))
        raise type(error)(str(error) if name and name in str(error) else f"the {role} images: {error}") from None
