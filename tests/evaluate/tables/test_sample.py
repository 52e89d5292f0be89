"""A table as the schema sees it: the same from every source, exact on every kind of column, silent about values."""

import datetime as dt
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import parquet

import pointillist as pt
from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.evaluate.tables.sample import Sample, joined, read, require_same_columns
from pointillist.schema.levels import BINS, coarse, coarse_size

SECRET = "SECRETVALUE"


def one(column: Any, values: Any) -> Sample:
    """A sample of one column, x."""
    return read(pa.table({"x": pa.array(values)}), pt.Schema(name="one", columns={"x": column}))


@pytest.fixture
def sample(schema: pt.Schema, people: Callable[..., pa.Table]) -> Sample:
    return read(people(500, 3), schema)


class TestColumns:
    def test_every_kind(self, schema: pt.Schema) -> None:
        table = pa.table(
            {
                "sex": ["male", "female", "somebody else"],
                "grade": ["high", None, "low"],
                "member": [True, None, False],
                "age": [110, 0, 7],
                "income": [0.0, None, 1.0],
                "seen": [dt.date(2020, 1, 1), None, dt.date(2025, 12, 31)],
            }
        )
        found = read(table, schema)
        assert found.rows == 3
        assert found.columns == tuple(schema.columns)
        assert found.codes("sex").tolist() == [1, 0, 2]
        assert found.codes("grade").tolist() == [2, found.level("grade").missing, 0]
        assert found.codes("member").tolist() == [1, 2, 0]
        assert found.values("age").tolist() == [110, 0, 7]
        assert found.codes("age").tolist() == [110, 0, 7]
        np.testing.assert_allclose(found.values("income"), [0.0, np.nan, 1.0])
        days = [(when - dt.date(1970, 1, 1)).days for when in (dt.date(2020, 1, 1), dt.date(2025, 12, 31))]
        np.testing.assert_array_equal(found.values("seen"), [days[0], np.nan, days[1]])
        for name in ("grade", "member", "income", "seen"):
            assert found.missing(name).tolist() == [False, True, False]
        assert not found.missing("sex").any()

    def test_agrees_with_the_table(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        table, found = people(500, 3), read(people(500, 3), schema)
        assert found.values("age").tolist() == table["age"].to_pylist()
        income = table["income"].to_numpy()
        np.testing.assert_allclose(found.values("income"), np.where(income == 0, 0, np.maximum(income, 1)), rtol=1e-9)
        names = np.array([*schema.columns["grade"].categories, "other", None], dtype=object)
        assert names[found.codes("grade")].tolist() == table["grade"].to_pylist()

    def test_seconds(self) -> None:
        when = dt.datetime(2024, 2, 29, 23, 59, 59)
        column = pt.Datetime(min="1900-01-01", max="2100-01-01", resolution="second")
        assert one(column, [when, None]).values("x")[0] == (when - dt.datetime(1970, 1, 1)).total_seconds()

    def test_a_column_that_is_not_there(self, sample: Sample) -> None:
        with pytest.raises(UsageError, match=r"'height'.*sex, grade"):
            sample.level("height")


class TestValues:
    @given(
        st.lists(st.floats(-50, 250) | st.none(), min_size=1, max_size=30),
        st.sampled_from(["linear", "log"]),
        st.integers(2, 64),
    )
    def test_real_numbers_come_back_within_bounds(self, values: list[float | None], scale: Any, bins: int) -> None:
        low, high = (1.5, 200.0) if scale == "log" else (-40.0, 200.0)
        found = one(pt.Real(min=low, max=high, scale=scale, bins=bins), pa.array(values, pa.float64()))
        expected = [np.nan if v is None else min(high, max(low, v)) for v in values]
        np.testing.assert_allclose(found.values("x"), expected, rtol=1e-9, atol=1e-9)

    @given(
        st.lists(st.floats(-30, 30), min_size=1, max_size=30), st.sampled_from(["linear", "log"]), st.integers(2, 64)
    )
    def test_whole_numbers_drop_fractions_as_their_bins_do(self, values: list[float], scale: Any, bins: int) -> None:
        """A fraction is dropped, so value and level always tell the same number."""
        # A thousandth below a whole number is where rounding errors end: on that very edge either is right.
        assume(all(abs(value % 1 - 0.999) > 1e-9 for value in values))
        low = 1 if scale == "log" else -25
        found = one(pt.Integer(min=low, max=25, scale=scale, bins=bins), values)
        kept = [min(25, max(low, math.floor(v + 1e-3))) for v in values]
        assert found.values("x").tolist() == kept
        exact = [v for v in values if abs(v - round(v)) > 1e-2 or v == round(v)]
        if exact:
            level = one(pt.Integer(min=low, max=25, scale=scale, bins=bins), exact)
            edges, number = level.level("x").edges, level.codes("x")
            assert ((edges[number] <= level.values("x")) & (level.values("x") < edges[number + 1])).all()

    @given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20))
    def test_large_whole_numbers_are_exact(self, values: list[int]) -> None:
        assert one(pt.Integer(min=-(2**40), max=2**40), values).values("x").tolist() == values

    @pytest.mark.parametrize("scale", ["linear", "log"])
    def test_special_values_stay_as_they_are(self, scale: Any) -> None:
        column = pt.Real(min=1, max=100, special=(0.0, -99.0, 50.0, 1e6), scale=scale)
        found = one(column, [0.0, -99.0, 50.0, 1e6, 20.0, 1e5, -3.0, None])
        np.testing.assert_allclose(found.values("x"), [0, -99, 50, 1e6, 20, 100, 1, np.nan], rtol=1e-12)
        regular = found.level("x").regular
        assert found.codes("x")[:4].tolist() == [regular, regular + 1, regular + 2, regular + 3]

    def test_missing_wins_over_special(self) -> None:
        found = one(pt.Integer(min=0, max=9, special=(5,)), [5, None])
        assert found.values("x")[0] == 5
        assert np.isnan(found.values("x")[1])


