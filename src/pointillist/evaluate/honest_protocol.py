"""The honest protocol: the papers' twelve kinds of classifier, one fixed configuration each, scored by their rankings.

Nothing is chosen on the test rows and nothing is undersampled. AUROC and AUPRC are computed from scores, as their names
promise.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from pointillist.errors import UsageError, without_context
from pointillist.evaluate import design
from pointillist.evaluate.protocol import MODELS, Form, Protocol, Recipe, require_models, score_models
from pointillist.evaluate.sample import Codes, Floats, Sample
from pointillist.evaluate.task import task
from pointillist.evaluate.trained import Trained
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
    job = task(synthetic, test, schema, target, train)

    def judge(model: Trained, x: Floats, truth: Codes) -> dict[str, float]:
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


def ranking_scores(truth: Codes, scores: Floats, positive: int | None) -> dict[str, float]:
    """AUROC and AUPRC of the positive class, or their means over each class against the rest."""
    from sklearn import metrics

    wanted = range(scores.shape[1]) if positive is None else [positive]
    auroc = [metrics.roc_auc_score(truth == each, scores[:, each]) for each in wanted]
    auprc = [metrics.average_precision_score(truth == each, scores[:, each]) for each in wanted]
    return {"AUROC": float(np.mean(auroc)), "AUPRC": min(1.0, float(np.mean(auprc)))}  # sums may end a hair above 1


def recipe(model: str, seed: int) -> Recipe:
    """A model's inputs and its one configuration."""
    return (_FORMS.get(model, _wide), partial(_build, model, seed))


def _wide(sample: Sample, columns: tuple[str, ...], training: Sample) -> Floats:
    return design.wide(sample, columns)


def _gapless(sample: Sample, columns: tuple[str, ...], training: Sample) -> Floats:
    return design.gapless(sample, columns)


_FORMS: dict[str, Form] = dict.fromkeys(
    ("decision tree", "AdaBoost", "bagging", "random forest", "gradient boosting", "XGBoost"), _gapless
)


def _build(model: str, seed: int, x: Floats, y: Codes) -> Any:
    from sklearn import pipeline, preprocessing

    made = _classifier(model, seed)
    return made if model in _FORMS else pipeline.make_pipeline(preprocessing.StandardScaler(), made)


def _classifier(model: str, seed: int) -> Any:
    """Plain choices, made once and never on test rows; leaves of a few rows, so that trees have scores to rank by."""
    from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes, neural_network, svm, tree

    match model:
        case "logistic regression":
            return linear_model.LogisticRegression(max_iter=1000)
        case "Gaussian naive Bayes":
            return naive_bayes.GaussianNB(var_smoothing=1e-3)
        case "Bernoulli naive Bayes":
            return naive_bayes.BernoulliNB()  # above the mean or not
        case "linear SVM":
            return svm.LinearSVC(dual=False, random_state=seed)
        case "decision tree":
            return tree.DecisionTreeClassifier(min_samples_leaf=20, random_state=seed)
        case "LDA":
            return discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        case "AdaBoost":
            return ensemble.AdaBoostClassifier(n_estimators=100, random_state=seed)
        case "bagging":
            leafy = tree.DecisionTreeClassifier(min_samples_leaf=5)
            return ensemble.BaggingClassifier(leafy, n_estimators=30, random_state=seed)
        case "random forest":
            return ensemble.RandomForestClassifier(n_estimators=100, min_samples_leaf=3, random_state=seed)
        case "gradient boosting":
            return ensemble.HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
        case "MLP":
            return neural_network.MLPClassifier((64,), alpha=1e-3, max_iter=50, random_state=seed)
        case _:
            import xgboost

            return xgboost.XGBClassifier(n_estimators=100, learning_rate=0.1, n_jobs=1, random_state=seed)
