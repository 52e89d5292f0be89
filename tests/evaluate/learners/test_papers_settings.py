"""The papers' settings: all of them can still be built and trained."""

from typing import Any

import numpy as np
import pytest

from pointillist.evaluate.learners.classifiers import MODELS
from pointillist.evaluate.learners.papers_settings import build, options_of
from pointillist.evaluate.learners.trained_classifier import train


@pytest.mark.parametrize("settings", ["dp-merf", "dp-hp", "images"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_setting_can_be_built_and_trained(settings: Any, classes: int) -> None:
    """A configuration that today's libraries refuse would be dropped without a word: here it is not."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 12)), np.arange(60) % classes
    for model in MODELS:
        for options in options_of(settings, model, classes):
            few = {**options, "n_estimators": 5} if options.get("n_estimators", 0) > 100 else options

            def make(x: Any, y: Any, model: str = model, few: dict[str, Any] = few) -> Any:
                return build(model, few, x, y, 0)

            assert train(make, x, y, classes).predict(x).shape == (60,)
