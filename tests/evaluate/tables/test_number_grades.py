"""Grades of numbers: by the worst column, with the advice that fits it."""

import numpy as np
import pyarrow as pa

import pointillist as pt
from pointillist.evaluate.advice import NO_NAMES
from pointillist.evaluate.tables.metrics.columns import columns
from pointillist.evaluate.tables.number_grades import number_points
from pointillist.evaluate.tables.sample import read
from pointillist.evaluate.verdict import Point


def graded(column: pt.Real | pt.Integer, real: np.ndarray, made: np.ndarray) -> dict[str, Point]:
    schema = pt.Schema(name="n", columns={"x": column})
    found = columns(*(read(pa.table({"x": each}), schema) for each in (real, made)))
    return {point.question: point for point in found.points()}


def test_without_numbers_there_are_no_questions() -> None:
    assert number_points([], NO_NAMES) == ()


def test_a_wide_range_asks_for_tighter_bounds() -> None:
    rng = np.random.default_rng(0)
    found = graded(pt.Real(min=0, max=1_000, missing=False), rng.normal(50, 5, 2_000), rng.normal(50, 9, 2_000))
    point = found["quantiles of numbers"]
    assert point.grade == "poor"
    assert "x" in point.sentence
    assert point.advice[0].in_schema
    assert "min = " in point.advice[0].code
    assert point.advice[-1] == NO_NAMES.larger_epsilon()


def test_a_long_tail_asks_for_a_log_scale() -> None:
    rng = np.random.default_rng(0)
    real, made = np.exp(rng.normal(5, 1, (2, 2_000)))
    found = graded(pt.Real(min=0, max=3_000, missing=False), real, np.minimum(3_000, 2 * made))
    assert any('scale = "log"' in each.code for each in found["quantiles of numbers"].advice)


def test_a_log_scale_with_room_for_noise_asks_for_a_lower_max() -> None:
    """A few rows at the far end, as noise puts them there, make the spread twice as large."""
    rng = np.random.default_rng(0)
    real, made = np.exp(rng.normal(5, 0.5, (2, 2_000)))
    made[:4] = 9_000
    for end, asked in ((10_000, True), (1_000, False)):
        found = graded(pt.Real(min=1, max=end, scale="log", missing=False), real, np.minimum(made, end))
        point = found["spreads of numbers"]
        assert any("max = " in each.code and each.in_schema for each in point.advice) == asked
        assert (point.grade == "poor") == asked


def test_what_is_good_needs_no_advice() -> None:
    rng = np.random.default_rng(0)
    found = graded(pt.Real(min=0, max=1_000, missing=False), *rng.normal(500, 50, (2, 2_000)))
    assert {point.grade for point in found.values()} == {"good"}
    assert all(point.advice == () for point in found.values())


def test_few_values_are_compared_one_by_one() -> None:
    rng = np.random.default_rng(0)
    found = graded(pt.Integer(min=0, max=3, missing=False), *rng.integers(0, 4, (2, 2_000)))
    assert "quantiles of numbers" not in found
    assert "means of numbers" in found
