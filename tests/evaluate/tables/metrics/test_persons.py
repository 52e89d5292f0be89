"""Persons: graded where the schema speaks of histories, told where the synthetic table has none."""

import json

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.visits import visits, visits_schema

import pointillist as pt
from pointillist.evaluate.tables.metric import TableContext
from pointillist.evaluate.tables.metrics.persons import Persons, PersonsMetric
from pointillist.evaluate.tables.sample import read

SCHEMA = visits_schema()


def context(synthetic: pa.Table, target: str | None = None) -> TableContext:
    real = visits(400)
    return TableContext(
        read(real, SCHEMA), read(synthetic, SCHEMA), None, SCHEMA, target, None, 0, table=real, made=synthetic
    )


def found(synthetic: pa.Table, target: str | None = None) -> Persons:
    made = context(synthetic, target).ask(PersonsMetric)
    assert made is not None
    return made


def test_a_second_sample_is_good_in_all_that_histories_are() -> None:
    result = found(visits(400, seed=3), "sex")
    assert {point.grade for point in result.points()} == {"good"}
    assert [point.question for point in result.points()] == [
        "rows per person", "steps from row to row", "whole histories",
    ]  # fmt: skip
    assert result.learnt is not None
    assert result.learnt.synthetic > 0.6
    assert json.loads(json.dumps(result.to_json()))["constant"] == 1.0


def test_spoiled_histories_are_poor_by_the_right_question() -> None:
    table = visits(400, seed=3)
    rng = np.random.default_rng(0)
    mixed = table.set_column(3, "score", pa.array(rng.permutation(table["score"].to_numpy())))
    grades = {point.question: point.grade for point in found(mixed).points()}
    assert grades["steps from row to row"] == "poor"
    assert grades["rows per person"] == "good"
    changing = table.set_column(1, "sex", pa.array(rng.permutation(table["sex"].to_numpy(zero_copy_only=False))))
    grades = {point.question: point.grade for point in found(changing).points()}
    assert grades["facts of persons"] == "poor"
    every = table.set_column(0, "who", pa.array(np.arange(table.num_rows)))
    grades = {point.question: point.grade for point in found(every).points()}
    assert grades["rows per person"] == "poor"


def test_a_table_of_rows_that_belong_to_nobody_is_told() -> None:
    alone = visits(50).drop_columns(["who"])
    given = context(alone)
    assert given.ask(PersonsMetric) is None
    (note,) = PersonsMetric().notes(None, given)
    assert "no column 'who'" in note


@pytest.mark.parametrize("order", ["day", None])
def test_it_is_on_the_page_and_in_the_figures(order: str | None) -> None:
    schema = visits_schema(order=order)
    made = pt.evaluate(visits(150), visits(150, seed=1), schema)
    assert made.persons is not None
    page = made.to_html()
    assert "People and their histories" in page
    assert ("Distance of the gaps" in page) == (order is not None)
    assert 'class="synthetic-lines"' in page
    assert made.to_json()["persons"]["mean_rows"]["real"] > 2
    assert any("Rows per person" in line for line in made.persons.lines())


def test_tables_without_histories_are_left_alone(schema: pt.Schema) -> None:
    assert not PersonsMetric.suits(schema)
    plain = schema.model_copy(update={"person": pt.Person(column="who", max_rows=3)})
    assert not PersonsMetric.suits(plain)
