"""Recipes: how a table's rows become the inputs of each kind of classifier."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pointillist.evaluate.arrays import Codes, Floats
from pointillist.evaluate.learners.classifiers import TREES, classifier
from pointillist.evaluate.learners.trained_classifier import Make
from pointillist.evaluate.tables.design_matrix import gapless, wide
from pointillist.evaluate.tables.sample import Sample

Form = Callable[[Sample, tuple[str, ...], Sample], Floats]
"""From rows, the input columns, and the training rows (which alone may fill gaps) to a model's inputs."""
Recipe = tuple[Form, Make]


def recipe(model: str, seed: int) -> Recipe:
    """A model's inputs and its one configuration."""
    return (_gapless if model in TREES else _wide, partial(_build, model, seed))


def _wide(sample: Sample, columns: tuple[str, ...], training: Sample) -> Floats:
    return wide(sample, columns)


def _gapless(sample: Sample, columns: tuple[str, ...], training: Sample) -> Floats:
    return gapless(sample, columns)


def _build(model: str, seed: int, x: Floats, y: Codes) -> Any:
    from sklearn import pipeline, preprocessing

    made = classifier(model, seed)
    return made if model in TREES else pipeline.make_pipeline(preprocessing.StandardScaler(), made)
