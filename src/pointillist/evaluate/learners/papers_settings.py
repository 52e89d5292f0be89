"""Papers' settings: how the authors configured the twelve classifiers, as their papers and published code tell.

Facts, not recommendations. Only what differs from the library's defaults of their time (scikit-learn 0.22 to 0.24,
XGBoost 1) is listed. Where today's libraries differ, the nearest thing is taken:

- AdaBoost's SAMME.R is gone from scikit-learn; SAMME takes its place.
- A tree's max_features = "auto" meant "sqrt", and is listed once.
- `l1` stands for the L1 penalty, which is written differently from version to version; the liblinear solver takes more
  than two classes only through one-against-rest, as it silently did then.
- XGBoost builds its trees by the exact method, the default then for tables of this size.
"""

import inspect
from importlib import import_module
from typing import Any, Literal

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats

Settings = Literal["dp-merf", "dp-hp", "images"]
Options = dict[str, Any]

_CLASSES = {
    "logistic regression": "sklearn.linear_model.LogisticRegression",
    "Gaussian naive Bayes": "sklearn.naive_bayes.GaussianNB",
    "Bernoulli naive Bayes": "sklearn.naive_bayes.BernoulliNB",
    "linear SVM": "sklearn.svm.LinearSVC",
    "decision tree": "sklearn.tree.DecisionTreeClassifier",
    "LDA": "sklearn.discriminant_analysis.LinearDiscriminantAnalysis",
    "AdaBoost": "sklearn.ensemble.AdaBoostClassifier",
    "bagging": "sklearn.ensemble.BaggingClassifier",
    "random forest": "sklearn.ensemble.RandomForestClassifier",
    "gradient boosting": "sklearn.ensemble.GradientBoostingClassifier",
    "MLP": "sklearn.neural_network.MLPClassifier",
    "XGBoost": "xgboost.XGBClassifier",
}
_OF_THEIR_TIME: dict[str, Options] = {
    "linear SVM": {"dual": True},
    "XGBoost": {"tree_method": "exact", "n_jobs": 1},
}

_DP_MERF: dict[str, tuple[Options, ...]] = {
    "logistic regression": ({"max_iter": 2000},),
    "Bernoulli naive Bayes": ({"alpha": 0.02},),
}
"""DP-MERF's tables: one configuration for each model, nearly all of them defaults."""

_IMAGES: dict[str, tuple[Options, ...]] = {
    "logistic regression": ({"max_iter": 5000},),
    "Bernoulli naive Bayes": ({"binarize": 0.5},),
    "linear SVM": ({"max_iter": 10_000, "tol": 1e-8, "loss": "hinge"},),
    "decision tree": ({"class_weight": "balanced"},),
    "LDA": ({"solver": "eigen", "tol": 1e-8, "shrinkage": 0.5},),
    "AdaBoost": ({"n_estimators": 1000, "learning_rate": 0.7},),
    "bagging": ({"max_samples": 0.1, "n_estimators": 20},),
    "random forest": ({"n_estimators": 100, "class_weight": "balanced"},),
    "gradient boosting": ({"subsample": 0.1, "n_estimators": 50},),
    "XGBoost": ({"colsample_bytree": 0.1, "n_estimators": 50},),
}
"""The image experiments, as DP-HP's Table 10 lists them."""

_HINGE: Options = {"max_iter": 10_000, "tol": 1e-8, "loss": "hinge"}
_LASSO: Options = {"solver": "liblinear", "l1": True, "class_weight": "balanced", "tol": 1e-8}
_ENTROPY: Options = {"criterion": "entropy", "class_weight": "balanced"}

_DP_HP: dict[str, tuple[Options, ...]] = {
    "logistic regression": (
        {},
        {"max_iter": 50_000, "tol": 1e-12},
        {"solver": "saga", "l1": True, "tol": 1e-12},
        {**_LASSO, "C": 0.1},
        {**_LASSO, "C": 0.05},
    ),
    "Gaussian naive Bayes": ({}, {"var_smoothing": 1e-3, "priors": "swapped"}),
    "Bernoulli naive Bayes": ({}, {"alpha": 0.02}, {"alpha": 0.5}, {"binarize": 0.4}, {"binarize": 0.5}),
    "linear SVM": (
        {},
        _HINGE,
        {**_HINGE, "class_weight": "balanced"},
        {**_HINGE, "tol": 1e-12, "C": 0.01},
    ),
    "decision tree": ({}, {**_ENTROPY, "max_features": "log2"}, {**_ENTROPY, "max_features": "sqrt"}),
    "LDA": (
        {},
        {"solver": "eigen", "tol": 1e-12, "shrinkage": "auto"},
        {"solver": "lsqr", "tol": 1e-12, "shrinkage": 0.6},
        {"solver": "lsqr", "tol": 1e-12, "shrinkage": 0.75},
    ),
    "AdaBoost": (
        {},
        {"n_estimators": 100, "learning_rate": 0.8},
        {"n_estimators": 200, "learning_rate": 0.5},
        {"n_estimators": 100, "learning_rate": 0.5},
    ),
    "bagging": ({}, {"max_samples": 0.1, "n_estimators": 20}),
    "random forest": ({}, *({"n_estimators": trees} for trees in (200, 70, 30, 10))),
    "gradient boosting": ({"subsample": 0.1, "n_estimators": 50},),
    "MLP": (
        {},
        {"learning_rate": "adaptive", "alpha": 0.01, "tol": 1e-10},
        {"solver": "lbfgs", "alpha": 0.001, "tol": 1e-8},
        {"solver": "sgd", "alpha": 0.001, "tol": 1e-8},
    ),
    "XGBoost": tuple({"learning_rate": rate} for rate in (0.5, 0.7, 0.8, 1.0)),
}
"""DP-HP's tables with two classes: several configurations for each model, and the best one on the test rows counts."""

