"""Published: what papers report for MNIST and FashionMNIST at δ = 1e-5, as data, and what we aim at.

Accuracies on the real test images of classifiers trained on synthetic ones. Sources:

- DP-MERF: Harder, Adamczewski and Park, AISTATS 2021, Tables 9 and 10 of the supplement; means of five runs, 60,000
  synthetic images. Columns for real images and for epsilon 1 and 0.2.
- DP-MEPF: Harder, Jalali Asadabadi, Sutherland and Park, 2022, Tables 10 and 11 (both moments; SVHN is public for MNIST,
  CIFAR-10 for FashionMNIST).
- DPImageBench (Gong et al., 2025): by its published code the mean of a ResNet, a wide ResNet and a ResNeXt, 50 epochs each.
  Far larger networks than our CNN: set beside it to show the order of things, not to be compared digit by digit.
"""

from dataclasses import dataclass, field

from pointillist.evaluate.learners.classifiers import MODELS

MEAN, CNN = "mean of 12", "CNN"
LOGISTIC, MLP = "logistic regression", "MLP"
REAL, DP_MERF, DP_MEPF = "real images", "DP-MERF", "DP-MEPF"
BENCH = "DPImageBench"

_ROWS = ("logistic regression", "random forest", "Gaussian naive Bayes", "Bernoulli naive Bayes", "linear SVM",
         "decision tree", "LDA", "AdaBoost", "MLP", "bagging", "gradient boosting", "XGBoost", MEAN)  # fmt: skip
"""In the order of DP-MERF's tables."""
_MERF: dict[str, dict[float | None, tuple[float, ...]]] = {
    "mnist": {
        None: (0.930, 0.969, 0.560, 0.840, 0.920, 0.880, 0.879, 0.729, 0.978, 0.928, 0.909, 0.912, 0.870),
        1.0: (0.769, 0.685, 0.545, 0.750, 0.746, 0.456, 0.793, 0.456, 0.807, 0.602, 0.659, 0.555, 0.652),
        0.2: (0.772, 0.702, 0.539, 0.780, 0.726, 0.346, 0.753, 0.362, 0.768, 0.508, 0.552, 0.509, 0.610),
    },
    "fashion": {
        None: (0.844, 0.875, 0.585, 0.648, 0.839, 0.790, 0.799, 0.561, 0.879, 0.841, 0.834, 0.826, 0.780),
        1.0: (0.728, 0.684, 0.575, 0.604, 0.684, 0.462, 0.733, 0.359, 0.738, 0.593, 0.624, 0.610, 0.616),
        0.2: (0.714, 0.553, 0.467, 0.629, 0.697, 0.352, 0.701, 0.258, 0.696, 0.372, 0.429, 0.445, 0.526),
    },
}
_MEPF = {
    ("mnist", 1.0): (0.825, 0.893),
    ("mnist", 0.2): (0.758, 0.799),
    ("fashion", 1.0): (0.754, 0.747),
    ("fashion", 0.2): (0.725, 0.704),
}
_BENCH = {"DP-MERF": (0.803, 0.622), "DP-Kernel": (0.940, 0.684), "DP-FETA": (0.956, 0.817)}
"""For MNIST and FashionMNIST at epsilon 1."""


@dataclass(frozen=True)
class Figure:
    """One line of one paper's table."""

    dataset: str
    epsilon: float | None
    """None for real images."""
    method: str
    source: str
    scores: dict[str, float] = field(default_factory=dict)
    """By classifier, or under the names of the means."""


def _figures() -> tuple[Figure, ...]:
    found = []
    for dataset, columns in _MERF.items():
        for epsilon, values in columns.items():
            method = REAL if epsilon is None else DP_MERF
            found.append(Figure(dataset, epsilon, method, DP_MERF, dict(zip(_ROWS, values, strict=True))))
    for (dataset, epsilon), pair in _MEPF.items():
        found.append(Figure(dataset, epsilon, DP_MEPF, DP_MEPF, dict(zip((LOGISTIC, MLP), pair, strict=True))))
    for method, pair in _BENCH.items():
        for dataset, accuracy in zip(("mnist", "fashion"), pair, strict=True):
            found.append(Figure(dataset, 1.0, method, BENCH, {CNN: accuracy}))
    return tuple(found)


FIGURES = _figures()

TARGETS: dict[tuple[str, float], dict[str, float]] = {
    ("mnist", 1.0): {MEAN: 0.80, LOGISTIC: 0.87, MLP: 0.92, CNN: 0.940},
    ("mnist", 0.2): {MEAN: 0.74, LOGISTIC: 0.83, MLP: 0.87},
    ("fashion", 1.0): {MEAN: 0.70, LOGISTIC: 0.78, MLP: 0.79, CNN: 0.684},
    ("fashion", 0.2): {MEAN: 0.64, LOGISTIC: 0.74, MLP: 0.74},
}
"""What our best method without public data should reach; for the CNN, DPImageBench's figure of DP-Kernel."""


def figures(dataset: str, epsilon: float | None) -> list[Figure]:
    """What was published for a data set at an epsilon."""
    return [each for each in FIGURES if (each.dataset, each.epsilon) == (dataset, epsilon)]


def merf(dataset: str, epsilon: float | None) -> Figure | None:
    """DP-MERF's column, or that of real images, with all twelve classifiers."""
    mine = [each for each in figures(dataset, epsilon) if each.source == DP_MERF]
    return mine[0] if mine else None


assert set(_ROWS) == {*MODELS, MEAN}
