import datetime as dt
import math
import tomllib
from collections import Counter
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
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import pointillist
from pointillist.curator.table_drafting import draft
from pointillist.demo.people import SCHEMA, simulate
from pointillist.errors import DataError, SchemaError
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.schema import Categorical, Datetime, Ignore, Integer, Person, Real, Schema
from pointillist.schema.csv_form import CsvForm
from pointillist.schema.levels import levels_of

SOME = settings(deadline=None, max_examples=50)


def encoded(table: Any, schema: Schema, **options: Any) -> Counter[tuple[int, ...]]:
    """Every row of a table under a draft that was reviewed."""
    reviewed = schema.model_copy(update={"reviewed": True})
    encoder = Encoder(levels_of(reviewed), frozenset(reviewed.measured), frozenset(), "the table")
    rows: Counter[tuple[int, ...]] = Counter()
    for batch in open_source(table, **options).batches(encoder.columns, reviewed, lambda part: None):
        codes = encoder(batch).codes
        rows.update(zip(*(codes[name].tolist() for name in reviewed.measured), strict=True))
    return rows


def facts_from_data(column: Any) -> set[str]:
    """What a draft of this kind can only know from the rows."""
    if isinstance(column, Ignore):
        return {"kind"} | ({"repeats"} if column.repeats is not None else set())
    facts = {"kind", "missing"}
    if isinstance(column, Categorical):
        facts |= {"categories"} | ({"other_label"} if column.other_label != "other" else set())
    if isinstance(column, Datetime):
        facts |= {"resolution"}
    if isinstance(column, Integer | Real | Datetime):
        facts |= {"min", "max"}
    facts |= {"special"} if getattr(column, "special", ()) else set()
    facts |= {name for name in ("only", "clock") if getattr(column, name, False)}
    facts |= {"scale"} if getattr(column, "scale", "linear") != "linear" else set()
    facts |= {"format"} if getattr(column, "format", None) is not None else set()
    facts |= {"stored"} if getattr(column, "stored", None) is not None else set()
    facts |= {"decimals"} if getattr(column, "decimals", None) is not None else set()
    return facts


def checked(table: Any, rows: int, **options: Any) -> dict[str, Any]:
    """Draft a schema, check what holds for every draft, and give its columns."""
    schema = draft(table, name="study", **options)
    assert not schema.reviewed
    with pytest.raises(SchemaError):
        schema.require_reviewed()
    assert Schema.parse(tomllib.loads(schema.to_toml())) == schema
    owner = schema.person.column if schema.person else None
    for name, column in schema.columns.items():
        assert name == owner or set(column.read_from_data) == facts_from_data(column), name
    assert encoded(table, schema).total() == rows
    return dict(schema.columns)


@pytest.fixture(scope="module")
def registry() -> pa.Table:
    return simulate()


SOURCES: dict[str, Callable[[Path, pa.Table], Any]] = {
    "csv": lambda folder, table: pacsv.write_csv(table, folder / "t.csv") or folder / "t.csv",
    "parquet": lambda folder, table: parquet.write_table(table, folder / "t.parquet") or folder / "t.parquet",
    "pandas": lambda folder, table: table.to_pandas(),
    "polars": lambda folder, table: pl.from_arrow(table),
    "relation": lambda folder, table: duckdb.connect().from_arrow(table),
}


