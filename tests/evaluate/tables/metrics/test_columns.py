"""Columns one by one: shares that add up, the right distances, numbers in words."""

import datetime as dt
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp

import pointillist as pt
from pointillist.evaluate.tables.metrics.columns import Column, Columns, columns
from pointillist.evaluate.tables.moments import Moments
from pointillist.evaluate.tables.sample import Sample, read
from pointillist.evaluate.verdict import Point
from pointillist.schema.levels import Levels


def one(column: Any, real: Any, synthetic: Any) -> Column:
    schema = pt.Schema(name="one", columns={"x": column})
    return columns(*(read(pa.table({"x": pa.array(values)}), schema) for values in (real, synthetic))).columns[0]


@pytest.fixture
def pair(schema: pt.Schema, people: Callable[..., pa.Table]) -> tuple[Sample, Sample]:
    return read(people(800, 1), schema), read(people(500, 2), schema)


def test_every_kind(pair: tuple[Sample, Sample], schema: pt.Schema) -> None:
    found = {each.name: each for each in columns(*pair).columns}
    assert set(found) == set(schema.columns)
    for name, each in found.items():
        assert each.kind == schema.columns[name].kind
        assert 0 <= each.distance <= 1
        assert (each.histogram is not None) == (name in ("age", "income", "seen")) == bool(each.summary)
        assert (each.ks is not None) == (name in ("grade", "age", "income", "seen"))
    assert [bar.label for bar in found["grade"].bars] == ["low", "middle", "high", "other", "missing"]
    assert [bar.label for bar in found["income"].bars] == ["= 0", "missing"]
    assert found["age"].bars == ()
    assert found["income"].missing[0] == pytest.approx(pair[0].missing("income").mean())


def test_the_worst_comes_first(pair: tuple[Sample, Sample]) -> None:
    found = columns(*pair)
    beyond = [each.beyond for each in found.columns]
    assert beyond == sorted(beyond, reverse=True)
    assert beyond[0] > 0
    assert found.mean == pytest.approx(np.mean([each.distance for each in found.columns]))


def test_bars_and_histogram_add_up(pair: tuple[Sample, Sample]) -> None:
    """To all rows, but for the tails that a histogram leaves out: a thousandth at either end of the pooled shares."""
    for each in columns(*pair).columns:
        for table in ("real", "synthetic"):
            total = sum(getattr(bar, table) for bar in each.bars)
            assert all(0 <= getattr(bar, table) <= 1 for bar in each.bars)
            if each.histogram is not None:
                shares = getattr(each.histogram, table)
                assert len(shares) + 1 == len(each.histogram.edges)
                assert len(shares) <= 48
                assert (np.diff(each.histogram.edges) > 0).all()
                total += sum(shares)
                assert 1 - 0.005 < total <= 1 + 1e-9
            else:
                assert total == pytest.approx(1.0)


def test_tails_are_left_out_and_the_ends_say_where() -> None:
    real = [1_000] + list(range(100, 200)) * 50 + [0]
    found = one(pt.Integer(min=0, max=1_000, missing=False, bins=1_001), real, real).histogram
    assert found is not None
    assert found.ends == ("100", "199")
    assert sum(found.real) == pytest.approx(5_000 / 5_002)


def test_atoms_stand_apart_from_the_histogram() -> None:
    """0 lies inside the bounds and is special: it is a bar, and the histogram has no spike for it."""
    column = pt.Integer(min=-5, max=5, special=(0,), missing=True)
    found = one(column, [0] * 6 + [1, 2, None, -3], [0] * 5 + [None] * 5)
    assert [(bar.label, bar.real, bar.synthetic) for bar in found.bars] == [("= 0", 0.6, 0.5), ("missing", 0.1, 0.5)]
    assert found.histogram is not None
    assert sum(found.histogram.real) == pytest.approx(0.3)
    assert sum(found.histogram.synthetic) == 0
    assert found.missing == (0.1, 0.5)


