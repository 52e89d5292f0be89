"""Learning curve: how good a classifier gets with more and more synthetic rows (DP-HP, Fig. 3).

Where the curve goes flat, further rows only repeat what earlier ones said. The configurations are those of
`honest_protocol`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.errors import UsageError, without_context
from pointillist.evaluate.learners.classifiers import require_models
from pointillist.evaluate.learners.trained_classifier import UNTRAINABLE, ranking_scores, train
from pointillist.evaluate.tables.prediction_task import PredictionTask, prediction_task
from pointillist.evaluate.tables.recipes import recipe
from pointillist.evaluate.tables.sample import Sample
from pointillist.progress import Progress, silent
from pointillist.schema import Schema

SHARES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
"""The sizes of DP-HP's figure, as parts of the synthetic table."""
_FEWEST = 20


@dataclass(frozen=True)
class Point:
    """One model trained on so many rows: means over repeats, and their standard deviations."""

    model: str
    trained_on: str
    """"synthetic" or "real"."""
    rows: int
    accuracy: float
    accuracy_sd: float
    auroc: float
    auroc_sd: float


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy and AUROC against the number of rows. Each repeat draws other rows and another seed for the model."""

    target: str
    classes: tuple[str, ...]
    repeats: int
    points: tuple[Point, ...]
    """By model, from few rows to many."""
    real: tuple[Point, ...]
    """For each model the line to reach: trained on all real rows. Empty if none were given."""
    majority: float
    """The accuracy of always answering the most frequent class."""
    notes: tuple[str, ...]

    def curve(self, model: str) -> tuple[Point, ...]:
        """One model's points."""
        return tuple(each for each in self.points if each.model == model)

    def enough(self, model: str, tolerance: float = 0.01) -> int:
        """The fewest rows from which on the accuracy stays within `tolerance` of that at the largest size."""
        curve = self.curve(model)
        if not curve:
            raise UsageError(f"model {model!r} has no curve here.")
        rows = curve[-1].rows
        for point in reversed(curve):
            if point.accuracy < curve[-1].accuracy - tolerance:
                break
            rows = point.rows
        return rows

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "classes": list(self.classes),
            "repeats": self.repeats,
            "points": [vars(each) for each in self.points],
            "real": [vars(each) for each in self.real],
            "majority": self.majority,
            "notes": list(self.notes),
        }

    def table(self) -> pa.Table:
        return pa.Table.from_pylist([vars(each) for each in (*self.points, *self.real)])


@without_context
def learning_curve(
    synthetic: Any,
    test: Any,
    schema: Schema,
    target: str,
    *,
    train: Any = None,
    sizes: Sequence[int] | None = None,
    models: Sequence[str] = ("logistic regression", "random forest"),
    repeats: int = 3,
    seed: int = 0,
    progress: Progress = silent,
) -> LearningCurve:
    """Train on random parts of the synthetic rows; test on `test`. Rows of `train`, if given, draw the line to reach."""
    chosen = require_models(models)
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, not {repeats}.")
    job = prediction_task(synthetic, test, schema, target, train)
    wanted = _sizes(sizes, job.synthetic)
    points: list[Point] = []
    real: list[Point] = []
    notes = list(job.notes)
    for number, model in enumerate(chosen):
        for place, rows in enumerate(wanted):
            progress("learning curve", (number + place / len(wanted)) / len(chosen))
            runs = [
                _run(job, job.synthetic.at_most(rows, seed=seed + run), model, seed + run) for run in range(repeats)
            ]
            _add(points, model, "synthetic", rows, runs, notes)
        if job.real is not None:
            runs = [_run(job, job.real, model, seed + run) for run in range(repeats)]
            _add(real, model, "real", job.real.rows, runs, notes)
    progress("learning curve", 1.0)
    majority = float(np.max(np.bincount(job.labels(job.test))) / job.test.rows)
    return LearningCurve(target, job.classes, repeats, tuple(points), tuple(real), majority, tuple(notes))


def _sizes(sizes: Sequence[int] | None, synthetic: Sample) -> list[int]:
    if sizes is None:
        found = {max(min(_FEWEST, synthetic.rows), round(share * synthetic.rows)) for share in SHARES}
        return sorted(found)
    for rows in sizes:
        if not 1 <= rows <= synthetic.rows:
            raise UsageError(
                f"sizes must lie between 1 and the number of synthetic rows with a class, {synthetic.rows}, not {rows}."
            )
    if not sizes:
        raise UsageError("sizes is empty: name at least one number of rows, or leave it out.")
    return sorted(set(sizes))


def _run(job: PredictionTask, sample: Sample, model: str, seed: int) -> tuple[float, float] | None:
    """Accuracy and AUROC, or None if the model cannot be trained on so few rows."""
    form, make = recipe(model, seed)
    truth, x = job.labels(job.test), form(job.test, job.inputs, sample)
    try:
        trained = train(make, form(sample, job.inputs, sample), job.labels(sample), len(job.codes))
        auroc = ranking_scores(truth, trained.scores(x), job.positive)["AUROC"]
        return float(np.mean(trained.predict(x) == truth)), auroc
    except UNTRAINABLE:
        return None


def _add(
    points: list[Point], model: str, role: str, rows: int, runs: list[tuple[float, float] | None], notes: list[str]
) -> None:
    done = np.array([run for run in runs if run is not None])
    if len(done) < len(runs):
        notes.append(
            f"{model} could not be trained in {len(runs) - len(done)} of {len(runs)} runs on {rows} {role} rows."
        )
    if len(done):
        (accuracy, auroc), (accuracy_sd, auroc_sd) = done.mean(axis=0), done.std(axis=0, ddof=min(1, len(done) - 1))
        points.append(Point(model, role, rows, float(accuracy), float(accuracy_sd), float(auroc), float(auroc_sd)))