_DP_HP_MANY: dict[str, tuple[Options, ...]] = {
    **_DP_HP,
    "Gaussian naive Bayes": tuple(
        {"var_smoothing": width}
        for width in (1e-9, 1e-3, 1e-12, 1e-13, 0.2, 0.5, 0.8, 1.2, 2.0, 10.0, 20.0, 0.34, 0.138, 1e-2)
    ),
    "Bernoulli naive Bayes": (
        {},
        {"alpha": 0.02},
        {"alpha": 0.5},
        {"alpha": 5.0, "binarize": 0.4},
        {"alpha": 10.0, "binarize": 0.05},
        {"binarize": "mean"},
    ),
    "linear SVM": (
        *_DP_HP["linear SVM"],
        {"max_iter": 10_000, "tol": 1e-12, "multi_class": "crammer_singer"},
        {"max_iter": 10_000, "tol": 1e-16, "multi_class": "crammer_singer", "C": 0.1},
        {"max_iter": 20_000, "tol": 1e-16, "loss": "hinge"},
    ),
    "LDA": (*_DP_HP["LDA"], {"solver": "lsqr", "tol": 1e-12, "shrinkage": 0.9}),
    "AdaBoost": (
        *_DP_HP["AdaBoost"],
        {"n_estimators": 100, "learning_rate": 5.0},
        {"n_estimators": 1000, "learning_rate": 5.0},
        {"n_estimators": 1000, "learning_rate": 4.0},
    ),
    "bagging": (*_DP_HP["bagging"], {"n_estimators": 200}, {"n_estimators": 200, "max_features": 10}),
    "gradient boosting": (
        {"subsample": 0.1, "n_estimators": 50},
        {"learning_rate": 0.5, "n_estimators": 100},
        {"learning_rate": 0.5, "n_estimators": 200},
        {},
        *({"subsample": 0.5, "n_estimators": 100, "learning_rate": rate} for rate in (0.05, 0.01, 0.001)),
    ),
    "XGBoost": (*_DP_HP["XGBoost"], {"learning_rate": 5.0}),
}
"""DP-HP's tables with more than two classes."""


def options_of(settings: Settings, model: str, classes: int) -> tuple[Options, ...]:
    """The configurations of one model; an empty one is the library's default."""
    tables = {"dp-merf": _DP_MERF, "dp-hp": _DP_HP if classes == 2 else _DP_HP_MANY, "images": _IMAGES}
    return tables[settings].get(model, ({},))


def build(model: str, options: Options, x: Floats, y: Codes, seed: int) -> Any:
    """A classifier that is not yet trained. A few options depend on the training rows, as they did in the papers."""
    module, _, name = _CLASSES[model].rpartition(".")
    kind = getattr(import_module(module), name)
    chosen = {**_OF_THEIR_TIME.get(model, {}), **options}
    if "random_state" in inspect.signature(kind).parameters or model == "XGBoost":
        chosen["random_state"] = seed
    if chosen.pop("l1", False):
        old = inspect.signature(kind).parameters.get("penalty")
        chosen.update({"penalty": "l1"} if old is not None and old.default == "l2" else {"l1_ratio": 1.0})
    if chosen.get("priors") == "swapped":  # DP-HP gave each of two classes the other one's share
        chosen["priors"] = np.bincount(y)[::-1] / len(y)
    if chosen.get("binarize") == "mean":
        chosen["binarize"] = max(0.0, float(x.mean()))  # a threshold below 0 is no longer allowed
    made = kind(**chosen)
    if chosen.get("solver") == "liblinear" and y.max() > 1:
        from sklearn.multiclass import OneVsRestClassifier

        return OneVsRestClassifier(made)
    return made