class TestKs:
    @given(st.lists(st.integers(0, 30), min_size=3, max_size=40), st.lists(st.integers(0, 30), min_size=3, max_size=40))
    def test_of_whole_numbers_is_exact(self, real: list[int], synthetic: list[int]) -> None:
        expected = ks_2samp(real, synthetic, method="asymp").statistic
        assert one(pt.Integer(min=0, max=30), real, synthetic).ks == pytest.approx(expected)
        special = pt.Integer(min=0, max=30, special=(7, -1, 0))  # atoms stand in their place
        assert one(special, real, synthetic).ks == pytest.approx(expected)

    def test_of_real_numbers_is_exact_to_a_bin(self) -> None:
        """At the edges of 256 bins; a bin holds at most 2 % of these rows."""
        rng = np.random.default_rng(0)
        real, synthetic = rng.normal(0, 1, 900), rng.normal(0.3, 1, 700)
        found = one(pt.Real(min=-5, max=5), real, synthetic).ks
        assert found == pytest.approx(ks_2samp(real, synthetic).statistic, abs=0.02)

    def test_of_ranks(self) -> None:
        column = pt.Ordinal(categories=("low", "middle", "high"))
        assert one(column, ["low", "high"], ["middle", "high"]).ks == pytest.approx(0.5)
        assert one(column, ["low", None], ["low", "low"]).ks == pytest.approx(0.5)

    def test_names_have_none(self) -> None:
        assert one(pt.Categorical(categories=("a", "b")), ["a"], ["b"]).ks is None


class TestSummary:
    def test_by_hand(self) -> None:
        found = one(pt.Integer(min=0, max=100), list(range(101)), [50, None]).summary
        assert found == {
            "mean": ("50", "50"),
            "spread": ("29.2", "0"),
            "5 %": ("5", "50"),
            "median": ("50", "50"),
            "95 %": ("95", "50"),
        }

    @pytest.mark.parametrize(
        "column",
        [pt.Integer(min=0, max=9), pt.Real(min=1, max=9, scale="log"), pt.Datetime(min="2020-01-01", max="2020-12-31")],
    )
    def test_a_column_that_is_always_missing(self, column: Any) -> None:
        found = one(column, pa.nulls(3, pa.null()), pa.nulls(2, pa.null()))
        assert set(found.summary.values()) == {("–", "–")}
        assert found.missing == (1.0, 1.0)
        assert found.distance == 0
        assert found.histogram is not None
        assert sum(found.histogram.real) == 0

    def test_one_that_is_missing_in_one_table(self) -> None:
        found = one(pt.Integer(min=0, max=9), [1, 2, 3], pa.nulls(2, pa.int64()))
        assert found.distance == 1
        assert found.summary["mean"] == ("2", "–")
        assert found.ks == 1


class TestWords:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (0.0, "0"), (3.0, "3"), (0.12345, "0.123"), (999.4, "999"), (999.6, "1,000"), (-999.7, "-1,000"),
            (1234567.8, "1,234,568"), (-12.345, "-12.3"),
        ],
    )  # fmt: skip
    def test_numbers(self, value: float, text: str) -> None:
        for column in (pt.Real(min=-1e7, max=1e7), pt.Integer(min=-(10**7), max=10**7)):
            assert column.show(value) == text

    def test_dates(self) -> None:
        level = Levels("x", pt.Datetime(min="2020-01-01", max="2025-12-31"))
        day = (dt.date(2024, 2, 29) - dt.date(1970, 1, 1)).days
        assert level.column.show(day + 0.4) == "2024-02-29"
        assert level.column.show(30.2, spread=True) == "30 days"

    def test_times(self) -> None:
        level = Levels("x", pt.Datetime(min="2020-01-01", max="2025-12-31", resolution="second"))
        second = (dt.datetime(2024, 2, 29, 13, 5) - dt.datetime(1970, 1, 1)).total_seconds()
        assert level.column.show(second) == "2024-02-29 13:05"
        assert level.column.show(3600.0, spread=True) == "3,600 seconds"

    def test_ends_of_a_range(self) -> None:
        seen = one(pt.Datetime(min="2020-01-01", max="2020-12-31"), [dt.date(2020, 3, 1), dt.date(2020, 5, 4)], [None])
        assert seen.histogram is not None
        assert seen.histogram.ends[0] <= "2020-03-01"
        assert "2020-05-04" <= seen.histogram.ends[1] <= "2020-05-06"


