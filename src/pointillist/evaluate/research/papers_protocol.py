"""The papers' protocol: twelve classifiers, hard predictions. For comparing with the papers' tables, and nothing else.

What the papers call "ROC" and "PRC" is computed from predicted classes, not from scores. So `hard_roc` is balanced
accuracy, `hard_prc` is made of a single point of the precision-recall curve, and neither is an area that anyone else
would report under that name. For an honest account use `honest_protocol`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, get_args

import numpy as np

from pointillist.errors import UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.classifiers import MODELS, require_models
from pointillist.evaluate.learners.papers_settings import Settings, build, options_of
from pointillist.evaluate.learners.trained_classifier import TrainedClassifier
from pointillist.evaluate.research.protocol import Protocol, score_models
from pointillist.evaluate.tables.design_matrix import narrow
from pointillist.evaluate.tables.prediction_task import prediction_task
from pointillist.evaluate.tables.sample import Sample
from pointillist.progress import Progress, silent
from pointillist.schema import Schema

TWO_CLASSES, MANY_CLASSES = ("hard_roc", "hard_prc"), ("hard_f1", "hard_accuracy")


@dataclass(frozen=True)
class PapersProtocol(Protocol):
    """Hard-label scores. `hard_roc` and `hard_prc` for two classes; weighted `hard_f1` and `hard_accuracy` for more."""

    protocol: ClassVar[str] = "papers (hard predictions)"

    settings: Settings
    """Whose settings: "dp-merf" for tables, "dp-hp" for tables with the best of several on the test rows, "images"."""

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "settings": self.settings}


@without_context
def papers_protocol(
    synthetic: Any,
    test: Any,
    schema: Schema,
    target: str,
    *,
    train: Any = None,
    settings: Settings = "dp-merf",
    models: Sequence[str] = MODELS,
    seed: int = 0,
    progress: Progress = silent,
) -> PapersProtocol:
    """Train the papers' classifiers on synthetic rows, and on `train` beside them; score hard predictions on `test`.

    Inputs are one raw number for each column, as in the papers: values unscaled, categories as level numbers (in which
    missing is a level), dates in days from their lowest. The papers' data had hardly any gaps; a missing number gets
    the median of the training rows. The papers average five runs: call this once for each synthetic table.
    """
    if settings not in get_args(Settings):
        raise UsageError(f"settings {settings!r} are not known. Settings: {', '.join(get_args(Settings))}.")
    chosen = require_models(models)
    job = prediction_task(synthetic, test, schema, target, train)

    def make(model: str, options: dict[str, Any], x: Floats, y: Codes) -> Any:
        return build(model, options, x, y, seed)

    recipes = {
        model: tuple(
            (raw_inputs, partial(make, model, options)) for options in options_of(settings, model, len(job.codes))
        )
        for model in chosen
    }

    def judge(model: TrainedClassifier, x: Floats, truth: Codes) -> dict[str, float]:
        return hard_scores(truth, model.predict(x), job.positive)

    scores, notes = score_models(job, recipes, judge, "papers' protocol", progress)
    if settings == "dp-hp":
        notes += (
            "each score is the best of several configurations on the test rows, as in DP-HP: too good to be true.",
        )
    return PapersProtocol(
        target=target,
        classes=job.classes,
        positive=job.positive_name,
        rows=job.rows,
        measures=MANY_CLASSES if job.positive is None else TWO_CLASSES,
        scores=scores,
        notes=notes,
        settings=settings,
    )


def hard_scores(truth: Codes, predicted: Codes, positive: int | None) -> dict[str, float]:
    """The papers' measures. `positive` is one of two classes, or None if there are more."""
    from sklearn import metrics

    if positive is None:
        f1 = metrics.f1_score(truth, predicted, average="weighted", zero_division=0.0)
        return {"hard_f1": float(f1), "hard_accuracy": float(np.mean(truth == predicted))}
    right, said = truth == positive, (predicted == positive).astype(np.float64)
    return {
        "hard_roc": float(metrics.roc_auc_score(right, said)),
        "hard_prc": float(metrics.average_precision_score(right, said)),
    }


def raw_inputs(sample: Sample, columns: tuple[str, ...], training: Sample) -> Floats:
    """One raw number for each column, gaps filled with the median of the training rows."""
    found, known = narrow(sample, columns), narrow(training, columns)
    for number, name in enumerate(columns):
        each = sample.level(name)
        gaps = np.isnan(found[:, number])
        if gaps.any():
            values = known[~np.isnan(known[:, number]), number]
            found[gaps, number] = np.median(values) if len(values) else sum(each.bounds) / 2
        if each.numeric:
            found[:, number] = each.column.raw(found[:, number])
    return found
