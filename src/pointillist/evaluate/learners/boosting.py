"""Boosting: AdaBoost over stumps by SAMME.R, which the papers used and which scikit-learn has dropped.

Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost" (2009), Algorithm 4: every stump votes with the logarithms of its
class shares, and images whose class it finds unlikely weigh more for the next one.
"""

from typing import Any, Self

import numpy as np

from pointillist.evaluate.arrays import Codes, Floats


class RealBoosting:
    """A classifier in scikit-learn's manner. Classes are numbered from 0, none left out."""

    def __init__(self, rounds: int = 100, rate: float = 1.0, seed: int = 0):
        self.rounds, self.rate, self.seed = rounds, rate, seed
        self._stumps: list[Any] = []
        self._classes = 0

    def fit(self, x: Floats, y: Codes) -> Self:
        from sklearn.tree import DecisionTreeClassifier

        inputs = x.astype(np.float32)  # what trees work with: converted once, not once a round
        self._stumps, self._classes = [], int(y.max()) + 1
        coding = np.full((len(y), self._classes), -1 / (self._classes - 1))
        coding[np.arange(len(y)), y] = 1.0
        weights = np.full(len(y), 1 / len(y))
        for number in range(self.rounds):
            stump = DecisionTreeClassifier(max_depth=1, random_state=self.seed + number)
            stump.fit(inputs, y, sample_weight=weights)
            self._stumps.append(stump)
            shares = _above_zero(stump.predict_proba(inputs))
            if (shares.argmax(axis=1) == y).all():
                break  # nothing is left to learn
            step = -self.rate * (self._classes - 1) / self._classes
            weights = weights * np.exp(step * (coding * np.log(shares)).sum(axis=1))
            weights /= weights.sum()
        return self

    def predict(self, x: Floats) -> Codes:
        inputs = x.astype(np.float32)
        votes = np.zeros((len(x), self._classes))
        for stump in self._stumps:
            logs = np.log(_above_zero(stump.predict_proba(inputs)))
            votes += logs - logs.mean(axis=1, keepdims=True)
        return votes.argmax(axis=1)


def _above_zero(shares: Floats) -> Floats:
    return np.maximum(shares, np.finfo(np.float64).eps)
