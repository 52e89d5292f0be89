"""Trained classifier: one that knows which classes it has seen."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats

UNTRAINABLE = (ValueError, ArithmeticError, np.linalg.LinAlgError)
"""What libraries raise when a model cannot be trained on the rows at hand."""

Make = Callable[[Floats, Codes], Any]
"""From inputs and labels (numbered from 0, none left out) to a classifier that is not yet trained."""


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """A classifier after training."""

    model: Any
    """None if the rows had a single class: then that class is the answer to everything; without rows nothing is (-1)."""
    present: Codes
    """The classes it has seen."""
    classes: int
    """How many there are, seen or not."""

    def predict(self, x: Floats) -> Codes:
        """One class for each row."""
        if self.model is None:
            return np.full(len(x), self.present[0] if len(self.present) else -1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.present[np.asarray(self.model.predict(x)).astype(np.int64)]

    def scores(self, x: Floats) -> Floats:
        """One score for each row and class, higher for likelier; the same for all rows where the class was never seen."""
        found = np.zeros((len(x), self.classes))
        if self.model is None:
            return found
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if hasattr(self.model, "predict_proba"):
                seen = np.asarray(self.model.predict_proba(x), dtype=np.float64)
            else:
                seen = np.asarray(self.model.decision_function(x), dtype=np.float64)
                if seen.ndim == 1:
                    seen = np.stack([-seen, seen], axis=1)
        if not np.isfinite(seen).all():
            raise ValueError("scores are not finite")
        found[:, self.present] = seen
        return found


def train(make: Make, x: Floats, labels: Codes, classes: int) -> TrainedClassifier:
    """Train on some rows. Warnings are dropped: a fixed recipe that does not converge is scored as it is.

    Raises one of UNTRAINABLE if the library cannot train this model on these rows.
    """
    present, packed = np.unique(labels, return_inverse=True)  # some libraries want labels without holes
    if len(present) < 2:
        return TrainedClassifier(None, present, classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return TrainedClassifier(make(x, packed).fit(x, packed), present, classes)


def ranking_scores(truth: Codes, scores: Floats, positive: int | None) -> dict[str, float]:
    """AUROC and AUPRC of the positive class, or their means over each class against the rest."""
    from sklearn import metrics

    wanted = range(scores.shape[1]) if positive is None else [positive]
    auroc = [metrics.roc_auc_score(truth == each, scores[:, each]) for each in wanted]
    auprc = [metrics.average_precision_score(truth == each, scores[:, each]) for each in wanted]
    return {"AUROC": float(np.mean(auroc)), "AUPRC": min(1.0, float(np.mean(auprc)))}  # sums may end a hair above 1
