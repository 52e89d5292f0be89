"""Recipes: trees take one number a column, all others standardised coordinates."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.learners.classifiers import MODELS, TREES
from pointillist.evaluate.learners.trained_classifier import train
from pointillist.evaluate.tables.recipes import recipe
from pointillist.evaluate.tables.sample import read


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_inputs_that_it_can_take(
    model: str, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    sample = read(people(80, 1), schema)
    columns = ("grade", "age", "income", "seen")
    form, make = recipe(model, 0)
    x, y = form(sample, columns, sample), sample.codes("sex")
    assert np.isfinite(x).all()
    assert (x.shape[1] == len(columns)) == (model in TREES)
    made = make(x, y)
    assert (type(made).__name__ == "Pipeline") == (model not in TREES)
    assert train(make, x, y, 2).predict(x).shape == (80,)
