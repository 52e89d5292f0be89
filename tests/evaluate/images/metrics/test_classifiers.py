"""The papers' classifiers and the CNN: they learn what there is to learn, by the settings of the papers."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images.metrics.classifiers import CLASSIFIERS, classify
from pointillist.evaluate.learners import classifiers
from pointillist.evaluate.learners.classifiers import MODELS

Bars = Callable[..., pt.Images]


def test_all_of_them_learn_where_the_bar_stands(bars: Bars) -> None:
    found = classify(bars(400, 1), bars(300, 2))
    assert [each.model for each in found.results] == list(CLASSIFIERS)
    # A classifier that always names one class is right for at most 40 % of 300 images (five deviations above a third).
    assert all(accuracy > 0.8 for accuracy in found.accuracies.values()), found.accuracies
    assert found.mean == pytest.approx(np.mean([found.accuracies[model] for model in MODELS]))
    assert all(each.cpu_seconds >= 0 and each.images == 400 for each in found.results)


def test_labels_that_say_nothing_teach_nothing(bars: Bars) -> None:
    training = bars(600, 1)
    shuffled = pt.Images(training.pixels, np.random.default_rng(0).permutation(training.codes), training.classes)
    found = classify(shuffled, bars(600, 2), models=["logistic regression", "CNN"])
    assert all(accuracy < 0.6 for accuracy in found.accuracies.values())


def test_no_more_images_than_asked_for(bars: Bars) -> None:
    found = classify(bars(300, 1), bars(100, 2), models=["LDA"], most_images=120)
    assert found.results[0].images == 120
    assert found.mean is None  # of twelve, one was trained


def test_one_class_alone_is_the_answer_to_everything(bars: Bars) -> None:
    training, test = bars(200, 1), bars(200, 2)
    assert training.codes is not None
    assert test.codes is not None
    found = classify(training.part(training.codes == 1), test, models=["logistic regression", "AdaBoost", "CNN"])
    share = float(np.mean(test.codes == 1))
    assert found.accuracies == {"logistic regression": share, "AdaBoost": share, "CNN": share}


def test_a_class_that_was_never_drawn_is_never_named(bars: Bars) -> None:
    training, test = bars(300, 1), bars(200, 2)
    assert training.codes is not None
    assert test.codes is not None
    models = ["Gaussian naive Bayes", "AdaBoost", "XGBoost", "CNN"]
    found = classify(training.part(training.codes != 0), test, models=models)
    assert all(0.5 * np.mean(test.codes != 0) < a <= np.mean(test.codes != 0) for a in found.accuracies.values())


def test_the_seed_decides(bars: Bars) -> None:
    # Few and noisy images, so that nothing is learnt by heart.
    training, test = bars(60, 1, noise=90.0), bars(400, 2, noise=90.0)
    runs = [classify(training, test, models=["MLP", "CNN"], seed=seed).accuracies for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("models", "word"),
    [([], "empty"), (["oracle"], "not known"), (["XGBoost"], "pointillist\\[papers"), (["CNN"], "network")],
)
def test_what_cannot_be_trained_is_refused(
    bars: Bars, models: list[str], word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classifiers, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=word):
        classify(bars(20, 1), bars(20, 2), models=models)


def test_images_of_different_sizes_are_refused(bars: Bars) -> None:
    small, colour = bars(20, 1), bars(20, 2, channels=3)
    with pytest.raises(UsageError, match="differ in size"):
        classify(small, colour, models=["LDA"])


def test_torch_is_not_needed_for_the_twelve(bars: Bars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "pointillist.evaluate.images.cnn", raising=False)
    assert classify(bars(60, 1), bars(30, 2), models=["LDA"]).accuracies["LDA"] > 0.5
