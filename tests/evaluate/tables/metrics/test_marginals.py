"""Distances between tables of counts: against hand computation, brute force and real resampling."""

import math
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.tables.metrics.marginals import (
    Marginal,
    Marginals,
    MarginalTables,
    independent,
    marginals,
    pairs_point,
)
from pointillist.evaluate.tables.sample import Sample, read

LETTERS = pt.Schema(
    name="letters",
    columns={name: pt.Categorical(categories=tuple("abc"), missing=False, out_of_domain="error") for name in "xyzuv"},
)
rows_of_letters = st.lists(st.text("abc", min_size=5, max_size=5), min_size=1, max_size=30)


def letters(rows: list[str]) -> Sample:
    return read(pa.table({name: [row[i] for row in rows] for i, name in enumerate("xyzuv")}), LETTERS)


def by_hand(first: list[str], second: list[str], places: tuple[int, ...]) -> float:
    counts = [Counter(tuple(row[i] for i in places) for row in rows) for rows in (first, second)]
    cells = counts[0].keys() | counts[1].keys()
    return sum(abs(counts[0][c] / len(first) - counts[1][c] / len(second)) for c in cells) / 2


def test_a_table_on_paper() -> None:
    """x: (2, 1, 0)/3 against (1, 1, 2)/4, so (5/12 + 1/12 + 1/2) / 2; together with y no cell but "bb" is shared."""
    first, second = letters(["aaaaa", "abaaa", "bbaaa"]), letters(["acaaa", "bbaaa", "ccaaa", "ccaaa"])
    found = {each.columns: each.distance for each in marginals(first, second, 1).tables}
    assert found[("x",)] == pytest.approx(1 / 2)
    assert found[("z",)] == 0
    found = {each.columns: each.distance for each in marginals(first, second, 2).tables}
    assert found[("x", "y")] == pytest.approx(1 - 1 / 4)


@given(rows_of_letters, rows_of_letters, st.integers(1, 5))
def test_every_order_agrees_with_brute_force(first: list[str], second: list[str], order: int) -> None:
    found = marginals(letters(first), letters(second), order)
    assert found.of == len(found.tables) == math.comb(5, order)
    assert {each.columns for each in found.tables} == set(combinations("xyzuv", order))
    for each in found.tables:
        assert each.distance == pytest.approx(by_hand(first, second, tuple("xyzuv".index(c) for c in each.columns)))
        assert 0 <= each.distance <= 1 + 1e-12
        assert 0 <= each.chance <= 1 + 1e-12
    assert [each.distance for each in found.tables] == sorted((e.distance for e in found.tables), reverse=True)


@given(rows_of_letters, rows_of_letters, st.integers(1, 3))
def test_symmetric_and_zero_on_itself(first: list[str], second: list[str], order: int) -> None:
    one, two = letters(first), letters(second)
    there, back = marginals(one, two, order), marginals(two, one, order)
    assert {e.columns: e.distance for e in there.tables} == pytest.approx({e.columns: e.distance for e in back.tables})
    assert {e.columns: e.chance for e in there.tables} == pytest.approx({e.columns: e.chance for e in back.tables})
    assert marginals(one, one, order).mean == 0


@given(rows_of_letters, rows_of_letters)
def test_more_columns_lie_further_apart(first: list[str], second: list[str]) -> None:
    """A table of more columns knows all that a table of fewer knows."""
    one, two = letters(first), letters(second)
    found = {e.columns: e.distance for order in (1, 2, 3) for e in marginals(one, two, order).tables}
    for columns, distance in found.items():
        for fewer in combinations(columns, max(1, len(columns) - 1)):
            assert found[fewer] <= distance + 1e-12


class TestSome:
    def names(self, most: int, seed: int) -> list[tuple[str, ...]]:
        sample = letters(["abcab", "bcabc"])
        return [each.columns for each in marginals(sample, sample, 2, most=most, seed=seed).tables]

    @pytest.mark.parametrize("most", [0, 1, 4, 9])
    def test_so_many_and_no_more(self, most: int) -> None:
        chosen = self.names(most, 0)
        assert len(set(chosen)) == len(chosen) == most
        assert set(chosen) <= set(combinations("xyzuv", 2))

    def test_all_where_there_are_fewer(self) -> None:
        assert set(self.names(10, 0)) == set(self.names(99, 0)) == set(combinations("xyzuv", 2))

    def test_the_seed_decides(self) -> None:
        assert self.names(4, 1) == self.names(4, 1)
        assert len({tuple(sorted(self.names(4, seed))) for seed in range(10)}) > 1

    def test_says_how_many_there_are(self) -> None:
        sample = letters(["abcab"])
        found = marginals(sample, sample, 3, most=4)
        assert (found.of, len(found.tables)) == (10, 4)
        assert found.to_json()["compared"] == 4

    @pytest.mark.parametrize("order", [0, 6, -1])
    def test_orders_that_do_not_exist(self, order: int) -> None:
        with pytest.raises(UsageError, match="between 1 and the number of columns, 5"):
            marginals(letters(["abcab"]), letters(["abcab"]), order)