class TestCoarse:
    def test_numbers_join_and_the_rest_stays(self) -> None:
        column = pt.Integer(min=0, max=99, bins=50, special=(0, -1))
        found = one(column, [0, -1, 1, 99, 50, None])
        level = found.level("x")
        assert (level.regular, level.size) == (50, 53)
        assert coarse_size(level, 10) == 13
        assert found.bins("x", 10).tolist() == [10, 11, 0, 9, 5, 12]
        assert np.bincount(coarse(level, 10)).tolist() == [5] * 10 + [1] * 3
        assert found.bins("x", 50).tolist() == found.codes("x").tolist()

    @given(st.integers(2, 200), st.integers(1, 40))
    def test_parts_are_about_equal_and_in_order(self, regular: int, most: int) -> None:
        level = one(pt.Integer(min=0, max=regular - 1), [0]).level("x")
        numbers = coarse(level, most)[:regular]
        assert (np.diff(numbers) >= 0).all()
        counts = np.bincount(numbers)
        assert len(counts) == min(most, regular)
        assert counts.max() - counts.min() <= 1

    def test_categories_are_never_joined(self) -> None:
        names = tuple(f"c{i}" for i in range(3 * BINS))
        assert coarse_size(one(pt.Categorical(categories=names), ["c1"]).level("x")) == len(names) + 2


class TestRows:
    def test_take(self, sample: Sample) -> None:
        some = sample.take(np.array([4, 4, 0]))
        assert some.rows == 3
        for name in sample.columns:
            assert some.codes(name).tolist() == sample.codes(name)[[4, 4, 0]].tolist()
        np.testing.assert_array_equal(some.values("income"), sample.values("income")[[4, 4, 0]])
        old = sample.values("age") > 50
        assert sample.take(old).rows == old.sum()
        assert (sample.take(old).values("age") > 50).all()
        assert sample.take(np.zeros(sample.rows, dtype=bool)).rows == 0

    def test_at_most(self, sample: Sample) -> None:
        assert sample.at_most(500, seed=1) is sample
        few = sample.at_most(50, seed=1)
        assert few.rows == 50
        assert few.values("age").tolist() == sample.at_most(50, seed=1).values("age").tolist()
        assert few.values("age").tolist() != sample.at_most(50, seed=2).values("age").tolist()

    def test_at_most_draws_rows_once_and_whole(self) -> None:
        column = pt.Integer(min=0, max=999, missing=False)
        numbers = pa.table({"x": np.arange(1000), "y": np.arange(1000)})
        whole = read(numbers, pt.Schema(name="two", columns={"x": column, "y": column}))
        part = whole.at_most(300, seed=0)
        assert len(set(part.values("x"))) == 300
        assert part.values("x").tolist() == part.values("y").tolist()

    def test_joined(self, sample: Sample) -> None:
        both = joined(sample, sample.take(np.arange(20)))
        assert both.rows == 520
        for name in sample.columns:
            assert both.codes(name)[500:].tolist() == sample.codes(name)[:20].tolist()

    def test_other_schemas_are_refused(self, sample: Sample) -> None:
        other = one(pt.Boolean(), [True])
        with pytest.raises(UsageError, match="different schemas"):
            require_same_columns(sample, sample, other)
        require_same_columns(sample, sample)


