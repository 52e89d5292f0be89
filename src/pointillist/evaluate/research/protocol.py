"""Protocol: twelve classifiers trained on synthetic rows, tested on real ones. What the two protocols share.

`papers_protocol` scores hard predictions as the papers do; `honest_protocol` scores rankings. Their results are of
different types and their measures have different names, so that no mean can run over both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from pointillist.errors import DataError, UsageError
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.classifiers import MODELS
from pointillist.evaluate.learners.trained_classifier import UNTRAINABLE, TrainedClassifier, train
from pointillist.evaluate.tables.prediction_task import PredictionTask
from pointillist.evaluate.tables.recipes import Recipe
from pointillist.evaluate.tables.sample import Sample
from pointillist.progress import Progress

Role = Literal["synthetic", "real"]


@dataclass(frozen=True)
class ModelScore:
    """How one kind of model did on the test rows, by measure. Empty: not trained on that table, or not trainable."""

    model: str
    synthetic: dict[str, float]
    real: dict[str, float]


@dataclass(frozen=True)
class Protocol:
    """The scores of all models on one target."""

    protocol: ClassVar[str]
    """Which protocol this is, in words; goes wherever the numbers go."""

    target: str
    classes: tuple[str, ...]
    positive: str | None
    """Of two classes the one that counts as positive: the rarer one among the test rows."""
    rows: dict[str, int]
    """Rows used, by role."""
    measures: tuple[str, ...]
    scores: tuple[ModelScore, ...]
    notes: tuple[str, ...]

    @property
    def complete(self) -> bool:
        """Whether all twelve models were trained: only then may the mean be set beside another table's mean."""
        found = {each.model for each in self.scores if each.synthetic}
        return found == set(MODELS)

    def mean(self, measure: str, trained_on: Role = "synthetic") -> float:
        """The mean over the models that could be trained."""
        if measure not in self.measures:
            raise UsageError(f"{measure!r} is no measure of this protocol. It has {', '.join(self.measures)}.")
        found = [getattr(each, trained_on)[measure] for each in self.scores if getattr(each, trained_on)]
        if not found:
            raise UsageError(f"no model was trained on {trained_on} rows. For the real ones, pass train=.")
        return float(np.mean(found))

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """All means, by table and measure."""
        roles: tuple[Role, ...] = ("synthetic", "real")
        return {
            role: {measure: self.mean(measure, role) for measure in self.measures}
            for role in roles
            if any(getattr(each, role) for each in self.scores)
        }

    def to_json(self) -> dict[str, Any]:
        return {
            "protocol": self.protocol,
            "target": self.target,
            "classes": list(self.classes),
            "positive": self.positive,
            "rows": self.rows,
            "scores": [vars(each) for each in self.scores],
            "means": self.means,
            "complete": self.complete,
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        """One row for each model, and the mean at the end."""
        means = self.means
        last = ModelScore("mean", means["synthetic"], means.get("real", {}))
        roles = [role for role in ("synthetic", "real") if role in self.rows]
        columns: dict[str, Any] = {"model": [each.model for each in (*self.scores, last)]}
        for measure in self.measures:
            for role in roles:
                values = [getattr(each, role).get(measure) for each in (*self.scores, last)]
                columns[f"{measure} ({role})"] = pa.array(values, pa.float64())
        return pa.table(columns)


Judge = Callable[[TrainedClassifier, Floats, Codes], dict[str, float]]
"""From a trained model, test inputs and test labels to measures."""


def score_models(
    task: PredictionTask, recipes: Mapping[str, tuple[Recipe, ...]], judge: Judge, step: str, progress: Progress
) -> tuple[tuple[ModelScore, ...], tuple[str, ...]]:
    """Score every model, and say which could not be trained. Of several recipes each measure keeps its best."""
    scores, notes, done = [], [], 0
    total = sum(map(len, recipes.values())) * len(task.training)
    for model, choices in recipes.items():
        found: dict[str, dict[str, float]] = {"synthetic": {}, "real": {}}
        for role, sample in task.training.items():
            for recipe in choices:
                progress(step, done / total)
                done += 1
                for measure, value in _score(task, sample, recipe, judge).items():
                    found[role][measure] = max(value, found[role].get(measure, value))
            if not found[role]:
                notes.append(f"{model} could not be trained on the {role} rows and is left out of their mean.")
        scores.append(ModelScore(model, **found))
    progress(step, 1.0)
    if not any(each.synthetic for each in scores):
        raise DataError(f"{task.synthetic.name}: no model could be trained on the synthetic rows. Are there enough?")
    return tuple(scores), (*task.notes, *notes)


def _score(task: PredictionTask, sample: Sample, recipe: Recipe, judge: Judge) -> dict[str, float]:
    form, make = recipe
    try:
        model = train(make, form(sample, task.inputs, sample), task.labels(sample), len(task.codes))
        return judge(model, form(task.test, task.inputs, sample), task.labels(task.test))
    except UNTRAINABLE:
        return {}
