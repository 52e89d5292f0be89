"""A trained classifier knows which classes it has seen."""

from typing import Any

import numpy as np
import pytest

from pointillist.evaluate.learners.trained_classifier import ranking_scores, train

X = np.array([[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]])


def tree(x: Any, y: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    assert sorted(set(y)) == list(range(len(set(y))))  # numbered from 0, none left out
    return DecisionTreeClassifier(random_state=0)


def test_classes_that_were_never_seen_are_never_said() -> None:
    found = train(tree, X, np.array([0, 0, 3, 3, 4, 4]), 5)
    assert found.predict(X).tolist() == [0, 0, 3, 3, 4, 4]
    scores = found.scores(X)
    assert scores.shape == (6, 5)
    assert (scores[:, [1, 2]] == 0).all()
    assert scores.argmax(axis=1).tolist() == [0, 0, 3, 3, 4, 4]


def test_one_class_or_none() -> None:
    one = train(tree, X, np.full(6, 2), 3)
    assert one.predict(X).tolist() == [2] * 6
    assert (one.scores(X) == 0).all()
    assert train(tree, X[:0], np.zeros(0, dtype=np.int64), 3).predict(X).tolist() == [-1] * 6


def test_models_without_probabilities_are_ranked_by_their_decisions() -> None:
    from sklearn.svm import LinearSVC

    found = train(lambda x, y: LinearSVC(random_state=0), X, np.array([0, 0, 0, 1, 1, 1]), 2)
    scores = found.scores(X)
    assert np.allclose(scores[:, 0], -scores[:, 1])
    assert (np.diff(scores[:, 1]) > 0).all()


def test_scores_of_rankings() -> None:
    truth = np.array([0, 0, 1, 1])
    perfect = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.1, 0.9]])
    assert ranking_scores(truth, perfect, 1) == {"AUROC": 1.0, "AUPRC": 1.0}
    assert ranking_scores(truth, np.full((4, 2), 0.5), None) == {"AUROC": 0.5, "AUPRC": 0.5}


def test_scores_that_are_no_numbers_are_refused() -> None:
    class Broken:
        def fit(self, x: Any, y: Any) -> "Broken":
            return self

        def predict_proba(self, x: Any) -> Any:
            return np.full((len(x), 2), np.nan)

    with pytest.raises(ValueError, match="not finite"):
        train(lambda x, y: Broken(), X, np.array([0, 0, 0, 1, 1, 1]), 2).scores(X)