class TestRegistry:
    def test_is_drafted_and_encodes(self, registry: pa.Table) -> None:
        columns = checked(registry, registry.num_rows)
        assert list(columns) == registry.column_names
        kinds = {name: column.kind for name, column in columns.items()}
        assert kinds == {
            name: "categorical" if column.kind == "ordinal" else column.kind for name, column in SCHEMA.columns.items()
        }

    def test_finds_the_facts(self, registry: pa.Table) -> None:
        columns = draft(registry, name="study").columns
        assert set(columns["sex"].categories) == {"female", "male", "other"}
        assert columns["sex"].other_label == "(other)"
        assert columns["savings"].special == (0.0,)
        assert columns["savings"].scale == "log"
        assert columns["savings"].decimals == 2
        assert columns["bmi"].decimals == 1
        assert columns["last_visit"].resolution == "second"
        assert columns["birth_date"].resolution == "day"
        for name, column in SCHEMA.columns.items():
            assert columns[name].missing == (registry[name].null_count > 0)
            assert column.missing or not columns[name].missing

    @pytest.mark.parametrize("kind", SOURCES)
    def test_is_drafted_from_every_source(self, registry: pa.Table, kind: str, tmp_path: Path) -> None:
        assert len(checked(SOURCES[kind](tmp_path, registry[:1500]), 1500)) == 14

    def test_says_what_it_is(self, registry: pa.Table) -> None:
        toml = pointillist.draft(registry, name="study").to_toml()
        assert toml.startswith("# A DRAFT, NOT PRIVATE YET")
        assert "rows = 25000 # READ FROM THE DATA" in toml

    def test_bounds_are_round_and_hold_the_data(self, registry: pa.Table) -> None:
        columns = draft(registry, name="study").columns
        for name in ("children", "hours_per_week", "income", "savings", "bmi"):
            low, high = columns[name].min, columns[name].max
            values = np.array([value for value in registry[name].to_pylist() if value])
            assert ((values < low) | (values > high)).mean() <= 1e-3  # of few numbers those that hardly a row has
            assert (low, high) == (float(f"{low:.3g}"), float(f"{high:.3g}"))


