"""Noise that is wrong in one place only, or only in how it goes together, is found."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator import releasing
from pointillist.evaluate.audit import Finding, Pipeline, audit
from pointillist.evaluate.audit.noise_checks import Noise, _closest
from pointillist.reading.opening import open_source

RUNS = 20


@pytest.fixture
def six() -> pt.Schema:
    """Five columns of categories and one of whole numbers."""
    columns: dict[str, Any] = {
        f"c{i}": pt.Categorical(categories=tuple("abcd"[: 2 + i % 3]), missing=False) for i in range(5)
    }
    return pt.Schema(name="six", columns=columns | {"age": pt.Integer(min=0, max=99, bins=8, missing=False)})


Spoil = Callable[[Any, Any, list[slice]], Any]
"""Noisy values, exact sums and the places of tables to values that are published instead."""


def spoilt(spoil: Spoil, round_number: int) -> Pipeline:
    """A pipeline whose values of one round are changed. With the first round the later features would change too."""

    def release(table: pa.Table, schema: pt.Schema, **options: Any) -> pt.Release:
        made = pt.release(table, schema, **options)
        wrong = made.measurements[round_number]
        sums, _ = releasing.embed(open_source(table), schema, wrong.feature_map, wrong.grid, 1)
        ends = np.cumsum([block.dimension for block, _ in wrong.feature_map.blocks()])
        places = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
        measurements = list(made.measurements)
        measurements[round_number] = replace(wrong, values=spoil(wrong.values.copy(), sums, places))
        return replace(made, measurements=tuple(measurements))

    return Pipeline(release=release)


def white_box(schema: pt.Schema, spoil: Spoil, *, neighbours: str = "replace-one", runs: int = RUNS) -> Finding:
    found = audit(
        None,
        schema,
        epsilon=1.0,
        runs=runs,
        attacks=("white-box",),
        neighbours=neighbours,
        pipeline=spoilt(spoil, -1),
    )
    return found.findings[-1]


def last_cell(values: Any, sums: Any, places: list[slice]) -> Any:
    values[-1] = sums[-1]
    return values


def whole_table(values: Any, sums: Any, places: list[slice]) -> Any:
    values[places[3]] = sums[places[3]]
    return values


def one_draw(values: Any, sums: Any, places: list[slice]) -> Any:
    for place in places:
        values[place] = sums[place] + (values[place] - sums[place])[0]
    return values


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize(
    ("spoil", "word"),
    [
        (last_cell, "without any noise"),
        (whole_table, "without any noise"),
        (one_draw, "not independent from cell to cell"),
    ],
)
def test_noise_that_is_missing_or_shared_is_caught(six: pt.Schema, spoil: Spoil, word: str, neighbours: str) -> None:
    """With certainty: what is exact is exact in every run."""
    found = white_box(six, spoil, neighbours=neighbours, runs=10)
    assert found.attack == "white-box"
    assert found.violated
    assert found.epsilon == math.inf
    assert word in found.sentence


def test_a_cell_that_is_exact_in_few_runs_is_caught(six: pt.Schema) -> None:
    """In three runs of ten: of 80 fewer than 2 are exact once in 10^10 audits."""

    def seldom(values: Any, sums: Any, places: list[slice]) -> Any:
        return last_cell(values, sums, places) if np.random.default_rng().random() < 0.3 else values

    found = white_box(six, seldom)
    assert found.violated
    assert "values are published without any noise" in found.sentence


def test_a_cell_with_a_quarter_of_the_noise_is_caught(six: pt.Schema) -> None:
    """80 releases: a variance of a sixteenth of the promised has a logarithm that is 17 standard errors below 0."""

    def less(values: Any, sums: Any, places: list[slice]) -> Any:
        values[-1] = sums[-1] + (values[-1] - sums[-1]) // 4
        return values

    found = white_box(six, less)
    assert found.violated
    assert "a cell of table" in found.sentence
    assert found.epsilon < math.inf


def test_more_noise_than_promised_is_no_fault(six: pt.Schema) -> None:
    """An alarm is false once in a million."""

    def more(values: Any, sums: Any, places: list[slice]) -> Any:
        return sums + 2 * (values - sums)

    assert not white_box(six, more).violated


def drawn(noise: Any) -> Noise:
    """Noise of one round with one table."""
    return Noise([[row] for row in noise], ["a"], [0])


def test_honest_noise_has_no_fault_as_often_as_it_says() -> None:
    """400 audits at alpha = 0.2, of which at most 80 are expected to raise an alarm; 125 or more would be 5.6 deviations.

    The tests are not idle either: shares of alpha that are used up by dependent tests apart, some alarms must be there.
    """
    rng = np.random.default_rng(1)
    alarms = sum(bool(drawn(rng.normal(size=(30, 12))).faults(0.2)) for _ in range(400))
    assert 20 < alarms < 125


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda noise, rng: np.c_[noise[:, 1:], 0.3 * noise[:, :1]], "a cell of table a of round 1"),
        (lambda noise, rng: 0.8 * noise, "table a of round 1 has 0.8"),
        (lambda noise, rng: 0.9 * noise + 0.45 * rng.normal(size=(len(noise), 1)), "not independent from cell to cell"),
        (lambda noise, rng: np.c_[noise[:, :-1], -noise[:, :1]], "two cells goes together (correlation 1)"),
        (lambda noise, rng: np.r_[noise[:-1], noise[:1]], "two releases is not independent (correlation 1)"),
        (lambda noise, rng: np.c_[noise[:, :-1], np.ones(len(noise))], "a cell of table a of round 1 has 0 times"),
    ],
)
def test_each_fault_is_named(change: Callable[[Any, Any], Any], word: str) -> None:
    """The seed is fixed; each fault is more than 6 standard errors away from noise as promised."""
    rng = np.random.default_rng(2)
    faults = drawn(change(rng.normal(size=(100, 40)), rng)).faults(1e-6)
    assert any(word in fault.words for fault in faults), faults


def test_tables_of_different_sizes_are_compared_at_both_ends() -> None:
    rng = np.random.default_rng(3)
    rows = [rng.normal(size=int(rng.integers(5, 9))) for _ in range(80)]
    assert not drawn(rows).faults(1e-6)
    for row in rows:
        row[-1] = 0.1 * row[-1]
    assert any("a cell of table" in fault.words for fault in drawn(rows).faults(1e-6))


def test_the_closest_rows_are_found_in_any_chunk() -> None:
    rows = np.random.default_rng(4).normal(size=(1_300, 20))
    rows[1_290] = -rows[3]
    chance, closeness = _closest(rows)
    assert chance < 1e-12
    assert closeness == pytest.approx(1.0)
    assert _closest(rows[:1]) == (1.0, 0.0)
