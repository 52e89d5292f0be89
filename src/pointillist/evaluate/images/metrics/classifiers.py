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
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.images.reading import at_most, flat, labels_of, require_alike
from pointillist.evaluate.learners.boosting import RealBoosting
from pointillist.evaluate.learners.classifiers import MODELS, require_models
from pointillist.evaluate.learners.papers_settings import build, options_of
from pointillist.evaluate.learners.trained_classifier import UNTRAINABLE, train
from pointillist.files.images import Pictures
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


def classify(
    training: Pictures,
    test: Pictures,
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
    training = at_most(training, most_images, seed=seed)
    found = []
    with threadpool_limits(limits=1):
        for number, model in enumerate(chosen):
            progress("classifiers", number / len(chosen))
            found.append(_result(model, training, test, seed))
    progress("classifiers", 1.0)
    return Results(tuple(found))


def _result(model: str, training: Pictures, test: Pictures, seed: int) -> Result:
    start = time.process_time()
    truth = labels_of(test)
    try:
        predicted = (_by_network if model == CNN else partial(_by_vector, model))(training, test, seed)
        accuracy = float(np.mean(predicted == truth))
    except UNTRAINABLE:
        accuracy = None
    return Result(model, accuracy, len(training), round(time.process_time() - start, 2))


def _by_network(training: Pictures, test: Pictures, seed: int) -> Codes:
    from pointillist.evaluate.images.cnn import train_network

    return train_network(training, seed=seed).predict(test.pixels)


def _by_vector(model: str, training: Pictures, test: Pictures, seed: int) -> Codes:
    trained = train(_maker(model, seed), flat(training), labels_of(training), len(training.classes))
    return trained.predict(flat(test))


def _maker(model: str, seed: int) -> Callable[[Floats, Codes], Any]:
    if model == "AdaBoost":
        return lambda x, y: RealBoosting(rounds=100, rate=1.0, seed=seed)
    (options,) = options_of("images", model, 10)
    if model == "XGBoost":
        options = {**options, "max_depth": 3, "learning_rate": 0.1}
    return lambda x, y: build(model, options, x, y, seed)