def test_as_json_and_as_a_table(pair: tuple[Sample, Sample]) -> None:
    found = columns(*pair)
    facts = found.to_json()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert found.table().num_rows == 6
    assert found.table()["missing_real"].to_pylist() == [each.missing[0] for each in found.columns]


def compared(distance: float = 0.0, chance: float = 0.0, moments: Moments | None = None, **said: Any) -> Columns:
    return Columns((Column("height", "integer", distance, chance, None, (0.0, 0.0), (), None, moments, said),))


def numbers(means: tuple[float, float], rows: int = 10_000) -> Columns:
    moments = Moments(means, (10.0, 10.0), (rows, rows))
    return compared(moments=moments, mean=("170", "180"), spread=("10", "10"))


def spreads(spread: float, rows: int = 10_000, kurtosis: float = 3.0) -> Columns:
    moments = Moments((170.0, 170.0), (10.0, spread), (rows, rows), kurtosis)
    return compared(moments=moments, mean=("170", "170"), spread=("10", f"{spread:g}"))


def graded(found: Columns, question: str) -> Point:
    return next(each for each in found.points() if each.question == question)


class TestGrades:
    @pytest.mark.parametrize(
        ("distance", "chance", "grade"),
        [
            (0.0, 0.0, "good"), (0.015, 0.0, "good"), (0.017, 0.0, "fair"), (0.05, 0.0, "fair"), (0.052, 0.0, "poor"),
            (0.095, 0.09, "good"), (0.115, 0.1, "unclear"), (0.15, 0.1, "fair"), (0.2, 0.1, "poor"),
            (0.02, 0.3, "unclear"),
        ],
    )  # fmt: skip
    def test_single_columns(self, distance: float, chance: float, grade: str) -> None:
        (point,) = compared(distance, chance).points()  # no numbers, so no means and spreads
        assert (point.question, point.grade) == ("single columns", grade)
        assert "height" in point.sentence
        assert f"{chance:.1%}" in point.sentence

    @pytest.mark.parametrize(("mean", "grade"), [(170.0, "good"), (170.7, "good"), (171.5, "fair"), (175.0, "poor")])
    def test_means(self, mean: float, grade: str) -> None:
        """Chance moves the difference of two means of 10,000 rows by 0.014 spreads: two of them are allowed for."""
        point = graded(numbers((170.0, mean)), "means of numbers")
        assert point.grade == grade
        assert "height: 180 in place of 170" in point.sentence
        assert graded(numbers((170.0, mean), rows=100), "means of numbers").grade == "unclear"

    @pytest.mark.parametrize(
        ("spread", "grade"),
        [(10.0, "good"), (11.1, "good"), (8.9, "good"), (11.5, "fair"), (13.1, "fair"), (15.0, "poor")],
    )
    def test_spreads(self, spread: float, grade: str) -> None:
        """A column whose mean is right and whose spread is half too large is not good."""
        point = graded(spreads(spread), "spreads of numbers")
        assert point.grade == grade
        assert f"{spread:g} in place of 10" in point.sentence
        assert graded(spreads(spread), "means of numbers").grade == "good"

    def test_spreads_that_chance_explains(self) -> None:
        """Long tails: a few values make the spread, and two samples differ in them."""
        assert graded(spreads(11.5, kurtosis=100.0), "spreads of numbers").grade == "good"
        assert graded(spreads(15.0, rows=100, kurtosis=100.0), "spreads of numbers").grade == "unclear"


def test_values_that_no_real_row_has_are_told() -> None:
    """A histogram of the schema's bins looks right, and no value is."""
    schema = pt.Schema(name="wide", columns={"year": pt.Integer(min=1500, max=2500, bins=100, missing=False)})
    rng = np.random.default_rng(0)
    real, made = rng.integers(199, 201, 1_000) * 10, rng.integers(1990, 2010, 1_000)
    found = columns(*(read(pa.table({"year": each}), schema) for each in (real, made)))
    (year,) = found.columns
    assert year.strange == pytest.approx(0.9, abs=0.05)  # five standard deviations
    assert year.distance > 0.85
    assert "value there that no real row has" in found.points()[0].sentence
    assert "no real row has" in str(year.card().__html__())
    assert found.points()[0].advice[0].in_schema
