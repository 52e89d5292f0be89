"""A prediction task: the classes are those of the test rows, and rows without one take no part."""

from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError, UsageError
from pointillist.evaluate.tables.prediction_task import PredictionTask, prediction_task

SCHEMA = pt.Schema(
    name="t", columns={"kind": pt.Categorical(categories=("a", "b", "c")), "x": pt.Real(min=0, max=9, missing=False)}
)


def table(*kinds: str | None) -> pa.Table:
    return pa.table({"kind": pa.array(kinds, pa.string()), "x": [float(number % 9) for number in range(len(kinds))]})


def task(synthetic: pa.Table, test: pa.Table, **more: Any) -> PredictionTask:
    return prediction_task(synthetic, test, SCHEMA, "kind", **more)


def test_the_rarer_of_two_classes_is_positive() -> None:
    found = task(table("a", "c", "c"), table("a", "a", "c"))
    assert (found.classes, found.positive_name) == (("a", "c"), "c")
    assert found.inputs == ("x",)
    assert found.labels(found.test).tolist() == [0, 0, 1]
    assert found.rows == {"synthetic": 3, "test": 3}
    assert found.notes == ()


def test_of_three_classes_none_is_positive() -> None:
    assert task(table("a", "b", "c"), table("a", "b", "c")).positive is None


def test_rows_without_a_class_of_the_test_rows_are_left_out_and_noted() -> None:
    found = task(table("a", "c", None, "b"), table("a", "b", None), train=table("a", "b", "c", "c"))
    assert found.rows == {"synthetic": 2, "real": 2, "test": 2}
    assert [note.split(" of")[0] for note in found.notes] == ["50.00%", "50.00%"]


def test_what_a_synthetic_table_cannot_teach_is_noted() -> None:
    assert "never predict that" in task(table("a", "b"), table("a", "b", "c")).notes[0]
    assert "constant in the synthetic table" in task(table("a", "a"), table("a", "b")).notes[0]
    assert "missing in every row" in task(table(None, None), table("a", "b")).notes[0]


def test_what_cannot_be_a_task() -> None:
    with pytest.raises(DataError, match="fewer than two values among the test rows"):
        task(table("a", "b"), table("a", "a"))
    with pytest.raises(DataError, match="fewer than two values among the real rows"):
        task(table("a", "b"), table("a", "b"), train=table("a", "a"))
    with pytest.raises(UsageError, match="'x' is a number"):
        prediction_task(table("a"), table("a"), SCHEMA, "x")
