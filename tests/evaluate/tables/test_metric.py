"""What metrics of tables are given: rows to train on and rows to test on, and places in the list."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.tables.metric import METRICS, TableContext
from pointillist.evaluate.tables.sample import read

People = Callable[..., pa.Table]


def test_every_metric_is_found_in_its_folder_and_in_its_place() -> None:
    assert list(METRICS) == [
        "copies", "persons", "rules", "columns", "dependence", "differences", "marginals", "forecast", "utility",
        "discriminator", "kernel_test", "projection",
    ]  # fmt: skip


def test_the_holdout_is_what_models_are_tested_on(schema: pt.Schema, people: People) -> None:
    real, made, held = (read(people(20, seed), schema) for seed in (1, 2, 3))
    context = TableContext(real, made, held, schema, None, None, 0)
    assert context.training_and_test == (real, held)


def test_without_one_a_quarter_is_held_back(schema: pt.Schema, people: People) -> None:
    real, made = (read(people(40, seed), schema) for seed in (1, 2))
    training, test = TableContext(real, made, None, schema, None, None, 0).training_and_test
    assert (training.rows, test.rows) == (30, 10)
    both = np.concatenate([training.values("income"), test.values("income")])
    assert np.allclose(np.sort(both), np.sort(real.values("income")), equal_nan=True)


def test_a_person_stands_on_one_side() -> None:
    table = pa.table({"id": np.repeat(np.arange(40), 5), "x": np.repeat(np.arange(40), 5)})
    schema = pt.Schema(
        name="p", person=pt.Person(column="id", max_rows=5), columns={"x": pt.Integer(min=0, max=39, missing=False)}
    )
    sample = read(table, schema)
    training, test = TableContext(sample, sample, None, schema, None, None, 0, table=table).training_and_test
    assert not set(training.values("x")) & set(test.values("x"))
    assert (training.rows, test.rows) == (150, 50)
