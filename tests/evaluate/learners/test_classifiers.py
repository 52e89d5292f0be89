"""The twelve kinds of classifier: each can be made, and what cannot be is refused by name."""

import numpy as np
import pytest

from pointillist.errors import UsageError
from pointillist.evaluate.learners import classifiers
from pointillist.evaluate.learners.classifiers import MODELS, available, classifier, require_models
from pointillist.evaluate.learners.trained_classifier import train


@pytest.mark.parametrize("model", MODELS)
def test_every_kind_learns_what_is_plain_to_see(model: str) -> None:
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    x = rng.normal(size=(200, 2)) + 4 * labels[:, None] - 2  # about 0, for the one that cuts there
    found = train(lambda x, y: classifier(model, 0), x, labels, 2)
    assert np.mean(found.predict(x) == labels) > 0.9


def test_names_come_back_in_their_usual_order() -> None:
    assert require_models(["LDA", "decision tree"]) == ("decision tree", "LDA")
    assert require_models(["CNN"], (*MODELS, "CNN")) == ("CNN",)


def test_what_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="empty"):
        require_models([])
    with pytest.raises(UsageError, match=r"'oracle' is not known\. Models: logistic regression"):
        require_models(["oracle"])
    monkeypatch.setattr(classifiers, "find_spec", lambda name: None)
    assert available() == MODELS[:-1]
    with pytest.raises(UsageError, match=r"XGBoost needs .* pip install 'pointillist\[papers\]'"):
        require_models(MODELS)
    with pytest.raises(UsageError, match=r"CNN needs .* pip install 'pointillist\[network\]'"):
        require_models(["CNN"], ("CNN",))
