"""Discriminator: can a classifier tell synthetic rows from real ones, and by which columns?"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.tables.design_matrix import gapless
from pointillist.evaluate.tables.sample import Sample, require_same_columns

MOST_ROWS = 10_000


@dataclass(frozen=True)
class Discriminator:
    """Gradient boosting, trained on one half of the rows of both tables and judged on the other."""

    auroc: float
    """0.5: it cannot tell them apart; 1: it always can."""
    error: float
    """Standard error of the AUROC."""
    rows: int
    """Rows of each table that it saw."""
    columns: dict[str, float]
    """By how much the AUROC falls when a column is shuffled: which columns give the synthetic rows away."""

    def to_json(self) -> dict[str, Any]:
        return dict(vars(self))

    def table(self) -> pa.Table:
        return pa.table({"column": list(self.columns), "importance": list(self.columns.values())})


def discriminator(real: Sample, synthetic: Sample, *, most_rows: int = MOST_ROWS, seed: int = 0) -> Discriminator:
    """Train on equal numbers of rows of both tables."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    require_same_columns(real, synthetic)
    rows = min(real.rows, synthetic.rows, most_rows)
    parts = [real.at_most(rows, seed=seed), synthetic.at_most(rows, seed=seed + 1)]
    x = np.concatenate([gapless(part, real.columns) for part in parts])
    y = np.repeat([0, 1], rows)
    rng = np.random.default_rng(seed)
    order = rng.permutation(2 * rows)
    x, y = x[order], y[order]
    half = rows
    if len(np.unique(y[:half])) < 2 or len(np.unique(y[half:])) < 2:  # a handful of rows
        return Discriminator(0.5, 0.5, rows, dict.fromkeys(real.columns, 0.0))
    model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=seed)
    model.fit(x[:half], y[:half])
    truth = y[half:]

    def auroc(matrix: Floats) -> float:
        return float(roc_auc_score(truth, model.predict_proba(matrix)[:, 1]))

    score = auroc(x[half:])
    importance = {}
    for number, name in enumerate(real.columns):
        shuffled = x[half:].copy()
        shuffled[:, number] = rng.permutation(shuffled[:, number])
        importance[name] = max(0.0, score - auroc(shuffled))
    ranked = dict(sorted(importance.items(), key=lambda each: -each[1]))
    return Discriminator(score, _error(score, int(truth.sum()), int(len(truth) - truth.sum())), rows, ranked)


def _error(auroc: float, ones: int, zeros: int) -> float:
    """Standard error of an AUROC, by the formula of Hanley and McNeil."""
    first, second = auroc / (2 - auroc), 2 * auroc**2 / (1 + auroc)
    variance = auroc * (1 - auroc) + (ones - 1) * (first - auroc**2) + (zeros - 1) * (second - auroc**2)
    return float(np.sqrt(max(0.0, variance) / (ones * zeros)))
