"""The honest protocol: the papers' twelve kinds of classifier, one fixed configuration each, scored by their rankings.

Nothing is chosen on the test rows and nothing is undersampled. AUROC and AUPRC are computed from scores, as their names
promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from pointillist.errors import UsageError, without_context
from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.classifiers import MODELS, require_models
from pointillist.evaluate.learners.trained_classifier import TrainedClassifier, ranking_scores
from pointillist.evaluate.research.protocol import Protocol, score_models
from pointillist.evaluate.tables.prediction_task import prediction_task
from pointillist.evaluate.tables.recipes import recipe
from pointillist.progress import Progress, silent
from pointillist.schema import Schema

MEASURES = ("AUROC", "AUPRC")


@dataclass(frozen=True)
class HonestProtocol(Protocol):
    """Score-based AUROC and AUPRC; with more than two classes, means over one class against the rest."""

    protocol: ClassVar[str] = "honest (scores, one configuration per model)"

    chance: dict[str, float]
    """What a model that knows nothing scores, by measure."""

    @property
    def gap(self) -> dict[str, float]:
        """What is lost on average by training on synthetic rows, by measure."""
        return {name: self.mean(name, "real") - self.mean(name) for name in self.measures}

    def kept(self, measure: str) -> float:
        """The part of what real rows gain over chance that synthetic rows keep: 1 as good as real, 0 chance."""
        gain = self.mean(measure, "real") - self.chance[measure]
        if gain <= 0:
            raise UsageError(f"models trained on real rows do not beat chance in {measure}: there is nothing to keep.")
        return (self.mean(measure) - self.chance[measure]) / gain

    def to_json(self) -> dict[str, Any]:
        found = {**super().to_json(), "chance": self.chance}
        return {**found, "gap": self.gap} if "real" in self.means else found


@without_context
def honest_protocol(
    synthetic: Any,
    test: Any,
    schema: Schema,
    target: str,
    *,
    train: Any = None,
    models: Sequence[str] = MODELS,
    seed: int = 0,
    progress: Progress = silent,
) -> HonestProtocol:
    """Train twelve classifiers on synthetic rows, and on `train` beside them; score their rankings of the `test` rows.

    Trees get one number for each column; all others one-hot categories and numbers on their column's scale,
    standardised by the training rows. See `recipe`.
    """
    chosen = require_models(models)
    job = prediction_task(synthetic, test, schema, target, train)

    def judge(model: TrainedClassifier, x: Floats, truth: Codes) -> dict[str, float]:
        return ranking_scores(truth, model.scores(x), job.positive)

    recipes = {name: (recipe(name, seed),) for name in chosen}
    scores, notes = score_models(job, recipes, judge, "honest protocol", progress)
    shares = np.bincount(job.labels(job.test)) / job.test.rows
    return HonestProtocol(
        target=target,
        classes=job.classes,
        positive=job.positive_name,
        rows=job.rows,
        measures=MEASURES,
        scores=scores,
        notes=notes,
        chance={"AUROC": 0.5, "AUPRC": float(np.mean(shares) if job.positive is None else shares[job.positive])},
    )
