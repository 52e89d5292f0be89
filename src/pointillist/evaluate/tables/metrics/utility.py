"""Utility: models trained on synthetic rows and tested on real ones, beside the same models trained on real rows.

Scores are computed from predicted probabilities, one fixed configuration for each model, nothing chosen on the test
rows. (The papers' own protocol is another one, in `papers_protocol`.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.trained_classifier import TrainedClassifier, ranking_scores, train
from pointillist.evaluate.tables.design_matrix import gapless, wide
from pointillist.evaluate.tables.prediction_task import (
    PredictionTask,
    inputs_of,
    nothing_to_predict,
    task_of,
    unlearnable,
)
from pointillist.evaluate.tables.recipes import recipe
from pointillist.evaluate.tables.sample import Sample, require_same_columns
from pointillist.progress import Progress, silent

MOST_ROWS = 50_000
"""Models are trained and tested on at most this many rows, drawn at random."""

_CLASSIFY, _REGRESS = ("AUROC", "AUPRC", "F1"), ("R²",)
_CLASSIFIERS = ("logistic regression", "random forest", "gradient boosting")


@dataclass(frozen=True)
class Score:
    """How one model did on the test rows."""

    model: str
    real: dict[str, float]
    """Trained on real rows, by measure."""
    synthetic: dict[str, float]
    """Trained on synthetic rows."""

    @property
    def gap(self) -> dict[str, float]:
        """What is lost by training on synthetic rows."""
        return {name: self.real[name] - self.synthetic[name] for name in self.real}


@dataclass(frozen=True)
class Utility:
    """All models on one target."""

    target: str
    task: str
    """"classification" or "regression"."""
    positive: str | None
    """The class whose scores are reported, where there are two: the rarer one."""
    rows: dict[str, int]
    """Rows used: real, synthetic, test."""
    scores: tuple[Score, ...]
    notes: tuple[str, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        return _CLASSIFY if self.task == "classification" else _REGRESS

    def mean(self, measure: str, trained_on: str) -> float:
        """The mean over models."""
        return float(np.mean([getattr(each, trained_on)[measure] for each in self.scores]))

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "task": self.task,
            "positive": self.positive,
            "rows": self.rows,
            "scores": [{**vars(each), "gap": each.gap} for each in self.scores],
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        rows = [
            {"model": each.model, "measure": name, "real": each.real[name], "synthetic": each.synthetic[name],
             "gap": each.gap[name]}
            for each in self.scores
            for name in self.measures
        ]  # fmt: skip
        return pa.Table.from_pylist(rows)


def utility(
    real: Sample, synthetic: Sample, test: Sample, target: str, *, seed: int = 0, progress: Progress = silent
) -> Utility:
    """Predict `target` from all other columns. `real` are the rows that the test rows are not among."""
    require_same_columns(real, synthetic, test)
    predict = _numbers if real.level(target).numeric else _classes
    real, synthetic, test = (sample.at_most(MOST_ROWS, seed=seed) for sample in (real, synthetic, test))
    return predict(real, synthetic, test, target, seed, progress)


def _classes(real: Sample, synthetic: Sample, test: Sample, target: str, seed: int, progress: Progress) -> Utility:
    job = task_of(synthetic, test, target, real)

    def judge(model: TrainedClassifier, x: Floats, truth: Codes) -> dict[str, float]:
        return {**ranking_scores(truth, model.scores(x), job.positive), "F1": _f1(truth, model.predict(x), job)}

    scores = []
    for number, name in enumerate(_CLASSIFIERS):
        progress("utility", number / len(_CLASSIFIERS))
        form, make = recipe(name, seed)
        found = {}
        for role, sample in job.training.items():
            x = form(sample, job.inputs, sample)
            model = train(make, x, job.labels(sample), len(job.codes))
            found[role] = judge(model, form(job.test, job.inputs, sample), job.labels(job.test))
        scores.append(Score(name, **found))
    progress("utility", 1.0)
    return Utility(target, "classification", job.positive_name, job.rows, tuple(scores), job.notes)


def _f1(truth: Codes, predicted: Codes, job: PredictionTask) -> float:
    """Of the positive class, or the mean over classes."""
    from sklearn.metrics import f1_score

    wanted = [job.positive] if job.positive is not None else range(len(job.codes))
    return float(np.mean([f1_score(truth == each, predicted == each, zero_division=0.0) for each in wanted]))


def _numbers(real: Sample, synthetic: Sample, test: Sample, target: str, seed: int, progress: Progress) -> Utility:
    from sklearn.metrics import r2_score

    columns = inputs_of(real, target)
    samples = {"real": real, "synthetic": synthetic, "test": test}
    samples = {role: sample.take(~sample.missing(target)) for role, sample in samples.items()}
    values = {role: _on_scale(sample, target) for role, sample in samples.items()}
    for role in ("real", "test"):
        if len(np.unique(values[role])) < 2:
            raise nothing_to_predict(samples[role], target, role)
    notes = []
    if len(np.unique(values["synthetic"])) < 2:
        notes.append(unlearnable(samples["synthetic"], target))
    models = _regressors(seed)
    scores = []
    for number, (name, (form, make)) in enumerate(models.items()):
        progress("utility", number / len(models))
        x = form(samples["test"], columns)
        found = {}
        for role in ("real", "synthetic"):
            if not samples[role].rows:
                found[role] = {"R²": 0.0}  # nothing to learn from: no better than a guess
                continue
            model = make().fit(form(samples[role], columns), values[role])
            found[role] = {"R²": float(r2_score(values["test"], model.predict(x)))}
        scores.append(Score(name, **found))
    progress("utility", 1.0)
    rows = {role: sample.rows for role, sample in samples.items()}
    return Utility(target, "regression", None, rows, tuple(scores), tuple(notes))


def _on_scale(sample: Sample, target: str) -> Floats:
    """Numbers on their column's scale."""
    level, values = sample.level(target), sample.values(target)
    return np.log(np.maximum(values, level.bounds[0])) if level.column.scale == "log" else values


def _regressors(seed: int) -> dict[str, tuple[Callable[[Sample, tuple[str, ...]], Floats], Callable[[], Any]]]:
    from sklearn import ensemble, linear_model, pipeline, preprocessing

    return {
        "ridge regression": (
            wide,
            lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.Ridge()),
        ),
        "random forest": (
            gapless,
            lambda: ensemble.RandomForestRegressor(50, min_samples_leaf=5, max_features=1 / 3, random_state=seed),
        ),
        "gradient boosting": (
            gapless,
            lambda: ensemble.HistGradientBoostingRegressor(early_stopping=False, random_state=seed),
        ),
    }
