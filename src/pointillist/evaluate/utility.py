"""Utility: models trained on synthetic rows and tested on real ones, beside the same models trained on real rows.

Scores are computed from predicted probabilities, one fixed configuration for each model, nothing chosen on the test
rows. (The papers' own protocol is another one, in `papers_protocol`.)
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError, UsageError
from pointillist.evaluate.design import gapless, wide
from pointillist.evaluate.sample import Floats, Sample, require_same_columns
from pointillist.progress import Progress, silent

MOST_ROWS = 50_000
"""Models are trained and tested on at most this many rows, drawn at random."""

_CLASSIFY, _REGRESS = ("AUROC", "AUPRC", "F1"), ("R²",)


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
    level = real.level(target)
    columns = tuple(name for name in real.columns if name != target)
    if not columns:
        raise UsageError("a target is predicted from the other columns, and there are none.")
    samples = {"real": real, "synthetic": synthetic, "test": test}
    samples = {
        role: s.take(~s.missing(target)).at_most(MOST_ROWS, seed=seed) if s.missing(target).any() else
        s.at_most(MOST_ROWS, seed=seed)
        for role, s in samples.items()
    }  # fmt: skip
    labels = {role: _labels(s, target) for role, s in samples.items()}
    for role in ("real", "test"):
        if len(np.unique(labels[role])) < 2:
            raise DataError(
                f"{samples[role].name}: target {target!r} takes fewer than two values among the {role} rows, so there "
                "is nothing to predict. Choose another target."
            )
    notes = []
    if not len(labels["synthetic"]):
        notes.append(f"{target} is missing in every row of the synthetic table: no model can learn it from there.")
    elif len(np.unique(labels["synthetic"])) < 2:
        notes.append(f"{target} is constant in the synthetic table: no model can learn it from there.")
    if level.numeric:
        task, positive, judge = "regression", None, _judge_numbers
    else:
        task, judge = "classification", _judge_classes
        classes, counts = np.unique(np.concatenate([labels["real"], labels["test"]]), return_counts=True)
        positive = level.label(int(classes[np.argmin(counts)])) if len(classes) == 2 else None
        absent = [level.label(int(c)) for c in classes if c not in labels["synthetic"]]
        if absent and not notes:
            notes.append(f"the synthetic table has no rows with {target} = {', '.join(absent)}.")
    models = _models(task, seed)
    scores = []
    for number, (name, (form, make)) in enumerate(models.items()):
        progress("utility", number / len(models))
        matrices = {role: form(s, columns) for role, s in samples.items()}
        found = {
            role: judge(make, matrices[role], labels[role], matrices["test"], labels["test"], labels["real"])
            for role in ("real", "synthetic")
        }
        scores.append(Score(name, **found))
    progress("utility", 1.0)
    rows = {role: s.rows for role, s in samples.items()}
    return Utility(target, task, positive, rows, tuple(scores), tuple(notes))


def _labels(sample: Sample, target: str) -> NDArray[Any]:
    """Classes as level numbers; numbers as positions on their column's scale."""
    level = sample.level(target)
    if not level.numeric:
        return sample.codes(target)
    values = sample.values(target)
    return np.log(np.maximum(values, level.bounds[0])) if level.column.scale == "log" else values


Form = Callable[[Sample, tuple[str, ...]], Floats]
Make = Callable[[], Any]


def _models(task: str, seed: int) -> dict[str, tuple[Form, Make]]:
    from sklearn import ensemble, linear_model, pipeline, preprocessing

    def boosted(make: Callable[..., Any]) -> Any:  # "auto" would be another model above 10,000 rows than below
        return make(early_stopping=False, random_state=seed)

    def scaled(model: Any) -> Any:
        return pipeline.make_pipeline(preprocessing.StandardScaler(), model)

    if task == "classification":
        return {
            "logistic regression": (wide, lambda: scaled(linear_model.LogisticRegression(max_iter=300))),
            "random forest": (
                gapless,
                lambda: ensemble.RandomForestClassifier(100, min_samples_leaf=3, random_state=seed),
            ),
            "gradient boosting": (gapless, lambda: boosted(ensemble.HistGradientBoostingClassifier)),
        }
    return {
        "ridge regression": (wide, lambda: scaled(linear_model.Ridge())),
        "random forest": (
            gapless,
            lambda: ensemble.RandomForestRegressor(50, min_samples_leaf=5, max_features=1 / 3, random_state=seed),
        ),
        "gradient boosting": (gapless, lambda: boosted(ensemble.HistGradientBoostingRegressor)),
    }


def _judge_numbers(make: Make, x: Floats, y: Any, test: Floats, truth: Any, known: Any) -> dict[str, float]:
    from sklearn import metrics

    if not len(y):
        return {"R²": 0.0}  # nothing to learn from: no better than a guess
    model = make().fit(x, y)
    return {"R²": float(metrics.r2_score(truth, model.predict(test)))}


def _judge_classes(make: Make, x: Floats, y: Any, test: Floats, truth: Any, known: Any) -> dict[str, float]:
    from sklearn import metrics

    classes, counts = np.unique(np.concatenate([known, truth]), return_counts=True)
    chances = _chances(make, x, y, test, classes)
    predicted = classes[np.argmax(chances, axis=1)]
    if len(classes) == 2:
        rare = int(np.argmin(counts))
        is_rare = truth == classes[rare]
        return {
            "AUROC": float(metrics.roc_auc_score(is_rare, chances[:, rare])),
            "AUPRC": float(metrics.average_precision_score(is_rare, chances[:, rare])),
            "F1": float(metrics.f1_score(is_rare, predicted == classes[rare], zero_division=0.0)),
        }
    present = [i for i, each in enumerate(classes) if 0 < np.count_nonzero(truth == each) < len(truth)]
    return {
        "AUROC": float(np.mean([metrics.roc_auc_score(truth == classes[i], chances[:, i]) for i in present])),
        "AUPRC": float(np.mean([metrics.average_precision_score(truth == classes[i], chances[:, i]) for i in present])),
        "F1": float(metrics.f1_score(truth, predicted, average="macro", labels=classes[present], zero_division=0.0)),
    }


def _chances(make: Make, x: Floats, y: Any, test: Floats, classes: NDArray[Any]) -> Floats:
    """Predicted probabilities, a column for each of `classes`; 0 for a class that the model never saw."""
    found = np.zeros((len(test), len(classes)))
    usable = np.isin(y, classes)  # a class that real rows never have cannot be right
    x, y = x[usable], y[usable]
    if len(np.unique(y)) < 2:
        found[:, np.isin(classes, y)] = 1.0
        return found
    model = make().fit(x, y)
    found[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(test)
    return found