SOURCES: dict[str, Callable[[Path, pa.Table], Any]] = {
    "pandas": lambda folder, table: table.to_pandas(),
    "polars": lambda folder, table: pl.from_arrow(table),
    "relation": lambda folder, table: duckdb.connect().from_arrow(table),
    "csv": lambda folder, table: pacsv.write_csv(table, folder / "t.csv") or folder / "t.csv",
    "parquet": lambda folder, table: parquet.write_table(table, folder / "t.parquet") or str(folder / "t.parquet"),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_from_every_source(
    kind: str, schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path
) -> None:
    table = people(300, 5)
    expected, found = read(table, schema), read(SOURCES[kind](tmp_path, table), schema)
    for name in schema.columns:
        assert found.codes(name).tolist() == expected.codes(name).tolist(), name
        if expected.level(name).numeric:
            np.testing.assert_array_equal(found.values(name), expected.values(name))


def test_more_rows_than_a_batch(schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    table, seen = people(70_000), []
    found = read(table, schema, report=seen.append)
    assert found.values("age").tolist() == table["age"].to_pylist()
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_a_sample_is_read_already(sample: Sample, schema: pt.Schema) -> None:
    assert read(sample, schema) is sample


class TestMistakes:
    """Each message names the table and the column, and no value."""

    def refused(self, table: Any, schema: pt.Schema, *words: str) -> None:
        with pytest.raises(PointillistError) as caught:
            read(table, schema)
        error: BaseException | None = caught.value
        assert isinstance(error, DataError)
        while error is not None:
            assert SECRET not in str(error)
            assert "987654" not in str(error)
            error = error.__cause__ or error.__context__
        for word in words:
            assert re.search(word, str(caught.value)), (word, str(caught.value))

    @pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "parquet"])
    def test_no_rows(self, kind: str, schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path) -> None:
        name = "the frame" if kind in ("pandas", "polars") else rf"t\.{kind}"
        self.refused(SOURCES[kind](tmp_path, people(5).slice(0, 0)), schema, name, "no rows")

    def test_other_columns(self, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        self.refused(people(5).drop_columns(["age"]), schema, "the frame", "'age'")
        self.refused(pd.DataFrame({SECRET: [1]}), schema, "the frame", "'sex'")

    @pytest.mark.parametrize("name", ["age", "income", "seen", "member"])
    def test_other_types(self, name: str, schema: pt.Schema, people: Callable[..., pa.Table], tmp_path: Path) -> None:
        table = people(5)
        table = table.set_column(table.column_names.index(name), name, pa.array([SECRET] * 5))
        self.refused(table, schema, "the frame", f"'{name}'")
        self.refused(SOURCES["csv"](tmp_path, table), schema, r"t\.csv", f"'{name}'")
        self.refused(SOURCES["parquet"](tmp_path, table), schema, r"t\.parquet", f"'{name}'")

    def test_unlisted_categories(self) -> None:
        listed = {"categories": ("a", "b"), "missing": False}
        table = pa.table({"x": ["a", SECRET]})
        strict = pt.Schema(name="s", columns={"x": pt.Categorical(**listed, out_of_domain="error")})
        self.refused(table, strict, "the frame", "'x'", "categories")
        lenient = pt.Schema(name="s", columns={"x": pt.Categorical(**listed, out_of_domain="other")})
        assert read(table, lenient).codes("x").tolist() == [0, 2]

    def test_numbers_out_of_bounds(self) -> None:
        table = pa.table({"x": [987654, 3]})
        strict = pt.Schema(name="s", columns={"x": pt.Integer(min=0, max=10, out_of_domain="error")})
        self.refused(table, strict, "the frame", "'x'", "outside min and max")
        lenient = pt.Schema(name="s", columns={"x": pt.Integer(min=0, max=10)})
        assert read(table, lenient).values("x").tolist() == [10, 3]

    @pytest.mark.parametrize("name", ["sex", "age"])
    def test_missing_where_none_may_be(self, name: str, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
        table = people(5)
        place = table.column_names.index(name)
        gaps = pa.array([None, *table[name].to_pylist()[1:]])
        self.refused(table.set_column(place, name, gaps), schema, "the frame", f"'{name}'", "missing")
