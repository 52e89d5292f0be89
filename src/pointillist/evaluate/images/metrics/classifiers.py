"""Classifiers: the papers' twelve and a small CNN, trained on some images and tested on others.

The twelve are configured as in DP-MERF's image experiments: those of `papers_settings` (DP-HP's Table 10 lists them), but
for AdaBoost, which DP-MERF gave 100 stumps and no slower rate, and with the defaults of XGBoost 0.90, the version that
DP-HP names: shallower and slower than today's. Pixels are numbers from 0 to 1 and nothing is scaled. The measure is plain
accuracy of predicted classes.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from pointillist.errors import UsageError
from pointillist.evaluate import metric
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.images.metric import METRICS, ImageContext, ImageMetric
from pointillist.evaluate.images.metric import MODELS as SECTION
from pointillist.evaluate.images.reading import flat, labels_of, require_alike
from pointillist.evaluate.learners.boosting import RealBoosting
from pointillist.evaluate.learners.classifiers import MODELS, require_models
from pointillist.evaluate.learners.papers_settings import build, options_of
from pointillist.evaluate.learners.trained_classifier import UNTRAINABLE, train
from pointillist.evaluate.report import GLOSSARY
from pointillist.evaluate.verdict import Point, grade_kept, part_kept
from pointillist.files.images import Images
from pointillist.pages import charts, count, number
from pointillist.pages.blocks import TRAINED_ON, Card, Cards, Items, Table, html
from pointillist.pages.report import Section
from pointillist.progress import Progress, silent

CNN = "CNN"
CLASSIFIERS = (*MODELS, CNN)
"""All that can be trained here; the mean of the papers runs over the first twelve."""
MOST_IMAGES = 10_000
"""The most images that a classifier is trained on here. The papers take all 60,000, at six times the cost."""


@dataclass(frozen=True)
class Result:
    """How one classifier did."""

    model: str
    accuracy: float | None
    """On the test images; None if it could not be trained on these."""
    images: int
    """Trained on so many."""
    cpu_seconds: float


@dataclass(frozen=True)
class Results:
    """All classifiers that were asked for."""

    results: tuple[Result, ...]

    @property
    def accuracies(self) -> dict[str, float]:
        """By classifier, of those that could be trained."""
        return {each.model: each.accuracy for each in self.results if each.accuracy is not None}

    @property
    def mean(self) -> float | None:
        """Over the papers' twelve; None unless all of them were trained."""
        found = self.accuracies
        return float(np.mean([found[model] for model in MODELS])) if all(model in found for model in MODELS) else None

    def to_json(self) -> dict[str, Any]:
        return {"mean_of_twelve": self.mean, "classifiers": [dict(vars(each)) for each in self.results]}


@dataclass(frozen=True)
class Classifiers(metric.Result):
    """What classifiers learn from either set."""

    label: str | None
    results: dict[str, Results]
    """By what they were trained on, "real" or "synthetic"; empty without labels."""
    majority: float
    """Accuracy on the test images of always answering their most frequent class; 0 without labels."""

    def to_json(self) -> dict[str, Any]:
        return {role: each.to_json() for role, each in self.results.items()}

    def figures(self, name: str) -> dict[str, Any]:
        return {name: self.to_json(), "majority": self.majority}

    def headlines(self) -> dict[str, float]:
        return {
            f"accuracy of {model}, trained on {role}": accuracy
            for role, results in self.results.items()
            for model, accuracy in results.accuracies.items()
        }

    def points(self) -> tuple[Point, ...]:
        if not self.results:
            return ()
        real, made = (self.results[role].accuracies for role in ("real", "synthetic"))
        both = [name for name in real if name in made]
        best, found = ((float(np.mean([each[name] for name in both])) if both else 0.0) for each in (real, made))
        kept = part_kept(best, found, self.majority)
        nothing = "" if kept is not None else " So there is nothing that synthetic images could keep."
        return (
            Point(
                "classifiers trained on it",
                grade_kept(kept),
                "–" if kept is None else f"{kept:.0%}",
                f"Classifiers trained on synthetic images name {found:.1%} of the real test images rightly; trained on real "
                f"images, {best:.1%}; the most frequent class alone gives {self.majority:.1%}.{nothing}",
                "accuracy above that of the most frequent class, as a part of what real images give: good from 95 %, fair "
                "from 85 %; unclear where real images give nothing",
            ),
        )

    def sections(self) -> tuple[Section, ...]:
        terms = GLOSSARY.saying(blocks=[Items((_TERM,))])
        if not self.results:
            return (terms,)
        real, made = self.results["real"], self.results["synthetic"]
        what = html(
            "Classifiers that name the <strong>{}</strong> of an image, trained on {} synthetic images, beside the same "
            "classifiers trained on {} real ones; all tested on the same real images. One fixed configuration each; nothing "
            "is chosen on the test images. Always naming the most frequent class gives {}.",
            self.label, count(made.results[0].images), count(real.results[0].images), number(self.majority),
        )  # fmt: skip
        both = [
            (name, accuracy, made.accuracies[name])
            for name, accuracy in real.accuracies.items()
            if name in made.accuracies
        ]
        chart = Card("Accuracy", (charts.scores(both, "Accuracy"),))
        return (
            SECTION.saying(what, blocks=[TRAINED_ON, Cards((chart, Card("", (self._table(),))), "wide-cards")]),
            terms,
        )

    def _table(self) -> Table:
        real, made = self.results["real"], self.results["synthetic"]
        rows = [
            (each.model, number(real.accuracies.get(each.model)), number(each.accuracy), number(each.cpu_seconds, 1))
            for each in made.results
        ]
        if made.mean is not None:
            rows.append(("mean of the papers' twelve", number(real.mean), number(made.mean), ""))
        return Table.of("classifier|#real|*synthetic|#CPU-seconds", rows, "Accuracies")


