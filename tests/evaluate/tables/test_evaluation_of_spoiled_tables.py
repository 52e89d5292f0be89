"""Spoiled tables: each fault is graded poor by the question that is about it, and a good sample by none."""

import pytest
from tests.fixtures.spoiled import FAULTS, SCHEMA, registry, spoiled, table

from pointillist.evaluate.tables.evaluation import evaluate
from pointillist.evaluate.tables.metrics.columns import columns
from pointillist.evaluate.tables.metrics.copies import copies
from pointillist.evaluate.tables.metrics.dependence import dependence
from pointillist.evaluate.tables.metrics.differences import differences
from pointillist.evaluate.tables.metrics.rules import rules
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point


@pytest.fixture(scope="module")
def real() -> Sample:
    return read(table(registry(1)), SCHEMA)


def asked(real: Sample, made: Sample) -> dict[str, Point]:
    """The questions that faults are about. Those that train classifiers take ten times as long."""
    pairs = dependence(real, made)
    apart = differences(real, made, pairs.correlations)
    results = copies(real, made), rules(real, made), columns(real, made), pairs, *((apart,) if apart else ())
    return {point.question: point for found in results for point in found.points()}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_poor_by_its_own_question(name: str, real: Sample) -> None:
    fault = FAULTS[name]
    if fault.schema is not SCHEMA:
        real = read(table(registry(1)), fault.schema)
    points = asked(real, read(spoiled(fault), fault.schema))
    assert points[fault.question].grade == "poor", {each.question: each.grade for each in points.values()}
    assert all(column in points[fault.question].sentence for column in fault.names), points[fault.question].sentence
    assert points[fault.question].advice


@pytest.mark.parametrize("seed", [2, 4, 5, 6])
def test_a_second_sample_is_good(seed: int, real: Sample) -> None:
    """Each bound leaves room for chance of two standard deviations or more; these seeds are fixed, as the faults are."""
    points = asked(real, read(table(registry(seed)), SCHEMA))
    assert {each.question: each.grade for each in points.values() if each.grade != "good"} == {}


def test_the_verdict_says_so_and_what_to_do(real: Sample) -> None:
    fault = FAULTS["order broken"]
    found = evaluate(real, spoiled(fault), SCHEMA)
    assert found.verdict.grade == "poor"
    assert "rules" in found.verdict.sentence.split(": poor")[0].lower()
    assert 'columns = ["lower", "upper"]' in found.to_html().replace("&#34;", '"')
    assert evaluate(real, table(registry(2)), SCHEMA).verdict.grade == "good"
