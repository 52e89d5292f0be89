"""Attacks on synthetic data: near guessing for an honest pipeline, near certainty for one that copies rows."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import DataError
from pointillist.evaluate.audit import Pipeline, audit
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.membership import membership
from pointillist.privacy.guarantee import Neighbours

QUICK = pt.Mosaic(components=20, steps=60)


def audited(schema: pt.Schema, pipeline: Pipeline, neighbours: str = "add-remove") -> AuditedPipeline:
    return AuditedPipeline(schema, 1.0, 1e-5, None, Neighbours(neighbours), QUICK, pipeline)


class Copying:
    """A pipeline whose synthetic data are the private rows."""

    def __init__(self) -> None:
        self.table: pa.Table = None

    def release(self, table: pa.Table, *arguments: Any, **options: Any) -> pt.Release:
        self.table = table
        return pt.release(table, *arguments, **options)

    def fit(self, release: pt.Release, *, seed: int) -> Any:
        return self

    def sample(self, count: int, *, seed: int, frame: str) -> pa.Table:
        return self.table


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_an_honest_pipeline_passes(schema: pt.Schema, people: Callable[..., pa.Table], neighbours: str) -> None:
    """An alarm is false once in a million. An area of 0.6 would be 5 standard errors from guessing."""
    (found,) = membership(people(900), audited(schema, Pipeline(), neighbours), shadows=4)
    assert not found.violated
    assert found.private
    assert found.epsilon <= 1.0
    attacks = {each["name"]: each for each in found.measures["attacks"]}
    assert set(attacks) == {"distance", "density", "shadows"}
    assert all(0.4 < each["auc"] < 0.6 for each in attacks.values())
    assert all(each["tpr_low"] <= each["tpr_at_1_percent_fpr"] <= each["tpr_high"] for each in attacks.values())


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_copied_rows_are_caught(schema: pt.Schema, people: Callable[..., pa.Table], neighbours: str) -> None:
    copying = Copying()
    pipeline = Pipeline(release=copying.release, fit=copying.fit)
    (found,) = membership(people(900), audited(schema, pipeline, neighbours), shadows=4)
    assert found.violated
    attacks = {each["name"]: each for each in found.measures["attacks"]}
    assert all(each["auc"] > 0.8 for each in attacks.values()), attacks
    assert attacks["distance"]["tpr_at_1_percent_fpr"] > 0.5


def test_persons_are_guessed_as_a_whole(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    owned = schema.model_copy(update={"person": pt.Person(column="who", max_rows=3)})
    table = people(900).append_column("who", pa.array([i // 3 if i > 20 else None for i in range(900)]))
    copying = Copying()
    (found,) = membership(
        table, audited(owned, Pipeline(release=copying.release, fit=copying.fit)), shadows=0, persons=150
    )
    assert found.measures["persons"] == 150
    assert found.violated
    assert {each["name"] for each in found.measures["attacks"]} == {"distance", "density"}


def test_a_small_table_is_refused(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    with pytest.raises(DataError, match="fewer than 60 persons"):
        audit(people(40), schema, epsilon=1.0, attacks=("membership",))
