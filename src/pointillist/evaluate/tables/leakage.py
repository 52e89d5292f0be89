"""Leakage: a column that gives the target away. Models that may look at it learn little else, and all of them do well."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.trained_classifier import ranking_scores
from pointillist.evaluate.tables.cells import Cells, cells
from pointillist.evaluate.tables.sample import Sample

_AWAY = {"AUROC": 0.98, "R²": 0.95}
"""A column that alone reaches this score gives the target away. (Parts of equal mass lose some of a long tail's R².)"""
_MOST_CLASSES = 20
_ROWS_A_PART = 5
"""A target changes at some value of the column: the parts around it should be narrow."""


@dataclass(frozen=True)
class Leak:
    """A column that alone predicts the target."""

    column: str
    measure: str
    score: float
    """On real rows that it was not learnt from."""


def leaks(training: Sample, test: Sample, target: str) -> tuple[Leak, ...]:
    """The columns that give the target away in real rows, the clearest first."""
    numeric = training.level(target).numeric
    both = np.intersect1d(training.codes(target), test.codes(target))
    if numeric:
        training, test = (sample.take(~sample.missing(target)) for sample in (training, test))
    else:
        both = both[both < training.level(target).regular]
        training, test = (sample.take(np.isin(sample.codes(target), both)) for sample in (training, test))
    if min(training.rows, test.rows) < 2 or len(both) < 2 or not (numeric or len(both) <= _MOST_CLASSES):
        return ()
    if numeric:
        measure = "R²"
        score = partial(_explained, values=training.values(target), truth=test.values(target))
    else:
        measure = "AUROC"
        labels, truth = (np.searchsorted(both, sample.codes(target)) for sample in (training, test))
        score = partial(_ranked, labels=labels, truth=truth, classes=len(both))
    inputs = [name for name in training.columns if name != target]
    found = [Leak(name, measure, score(cells(training, test, name, rows=_ROWS_A_PART))) for name in inputs]
    return tuple(sorted((each for each in found if each.score >= _AWAY[measure]), key=lambda each: -each.score))


def _ranked(compared: Cells, *, labels: Codes, truth: Codes, classes: int) -> float:
    """How well shares of classes by cell rank the test rows."""
    counts = np.zeros((compared.size, classes))
    np.add.at(counts, (compared.real, labels), 1.0)
    overall = counts.sum(axis=0) / counts.sum()
    shares = (counts + overall) / (counts.sum(axis=1, keepdims=True) + 1)
    return ranking_scores(truth, shares[compared.synthetic], 1 if classes == 2 else None)["AUROC"]


def _explained(compared: Cells, *, values: Floats, truth: Floats) -> float:
    """How much of the target's variance its mean by cell explains."""
    counts = np.bincount(compared.real, minlength=compared.size)
    sums = np.bincount(compared.real, weights=values, minlength=compared.size)
    guessed = ((sums + values.mean()) / (counts + 1))[compared.synthetic]
    total = float(np.square(truth - truth.mean()).sum())
    return 1 - float(np.square(truth - guessed).sum()) / total if total > 0 else 0.0