def wide_sample(rows: int, columns: int, size: int, seed: int) -> Sample:
    rng = np.random.default_rng(seed)
    schema = pt.Schema(
        name="wide",
        columns={f"c{i}": pt.Integer(min=0, max=size - 1, bins=size, missing=False) for i in range(columns)},
    )
    return read(pa.table({f"c{i}": rng.integers(0, 3, rows) * (size // 3) for i in range(columns)}), schema)


def test_tables_with_more_cells_than_a_number_can_count() -> None:
    """4096^8 = 2^96 cells: numbered as they come, cells must not wrap around and meet."""
    first, second = wide_sample(60, 8, 4096, 1), wide_sample(40, 8, 4096, 2)
    (found,) = marginals(first, second, 8, bins=4096).tables
    rows = [list(zip(*(s.codes(name).tolist() for name in s.columns), strict=True)) for s in (first, second)]
    counts = [Counter(each) for each in rows]
    cells = counts[0].keys() | counts[1].keys()
    assert found.distance == pytest.approx(sum(abs(counts[0][c] / 60 - counts[1][c] / 40) for c in cells) / 2)


def test_few_rows_in_many_cells_as_many_rows_in_few(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    """Rows repeated 500 times have the same shares, but are many beside the cells: the other way of counting."""
    first, second = read(people(30, 1), schema), read(people(20, 2), schema)
    often = [s.take(np.tile(np.arange(s.rows), 500)) for s in (first, second)]
    for order in (2, 3):
        few, many = marginals(first, second, order), marginals(often[0], often[1], order)
        assert {e.columns: e.distance for e in few.tables} == pytest.approx(
            {e.columns: e.distance for e in many.tables}
        )


def test_bins_are_parts_of_the_public_range() -> None:
    schema = pt.Schema(name="n", columns={"x": pt.Integer(min=0, max=99, missing=False)})
    low, high = (read(pa.table({"x": values}), schema) for values in ([0, 1, 2, 30], [24, 3, 4, 40]))
    assert marginals(low, high, 1, bins=4).tables[0].distance == 0
    assert marginals(low, high, 1, bins=5).tables[0].distance == pytest.approx(1 / 4)
    assert marginals(low, high, 1, bins=256).tables[0].distance == 1


@pytest.mark.parametrize(("rows", "others"), [(400, 400), (150, 900), (2_000, 50)])
def test_chance_is_what_resampling_gives(
    rows: int, others: int, schema: pt.Schema, people: Callable[..., pa.Table]
) -> None:
    """Means of 40 pairs of samples of one population, to 6 %.

    The mean distance over tables of one order varies by less than 12 % (order 1) and 4 % (more) between pairs of
    samples, so means of 40 vary by under 2 %: a false alarm has a chance below 1 in 500. The seed is fixed.
    """
    everyone, rng = read(people(60_000, 9), schema), np.random.default_rng(1)
    for order in (1, 2, 3):
        pairs = []
        for _ in range(40):
            chosen = rng.choice(everyone.rows, rows + others, replace=False)
            found = marginals(everyone.take(chosen[:rows]), everyone.take(chosen[rows:]), order)
            pairs.append((found.mean, found.chance))
        distance, chance = np.mean(pairs, axis=0)
        assert chance == pytest.approx(distance, rel=0.06), (order, distance, chance)


@pytest.mark.parametrize(("rows", "others", "cells"), [(3, 4, 3), (2, 5, 4), (4, 4, 2), (1, 6, 5)])
def test_chance_is_the_mean_over_all_ways_to_deal_rows_out(rows: int, others: int, cells: int) -> None:
    pooled = np.random.default_rng(rows).integers(0, cells, rows + others)
    distances = []
    for chosen in combinations(range(rows + others), rows):
        first = np.isin(np.arange(rows + others), chosen)
        counts = [np.bincount(pooled[part], minlength=cells) for part in (first, ~first)]
        distances.append(np.abs(counts[0] / rows - counts[1] / others).sum() / 2)
    schema = pt.Schema(name="c", columns={"x": pt.Integer(min=0, max=cells, missing=False)})
    one, two = (read(pa.table({"x": part}), schema) for part in (pooled[:rows], pooled[rows:]))
    assert marginals(one, two, 1).chance == pytest.approx(np.mean(distances))


class TestIndependent:
    def test_keeps_columns_and_breaks_dependence(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        real = read(people(3_000), schema)
        apart = independent(real, seed=0)
        assert marginals(real, apart, 1, bins=256).mean == 0
        for name in ("income", "age", "seen"):
            assert sorted(real.records.units[name]) == sorted(apart.records.units[name])
        pairs = {each.columns: each for each in marginals(real, apart, 2).tables}
        assert pairs["grade", "age"].distance > 0.4  # grade follows from age
        assert pairs["sex", "member"].distance < 0.03  # these are independent: three standard deviations

    def test_a_value_stays_with_its_level(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        apart = independent(read(people(500), schema), seed=0)
        edges = apart.level("age").edges
        assert (edges[apart.codes("age")] == apart.values("age")).all()

    def test_the_seed_decides(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        real = read(people(50), schema)
        codes = [independent(real, seed=seed).codes("age").tolist() for seed in (1, 1, 2)]
        assert codes[0] == codes[1] != codes[2]


def test_as_json_and_as_a_table() -> None:
    found = marginals(letters(["abcab", "bbbbb"]), letters(["abcab"]), 2)
    facts = found.to_json()
    assert facts["mean"] == pytest.approx(np.mean([each["distance"] for each in facts["tables"]]))
    assert facts["tables"][0]["columns"] == list(found.tables[0].columns)
    assert found.table().column_names == ["column_1", "column_2", "distance", "chance"]
    assert found.table().num_rows == 10


def pairs(distance: float, chance: float = 0.0) -> Marginals:
    return Marginals(2, 16, (Marginal(("height", "sex"), distance, chance),), 1)


class TestGrades:
    @pytest.mark.parametrize(
        ("distance", "chance", "shuffled", "kept", "grade"),
        [
            (0.02, 0.02, 0.12, "100%", "good"),
            (0.05, 0.02, 0.12, "70%", "good"),
            (0.06, 0.02, 0.12, "60%", "fair"),
            (0.08, 0.02, 0.12, "40%", "fair"),
            (0.09, 0.02, 0.12, "30%", "poor"),
            (0.30, 0.02, 0.12, "0%", "poor"),
            (0.0, 0.02, 0.12, "100%", "good"),
        ],
    )
    def test_pairs(self, distance: float, chance: float, shuffled: float, kept: str, grade: str) -> None:
        point = pairs_point(pairs(distance, chance), pairs(shuffled))
        assert (point.figure, point.grade) == (kept, grade)
        assert "height with sex" in point.sentence

    def test_one_strong_pair_that_is_lost_is_not_hidden_by_many_weak_ones(self) -> None:
        names = [("strong", "pair"), *(("weak", str(n)) for n in range(40))]

        def tables(strong: float, weak: float) -> Marginals:
            distances = [strong, *[weak] * 40]
            found = (Marginal(each, distance, 0.02) for each, distance in zip(names, distances, strict=True))
            return Marginals(2, 16, tuple(sorted(found, key=lambda each: -each.distance)), 41)

        apart = tables(0.5, 0.025)
        assert pairs_point(tables(0.5, 0.02), apart).grade == "poor"
        assert pairs_point(tables(0.03, 0.025), apart).grade == "good"

    @pytest.mark.parametrize(("chance", "shuffled"), [(0.02, 0.01), (0.02, 0.02), (0.02, 0.021)])
    def test_pairs_where_independence_is_no_yardstick(self, chance: float, shuffled: float) -> None:
        """Real columns that do not depend on each other, or a short table: synthetic ones may not depend either."""

        def grade(distance: float) -> str:
            return pairs_point(pairs(distance, chance), pairs(shuffled)).grade

        assert grade(chance) == grade(chance + 0.005) == "good"  # half a percent of the rows, which is no news
        assert grade(chance + 0.3) == "poor"

    def test_what_these_rows_cannot_tell(self) -> None:
        assert pairs_point(pairs(0.2, 0.21), pairs(0.14)).grade == "unclear"

    def test_one_column_has_no_pairs(self) -> None:
        assert MarginalTables((pairs(0.1),), ()).points() == ()
