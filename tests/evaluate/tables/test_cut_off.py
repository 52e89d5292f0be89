"""Cut off: what a schema does to real rows is counted, graded, told on the card, and mended by lines for the schema."""

import datetime as dt
import tomllib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.tables.cut_off import CutOff, cut_off, cut_points
from pointillist.evaluate.tables.metrics.columns import columns
from pointillist.evaluate.tables.sample import read


def cut(column: Any, values: Any) -> CutOff:
    sample = read(pa.table({"x": pa.array(values)}), pt.Schema(name="one", columns={"x": column}))
    found = cut_off(sample, sample.level("x"))
    assert found is not None
    return found


def mended(column: Any, found: CutOff) -> Any:
    """The column once the advice is followed: it has to be one."""
    facts = {"name": "one", "columns": {"x": column.facts()}}
    for advice in found.advice:
        assert advice.in_schema
        facts["columns"]["x"] |= tomllib.loads(advice.code)["columns"]["x"]
    return pt.Schema.parse(facts, origin="one.toml").columns["x"]


class TestNumbers:
    @pytest.mark.parametrize(("above", "grade"), [(10, "good"), (11, "fair"), (50, "fair"), (51, "poor")])
    def test_grades(self, above: int, grade: str) -> None:
        found = cut(pt.Integer(min=0, max=10), [5] * (1_000 - above) + list(range(11, 11 + above)))
        assert (found.below, found.above, found.grade) == (0, above, grade)

    def test_below_and_above_are_told_apart(self) -> None:
        found = cut(pt.Real(min=0, max=10), [-1.0, -2.0, 11.0, *[5.0] * 7])
        assert (found.below, found.above) == (2, 1)
        assert found.told() == "20 % (2) below min, 10 % (1) above max"
        figures = found.to_json()
        assert (figures["below"], figures["above"], figures["grade"]) == (2, 1, "poor")

    @pytest.mark.parametrize(
        ("column", "values"),
        [
            (pt.Real(min=0, max=10_000), np.exp(np.linspace(8, 12, 1_000))),
            (pt.Integer(min=0, max=10), np.arange(-500, 500)),
            (pt.Real(min=1, max=10, scale="log"), np.linspace(-5, 50, 1_000)),
            (pt.Integer(min=0, max=10), np.array([5] * 900 + [-99] * 100)),
            (pt.Datetime(min="2020-01-01", max="2021-01-01"), [dt.date(2020, 6, 1) + dt.timedelta(d) for d in range(900)]),
            (pt.Duration(min="0s", max="1h"), [dt.timedelta(minutes=each) for each in range(900)]),
        ],
    )  # fmt: skip
    def test_the_advice_mends_it(self, column: Any, values: Any) -> None:
        found = cut(column, values)
        assert found.grade == "poor"
        schema = pt.Schema(name="one", columns={"x": mended(column, found)})
        sample = read(pa.table({"x": pa.array(values)}), schema)
        left = cut_off(sample, sample.level("x"))
        assert left is None or left.grade == "good"

    def test_one_value_beyond_becomes_a_special_value(self) -> None:
        assert "special = [-99]" in cut(pt.Integer(min=0, max=10), [5] * 900 + [-99] * 100).advice[0].code

    def test_infinite_values_have_no_bounds(self) -> None:
        assert "infinite" in cut(pt.Real(min=0, max=10), [float("inf")] * 5 + [1.0] * 5).advice[0].text


class TestCategories:
    def values(self, **many: int) -> list[str]:
        return [name for name, rows in many.items() for _ in range(rows)]

    @pytest.mark.parametrize(
        ("unlisted", "grade"),
        [({"b": 10}, "good"), ({"b": 11}, "fair"), ({"b": 51}, "poor"),
         ({f"c{i}": 5 for i in range(10)}, "good"), ({f"c{i}": 5 for i in range(60)}, "fair"),
         ({f"c{i}": 5 for i in range(61)}, "poor")],
    )  # fmt: skip
    def test_other_may_hold_many_rare_values_but_no_common_one(self, unlisted: dict[str, int], grade: str) -> None:
        values = self.values(**unlisted)
        found = cut(pt.Categorical(categories=("a",)), values + ["a"] * (1_000 - len(values)))
        assert (found.unlisted, found.grade) == (len(values), grade)
        assert 'joined to "other"' in found.told()

    def test_whole_numbers_that_come_out_missing_are_held_to_the_bounds_of_numbers(self) -> None:
        found = cut(pt.Categorical(categories=(1, 2)), [1] * 960 + list(range(3, 43)))
        assert (found.to_json()["read_as_missing"], found.to_json()["other"], found.grade) == (40, 0, "fair")
        assert "read as missing" in found.told()

    def test_the_advice_lists_common_values_in_alphabetical_order_and_no_rare_ones(self) -> None:
        values = self.values(a=500, common=100, zebra=300, bear=91, rare=9)
        found = cut(pt.Categorical(categories=("a",)), values)
        assert mended(pt.Categorical(categories=("a",)), found).categories == ("a", "bear", "common", "zebra")

    def test_numbers_are_listed_as_numbers(self) -> None:
        column = pt.Categorical(categories=(1, 2))
        assert mended(column, cut(column, [1.0] * 50 + [7.0] * 50)).categories == (1, 2, 7)

    def test_values_of_few_rows_each_are_not_named(self) -> None:
        found = cut(pt.Categorical(categories=("a",)), [f"secret{i}" for i in range(100)])
        assert "secret" not in repr(found.advice)
        assert "group them" in found.advice[0].text


def test_the_question_is_asked_where_something_is_cut_off_and_names_the_worst() -> None:
    assert cut_points([]) == ()
    near, far = CutOff("near", 1_000, above=30), CutOff("far", 1_000, unlisted=900, commonest=200)
    (point,) = cut_points([near, far])
    assert point.grade == "poor"
    assert "most in far: of the real rows, 90 % (900) unlisted" in point.sentence
    assert "1 more column: see their cards" in point.sentence


def test_means_spreads_and_quantiles_are_of_the_real_values() -> None:
    """Bounds that cut off most of the mass: as the schema sees it, all is well."""
    rng = np.random.default_rng(0)
    schema = pt.Schema(name="one", columns={"income": pt.Real(min=0, max=10_000, missing=False)})
    income, made = (np.exp(rng.normal(10, 0.5, 2_000)) for _ in range(2))
    real = read(pa.table({"income": income}), schema)
    found = columns(real, read(pa.table({"income": np.minimum(made, 10_000.0)}), schema))
    grades = {point.question: point.grade for point in found.points()}
    assert set(grades.values()) == {"poor"}
    (column,) = found.columns
    assert column.moments is not None
    assert column.quantiles is not None
    assert column.moments.mean[0] == pytest.approx(income.mean())
    assert column.quantiles.real[2] == pytest.approx(np.quantile(income, 0.5, method="inverted_cdf"))
    assert column.to_json()["cut_off"]["above"] == np.count_nonzero(income > 10_000)
    card = str(column.card().__html__())
    assert "above max" in card
    assert "A schema is public" in card