_TERM = ("Accuracy", "the share of real test images whose class a classifier names rightly.")


@METRICS.register("classifiers", place=40)
class ClassifiersMetric(ImageMetric[Classifiers]):
    """Classifiers trained on either set."""

    cost = 10

    def compute(self, real: Images, synthetic: Images, context: ImageContext) -> Classifiers:
        training, test = context.training_and_test
        if test.codes is None:
            return Classifiers(None, {}, 0.0)

        def part(start: float) -> Progress:
            return lambda _, fraction: context.report(start + fraction / 2)

        results = {
            role: classify(
                images,
                test,
                models=context.models,
                most_images=context.most_images,
                seed=context.seed,
                progress=part(start),
            )
            for role, images, start in (("real", training, 0.0), ("synthetic", synthetic, 0.5))
        }
        return Classifiers(context.schema.label, results, float(np.bincount(test.codes).max() / len(test)))

    def notes(self, found: Classifiers | None, context: ImageContext) -> tuple[str, ...]:
        return () if found is not None and found.results else ("There are no labels, so no classifiers were trained.",)


def classify(
    training: Images,
    test: Images,
    *,
    models: Sequence[str] = CLASSIFIERS,
    most_images: int = MOST_IMAGES,
    seed: int = 0,
    progress: Progress = silent,
) -> Results:
    """Train each classifier on at most `most_images` of the images, and test it on all test images."""
    chosen = require_models(models, CLASSIFIERS)
    require_alike(training, test)
    if not len(test):
        raise UsageError("there are no test images.")
    training = training.at_most(most_images, seed=seed)
    found = []
    with threadpool_limits(limits=1):
        for number, model in enumerate(chosen):
            progress("classifiers", number / len(chosen))
            found.append(_result(model, training, test, seed))
    progress("classifiers", 1.0)
    return Results(tuple(found))


def _result(model: str, training: Images, test: Images, seed: int) -> Result:
    start = time.process_time()
    truth = labels_of(test)
    try:
        predicted = (_by_network if model == CNN else partial(_by_vector, model))(training, test, seed)
        accuracy = float(np.mean(predicted == truth))
    except UNTRAINABLE:
        accuracy = None
    return Result(model, accuracy, len(training), round(time.process_time() - start, 2))


def _by_network(training: Images, test: Images, seed: int) -> Codes:
    from pointillist.evaluate.images.cnn import train_network

    return train_network(training, seed=seed).predict(test.pixels)


def _by_vector(model: str, training: Images, test: Images, seed: int) -> Codes:
    trained = train(_maker(model, seed), flat(training), labels_of(training), len(training.classes))
    return trained.predict(flat(test))


def _maker(model: str, seed: int) -> Callable[[Floats, Codes], Any]:
    if model == "AdaBoost":
        return lambda x, y: RealBoosting(rounds=100, rate=1.0, seed=seed)
    (options,) = options_of("images", model, 10)
    if model == "XGBoost":
        options = {**options, "max_depth": 3, "learning_rate": 0.1}
    return lambda x, y: build(model, options, x, y, seed)
