"""Classifiers: twelve kinds, one fixed configuration each, chosen once and never on anyone's test rows."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from pointillist.errors import UsageError

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
TREES = ("decision tree", "AdaBoost", "bagging", "random forest", "gradient boosting", "XGBoost")
"""Those built of trees, which need no scaling of their inputs."""
_NEEDS = {"XGBoost": ("xgboost", "papers"), "CNN": ("torch", "network")}
"""Packages that not everybody has, and the extra that installs each."""


def available(known: Sequence[str] = MODELS) -> tuple[str, ...]:
    """Those whose packages are installed."""
    return tuple(name for name in known if name not in _NEEDS or find_spec(_NEEDS[name][0]) is not None)


def require_models(models: Sequence[str], known: Sequence[str] = MODELS) -> tuple[str, ...]:
    """Refuse names that no classifier has, and those whose package is not installed; the rest in their usual order."""
    if not models:
        raise UsageError(f"models is empty. Models: {', '.join(known)}.")
    for name in models:
        if name not in known:
            raise UsageError(f"model {name!r} is not known. Models: {', '.join(known)}.")
        if name not in available(known):
            raise UsageError(
                f"{name} needs a package that is not installed. Install it with: pip install "
                f"'pointillist[{_NEEDS[name][1]}]', or leave it out with models=."
            )
    return tuple(name for name in known if name in models)


def classifier(model: str, seed: int) -> Any:
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
