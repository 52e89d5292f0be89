"""Classifiers: twelve kinds, one fixed configuration each, chosen once and never on anyone's test rows."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pointillist.evaluate.tables import design
from pointillist.evaluate.tables.sample import Codes, Floats, Sample
from pointillist.evaluate.tables.trained import Make

MODELS = (
    "logistic regression",
    "Gaussian naive Bayes",
    "Bernoulli naive Bayes",
    "linear SVM",
    "decision tree",
    "LDA",
    "AdaBoost",
    "bagging",
    "random forest",
    "gradient boosting",
    "MLP",
    "XGBoost",
)
"""The kinds of classifier, in the order of the papers' tables."""

Form = Callable[[Sample, tuple[str, ...], Sample], Floats]
"""From rows, the input columns, and the training rows (which alone may fill gaps) to a model's inputs."""
Recipe = tuple[Form, Make]


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