class TestTraps:
    def test_an_identifier(self) -> None:
        columns = checked(pa.table({"id": range(200), "x": [1.5, 2.5] * 100}), 200)
        assert isinstance(columns["id"], Ignore)
        assert "identifier" in columns["id"].description

    def test_free_text(self) -> None:
        columns = checked(pa.table({"note": [f"text {n}" for n in range(100)], "x": [1.5, 2.5] * 50}), 100)
        assert isinstance(columns["note"], Ignore)
        assert (
            "text 7"
            not in draft(pa.table({"note": [f"text {n}" for n in range(100)], "x": [1.5] * 100}), name="s").to_toml()
        )

    def test_zeros_and_ones(self) -> None:
        columns = checked(pa.table({"x": [0, 1, 1, None]}), 4)
        assert columns["x"] == Categorical(categories=(0, 1), read_from_data=("kind", "categories", "missing"))

    @pytest.mark.parametrize(
        "nothing", [pa.nulls(3), pa.array([None] * 3, pa.string()), pa.array([None] * 3, pa.float64())]
    )
    def test_a_column_without_values(self, nothing: pa.Array) -> None:
        columns = checked(pa.table({"none": nothing, "x": [1.5, 2.5, 3.5]}), 3)
        assert isinstance(columns["none"], Ignore)

    @pytest.mark.parametrize(
        "value", [5, 0, -3, 2.5, 0.0, 1e17, "a", True, dt.date(2020, 2, 2), dt.datetime(2020, 2, 2, 2)]
    )
    def test_a_constant(self, value: Any) -> None:
        assert not isinstance(checked(pa.table({"x": [value] * 4, "y": [1, 2, 3, 4]}), 4)["x"], Ignore)

    def test_numbers_that_are_not_finite(self) -> None:
        values = [math.inf, -math.inf, math.nan, 1.5, 7.25]
        column = checked(pa.table({"x": values, "y": range(5)}), 5)["x"]
        assert column.missing
        assert column.min <= 1.5
        assert column.max >= 7.25

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
    def test_nothing_finite_at_all(self, value: float) -> None:
        columns = checked(pa.table({"x": [value] * 3, "y": [1, 2, 3]}), 3)
        assert isinstance(columns["x"], Ignore)

    @pytest.mark.parametrize("values", [[1.79e308, 1.0], [-1.5e308, 1.5e308], [5e-324, 1.0], [1e-310, 3e-310]])
    def test_extreme_numbers(self, values: list[float]) -> None:
        assert "x" in checked(pa.table({"x": values, "y": [1, 2]}), 2)

    @pytest.mark.parametrize("start", [10**17, 2**63 - 100, -(2**62)])
    def test_whole_numbers_beyond_exact_floats(self, start: int) -> None:
        assert "x" in checked(pa.table({"x": [start + n // 2 for n in range(50)], "y": [1.5] * 50}), 50)

    def test_two_large_numbers(self) -> None:
        table = pa.table({"x": [2**53, 2**53 + 1], "y": [1.5, 2.5]})
        checked(table, 2)

    def test_days_and_times(self) -> None:
        day, time = [dt.date(1950, 5, 5), None, dt.date(2011, 3, 3)], dt.datetime(2020, 2, 2, 12, 30, 15, 999)
        columns = checked(pa.table({"day": day, "time": [time, time, None]}), 3)
        assert columns["day"].min == dt.datetime(1950, 1, 1)
        assert columns["day"].max == dt.datetime(2011, 12, 31)
        assert columns["day"].resolution == "day"
        assert columns["time"].max == dt.datetime(2020, 12, 31, 23, 59, 59)
        assert columns["time"].resolution == "second"

    @pytest.mark.parametrize(
        "kind", [pa.timestamp("ns"), pa.timestamp("s"), pa.timestamp("us", "Asia/Tokyo"), pa.date64()]
    )
    def test_every_kind_of_time(self, kind: pa.DataType) -> None:
        times = pa.array([dt.datetime(1965, 1, 1), dt.datetime(2020, 6, 1), None]).cast(kind)
        assert isinstance(checked(pa.table({"x": times}), 3)["x"], Datetime)

    @pytest.mark.parametrize("texts", [["yes", "no "], ["T", "f"], ["Y", "n"]])
    def test_truths_in_words_stay_as_they_are_written(self, texts: list[str]) -> None:
        assert checked(pa.table({"x": [*texts, None]}), 3)["x"].categories == tuple(sorted(texts))

    def test_missing_texts_in_a_frame(self) -> None:
        table = pa.table({"x": ["", "NA", "a", None]})
        column = checked(table, 4)["x"]
        assert column.categories == ("a",)
        assert column.missing

    def test_a_category_called_other(self) -> None:
        assert checked(pa.table({"x": ["other", "a", "b"]}), 3)["x"].other_label == "(other)"
        checked(pa.table({"x": ["other", "(other)", "((other))"]}), 3)

    def test_kinds_that_have_no_place_in_a_schema(self) -> None:
        columns = checked(pa.table({"list": [[1], [2]], "bytes": [b"a", b"\xff"], "x": [1.5, 2.5]}), 2)
        assert isinstance(columns["list"], Ignore)
        assert isinstance(columns["bytes"], Ignore)

    def test_odd_types(self) -> None:
        columns = checked(
            pa.table(
                {
                    "decimal": pa.array([1, 2, 3], pa.decimal128(10, 2)),
                    "word": pa.array(["a", "b", None]).dictionary_encode(),
                    "view": pa.array(["a", "b", None], pa.string_view()),
                    "time": pa.array([dt.time(1, 2), dt.time(3, 4), None]),
                    "small": pa.array([1, 2, 3], pa.uint8()),
                    "single": pa.array([1.5, 2.5, None], pa.float32()),
                }
            ),
            3,
        )
        assert isinstance(columns["decimal"], Integer)
        assert columns["word"].categories == columns["view"].categories == ("a", "b")
        assert isinstance(columns["small"], Integer)

    @pytest.mark.parametrize("name", ['say "x"', "a.b", "two words", "größe", "source", "rowid", "count", "select", ""])
    def test_odd_names(self, name: str) -> None:
        assert name in checked(pa.table({name: [1.5, 2.5, 3.5], "y": ["a", "b", "c"]}), 3)

    def test_names_that_differ_in_case_alone(self) -> None:
        columns = checked(pa.table({"a": ["x", "y"], "A": [1.5, 2.5]}), 2)
        assert isinstance(columns["a"], Categorical)
        assert isinstance(columns["A"], Real)

    def test_pandas(self) -> None:
        frame = pd.DataFrame(
            {
                "whole": [1, 2, None, 5],
                "word": pd.Categorical(["a", "b", None, "a"]),
                "nothing": [None] * 4,
                "when": pd.to_datetime(["2020-01-01", None, "2021-01-01", "2020-05-05"]),
                "truth": [True, None, False, True],
            }
        )
        columns = checked(frame, 4)
        assert {name: column.kind for name, column in columns.items()} == {
            "whole": "integer", "word": "categorical", "nothing": "ignore", "when": "datetime", "truth": "boolean",
        }  # fmt: skip

    def test_long_tails_and_many_zeros(self) -> None:
        values = [0.0] * 20 + [1.5**n for n in range(60)]
        column = checked(pa.table({"x": values, "y": ["a", "b"] * 40}), 80)["x"]
        assert (column.special, column.scale) == ((0.0,), "log")

    def test_long_tails_on_both_sides_of_zero(self) -> None:
        """Losses and gains; whole numbers of which there are few keep a level each, however far they reach."""
        tails = [sign * 1.5**n for n in range(30) for sign in (-1, 1)]
        few = [0, 1, 2] * 19 + [-3, 500, 7]
        columns = checked(pa.table({"x": tails, "few": few, "all": ["a", "b"] * 30}), 60)
        assert (columns["x"].scale, columns["few"].scale) == ("asinh", "linear")
        assert columns["x"].min < -(1.5**29) < 0 < 1.5**29 < columns["x"].max

    def test_frequent_values_are_set_apart_where_bins_would_blur_them(self) -> None:
        """A ceiling on pay, and zero; but not among few whole numbers, which have a level each anyway."""
        pay = [0.0] * 100 + [25862.32] * 200 + [1000.25 + 37.5 * n for n in range(700)]
        age = [40] * 300 + [18 + n % 70 for n in range(700)]
        columns = checked(pa.table({"pay": pay, "age": age, "y": ["a", "b"] * 500}), 1000)
        assert columns["pay"].special == (0.0, 25862.32)
        assert columns["pay"].max >= 1000.25 + 37.5 * 699
        assert columns["age"].special == ()

    def test_years_keep_a_level_each(self) -> None:
        column = checked(
            pa.table({"year": [1893 + n % 113 for n in range(113)] * 4 + [1950] * 48, "y": ["a", "b"] * 250}), 500
        )["year"]
        assert (column.min, column.max) == (1892, 2006)

    def test_numbers_as_people_mean_them(self) -> None:
        """Few numbers with gaps, steps, whole numbers stored as floats, times of day, sentinels, heaps."""
        rows = 1200
        columns = checked(
            pa.table(
                {
                    "year": [1972 + 2 * (n % 7) for n in range(rows)],
                    "month": [float(n % 12 + 1) if n % 9 else None for n in range(rows)],
                    "price": [(0.79, 0.99, 1.19, 1.47)[n % 4] for n in range(rows)],
                    "once_single": [(4.5999999, 3.2000000, 5.0999999, 7.1999998)[n % 4] + n % 40 for n in range(rows)],
                    "time": [100 * (n * (n % 7) % 24) + n * (n % 9) % 60 for n in range(rows)],
                    "weight": [-999.0 if n % 10 == 0 else 40 + (n * 7 % 611) / 10 for n in range(rows)],
                    "flag": [float(n % 2) for n in range(rows)],
                }
            ),
            rows,
        )
        assert columns["year"].only == tuple(range(1972, 1986, 2))
        assert (columns["month"].kind, columns["month"].min, columns["month"].max) == ("integer", 1, 12)
        assert columns["price"].only == (0.79, 0.99, 1.19, 1.47)
        assert columns["once_single"].decimals == 1
        assert (columns["time"].clock, columns["time"].min, columns["time"].max) == (True, 0, 2359)
        assert columns["weight"].special[0] == -999.0
        assert columns["weight"].min >= 39
        assert columns["flag"].categories == (0, 1)

    def test_many_categories_repeat_and_the_rest_is_other(self) -> None:
        airports = [f"A{n * n * (n % 3) % 105:03}" if n % 2 else f"A{n % 105:03}" for n in range(10_000)]
        rare = [place if n % 50 else f"B{n}" for n, place in enumerate(airports)]
        columns = checked(pa.table({"dest": airports, "rare": rare, "x": [1.5, 2.5] * 5_000}), 10_000)
        assert len(columns["dest"].categories) == 105
        assert len(columns["rare"].categories) == 105
        assert columns["rare"].has_other

    def test_what_names_people_is_left_out_with_the_reason(self) -> None:
        table = pa.table(
            {
                "mail": [f"p{n % 10}@example.org" for n in range(300)],
                "code": [f"K{n:05}" for n in range(300)],
                "note": [f"a remark that is {n} words long or so" for n in range(300)],
                "x": [1.5, 2.5] * 150,
            }
        )
        columns = checked(table, 300)
        for name, fake in (("mail", "email"), ("code", "id"), ("note", "text")):
            assert f'fake = "{fake}"' in columns[name].description


class TestCsv:
    def drafted(self, path: Path, lines: list[str]) -> dict[str, Any]:
        path.write_text("\n".join(lines) + "\n")
        return checked(path, len(lines) - 1)

    def test_types_are_guessed(self, tmp_path: Path) -> None:
        lines = [
            "a,b,c,d,e",
            *(f"{n % 7},{n / 8},w{n % 3},2020-01-{n % 28 + 1:02},{'true' if n % 2 else 'false'}" for n in range(50)),
        ]
        columns = self.drafted(tmp_path / "t.csv", lines)
        kinds = [column.kind for column in columns.values()]
        assert kinds == ["integer", "real", "categorical", "datetime", "boolean"]

    def test_truths_in_words_stay_as_they_are_written(self, tmp_path: Path) -> None:
        columns = self.drafted(tmp_path / "t.csv", ["x,y", "yes,1", "no,2", "yes,3"])
        assert columns["x"] == Categorical(
            categories=("no", "yes"), missing=False, read_from_data=("kind", "categories", "missing")
        )

    def test_gaps_are_not_categories(self, tmp_path: Path) -> None:
        columns = self.drafted(tmp_path / "t.csv", ["x,y", "a,1", "NA,2", ",3", "b,?", "null,nan"])
        assert columns["x"].categories == ("a", "b")
        assert columns["x"].missing
        assert isinstance(columns["y"], Integer)

    def test_leading_zeros_are_text(self, tmp_path: Path) -> None:
        assert self.drafted(tmp_path / "t.csv", ["x,y", "00,1", "01,2", "00,3"])["x"].categories == ("00", "01")

    @pytest.mark.parametrize("layout", ["%d/%m/%Y", "%d.%m.%Y", "%m-%d-%Y"])
    def test_days_that_are_not_iso(self, tmp_path: Path, layout: str) -> None:
        days = [(dt.date(2020, 1, 1) + dt.timedelta(days=n)).strftime(layout) for n in range(50)]
        assert "x" in self.drafted(tmp_path / "t.csv", ["x,y", *(f"{day},{n}" for n, day in enumerate(days))])

    def test_times_with_a_zone(self, tmp_path: Path) -> None:
        assert "x" in self.drafted(tmp_path / "t.csv", ["x,y", *(f"2020-01-0{n}T10:00:00Z,{n}" for n in range(1, 9))])

    def test_times_of_day(self, tmp_path: Path) -> None:
        assert "x" in self.drafted(tmp_path / "t.csv", ["x,y", *(f"08:0{n},{n}" for n in range(1, 9))])

    def test_a_column_without_a_name(self, tmp_path: Path) -> None:
        """pandas writes the row numbers of a frame like this."""
        assert list(self.drafted(tmp_path / "t.csv", [",x", "0,a", "1,b", "2,a"])) == ["", "x"]

    def test_names_that_differ_in_case_alone(self, tmp_path: Path) -> None:
        assert list(self.drafted(tmp_path / "t.csv", ["x,X", "0.5,a", "1.5,b", "2.5,a"])) == ["x", "X"]

    def test_single_quotes_and_comment_signs_are_part_of_a_value(self, tmp_path: Path) -> None:
        columns = self.drafted(tmp_path / "t.csv", ["x,y", "'a',#1", "'b',#2", "'a',#1"])
        assert columns["x"].categories == ("'a'", "'b'")
        assert columns["y"].categories == ("#1", "#2")

    def test_another_delimiter(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("a;b\nx;1.5\ny;2.5\n")
        schema = draft(open_source(path, delimiter=";"), name="study")
        assert [column.kind for column in schema.columns.values()] == ["categorical", "real"]
        assert encoded(path, schema, delimiter=";").total() == 2


class TestPersons:
    def test_the_person_is_ignored_and_not_read(self) -> None:
        table = pa.table({"id": [1, 1, 2], "x": ["a", "b", "a"]})
        schema = draft(table, name="study", person=Person(column="id", max_rows=1))
        assert schema.person == Person(column="id", max_rows=1)
        assert schema.columns["id"] == Ignore(description="names the person")
        assert checked(table, 3, person=Person(column="id", max_rows=1))["x"].categories == ("a", "b")

    def test_the_person_must_be_there(self) -> None:
        with pytest.raises(DataError, match="column 'id' of the schema is not in the table"):
            draft(pa.table({"x": ["a"]}), name="study", person=Person(column="id", max_rows=1))


class TestRefusals:
    @pytest.mark.parametrize("content", ["", "x,y\n"])
    def test_nothing_to_read(self, content: str, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text(content)
        with pytest.raises(DataError, match=r"has no (columns|rows)"):
            draft(path, name="study")

    def test_no_column_that_can_be_used(self) -> None:
        with pytest.raises((DataError, SchemaError), match="no column looks usable"):
            draft(pa.table({"x": pa.nulls(3)}), name="study")


numbers = st.lists(st.none() | st.floats() | st.sampled_from([0.0, 1.0]), min_size=1, max_size=60)
columns = st.one_of(
    st.lists(st.none() | st.floats(-1e12, 1e12).map(lambda v: round(v, 3)), min_size=1, max_size=60).map(
        lambda v: pa.array(v, pa.float64())
    ),
    st.lists(st.none() | st.integers(-(10**12), 10**12), min_size=1, max_size=60).map(
        lambda v: pa.array(v, pa.int64())
    ),
    st.lists(st.none() | st.text(max_size=5), min_size=1, max_size=60).map(lambda v: pa.array(v, pa.string())),
    st.lists(st.none() | st.dates(), min_size=1, max_size=60).map(lambda v: pa.array(v, pa.date32())),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=60).map(lambda v: pa.array(v, pa.bool_())),
)


@SOME
@given(columns)
def test_any_column_is_drafted_and_encodes(array: pa.Array) -> None:
    table = pa.table({"x": array, "y": [n / 8 for n in range(len(array))]})
    column = checked(table, len(array))["x"]
    if isinstance(column, Integer | Real):
        strict = column.model_copy(update={"out_of_domain": "error"})
        assert encoded(table, Schema(name="s", columns={"x": strict})).total() == len(array)
    if isinstance(column, Categorical):
        other = levels_of(Schema(name="s", columns={"x": column}))[0].other
        assert encoded(table, Schema(name="s", columns={"x": column}))[other,] == 0


@SOME
@given(numbers)
def test_any_floats_are_drafted_and_encode(values: list[float | None]) -> None:
    table = pa.table({"x": pa.array(values, pa.float64()), "y": [n / 8 for n in range(len(values))]})
    assert "x" in checked(table, len(values))


class TestPeopleAndDates:
    def test_a_column_that_names_people_is_left_out_with_advice(self) -> None:
        for values in ([f"P{i % 100}" for i in range(300)], [i % 100 for i in range(300)]):
            table = pa.table({"patient_id": values, "x": [1.5, 2.5, 3.5] * 100})
            column = checked(table, 300)["patient_id"]
            assert isinstance(column, Ignore)
            assert "--person patient_id" in column.description

    @pytest.mark.parametrize("form", ["%d/%m/%Y", "%d.%m.%Y", "%m/%d/%Y"])
    def test_usual_forms_of_dates_are_recognised(self, form: str, tmp_path: Path) -> None:
        days = [dt.date(2020, 1, 1) + dt.timedelta(days=i) for i in range(90)]
        (tmp_path / "t.csv").write_text("d\n" + "\n".join(day.strftime(form) for day in days) + "\n")
        column = checked(tmp_path / "t.csv", 90)["d"]
        assert (column.kind, column.format) == ("datetime", form)

    def test_the_usual_format_is_drafted_not_every_one(self, tmp_path: Path) -> None:
        """Python leaves out the parts of a second where there are none."""
        times = [dt.datetime(2020, 1, 1, 5, n % 60, 0, 1000 * (n % 10)) for n in range(90)]
        (tmp_path / "t.csv").write_text("d\n" + "\n".join(time.isoformat() for time in times) + "\n")
        assert checked(tmp_path / "t.csv", 90)["d"].format == "%Y-%m-%dT%H:%M:%S.%f"

    def test_the_wrong_delimiter_is_hinted_at(self, tmp_path: Path) -> None:
        (tmp_path / "t.csv").write_text("a|b\n1|2.5\n")
        with pytest.raises(DataError, match="--delimiter"):
            draft(tmp_path / "t.csv", name="study")

    def test_semicolons_and_decimal_commas_give_the_same_schema(self, tmp_path: Path) -> None:
        rows = [(n % 7, (n % 60) / 4, f"{n % 3},5 kg" if n % 2 else "none") for n in range(200)]
        (tmp_path / "points.csv").write_text("a,b,c\n" + "".join(f'{a},{b},"{c}"\n' for a, b, c in rows))
        (tmp_path / "commas.csv").write_text(
            "a;b;c\n" + "".join(f"{a};{str(b).replace('.', ',')};{c}\n" for a, b, c in rows)
        )
        points, commas = (draft(tmp_path / name, name="study") for name in ("points.csv", "commas.csv"))
        assert points.csv is None
        assert commas.csv == CsvForm(delimiter=";", decimal=",")
        marks = tuple(name for name in commas.read_from_data if name != "csv")
        assert commas.model_copy(update={"csv": None, "read_from_data": marks}) == points
        assert "csv" in commas.read_from_data
        assert Schema.parse(tomllib.loads(commas.to_toml())) == commas
        assert commas.columns["b"].kind == "real"
        assert encoded(tmp_path / "commas.csv", commas) == encoded(tmp_path / "points.csv", points)


DECIMALS: dict[str, tuple[list[float], int | None]] = {
    "one sum in three is noisy": ([0.1 + 0.2, 0.5, 0.7] * 40, 1),
    "one value in fifty is long": ([1.25] * 98 + [1.123456789, 2.5], 2),
    "most are whole": ([1.0] * 60 + [0.99] * 40, 2),
    "places on the map": ([n / 1e6 + 48 for n in range(1, 200)], 6),
    "no end of digits": ([n / 7 for n in range(1, 200)], None),
    "very small": ([n * 1e-14 for n in range(1, 200)], None),
    "very large": ([n * 1e200 for n in range(1, 200)], 0),
}


@pytest.mark.parametrize(("values", "decimals"), DECIMALS.values(), ids=DECIMALS.keys())
def test_decimals_are_the_usual_number_not_the_longest(values: list[float], decimals: int | None) -> None:
    assert checked(pa.table({"x": values, "y": range(len(values))}), len(values))["x"].decimals == decimals


def test_decimals_of_single_precision(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array([n / 10 for n in range(100)], pa.float32())})
    assert checked(table, 100)["x"].decimals == 1
