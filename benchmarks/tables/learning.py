"""Learning: what models learn from a table about its target, tested on real rows that nobody trained on.

The same models and rows as in the report's `utility`, which trains on real rows each time, too; here every table is
learnt from once.
"""

from collections.abc import Sequence

import numpy as np

from pointillist.evaluate.arrays import Codes
from pointillist.evaluate.learners.trained_classifier import ranking_scores, train
from pointillist.evaluate.tables.metrics.utility import MOST_ROWS
from pointillist.evaluate.tables.prediction_task import PredictionTask, task_of
from pointillist.evaluate.tables.recipes import recipe
from pointillist.evaluate.tables.sample import Sample

MODELS = ("logistic regression", "random forest", "gradient boosting")
FAST = ("logistic regression", "gradient boosting")
Scores = dict[str, float]


def learn(
    rows: Sample, test: Sample, target: str, models: Sequence[str] = MODELS
) -> tuple[dict[str, Scores], tuple[str, ...]]:
    """The scores of each model by measure, and what a reader has to know about the rows."""
    task = task_of(rows.at_most(MOST_ROWS, seed=0), test.at_most(MOST_ROWS, seed=0), target)
    truth, found = task.labels(task.test), {}
    for name in models:
        form, make = recipe(name, 0)
        model = train(
            make, form(task.synthetic, task.inputs, task.synthetic), task.labels(task.synthetic), len(task.codes)
        )
        x = form(task.test, task.inputs, task.synthetic)
        predicted = model.predict(x)
        found[name] = {
            **ranking_scores(truth, model.scores(x), task.positive),
            "F1": _f1(truth, predicted, task),
            "accuracy": float(np.mean(truth == predicted)),
        }
    return found, task.notes


def accuracy_by_cells(rows: Sample, test: Sample, target: str, columns: Sequence[str]) -> float:
    """How often the commonest class among the rows with the same values of some columns is right about the test rows.

    For parities, which models that look at one column at a time find with luck only.
    """
    sizes = [rows.level(name).size for name in columns]
    cells = [np.ravel_multi_index([each.codes(name) for name in columns], sizes) for each in (rows, test)]
    counts = np.zeros((int(np.prod(sizes)), rows.level(target).size))
    np.add.at(counts, (cells[0], rows.codes(target)), 1)
    return float(np.mean(counts.argmax(axis=1)[cells[1]] == test.codes(target)))


def _f1(truth: Codes, predicted: Codes, task: PredictionTask) -> float:
    """Of the positive class, or the mean over classes."""
    from sklearn.metrics import f1_score

    wanted = range(len(task.codes)) if task.positive is None else [task.positive]
    return float(np.mean([f1_score(truth == each, predicted == each, zero_division=0.0) for each in wanted]))
