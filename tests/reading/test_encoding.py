import datetime as dt
import decimal
import math
import traceback
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.errors import DataError
from pointillist.reading.encoding import Encoder
from pointillist.schema import MISSING_TEXTS, Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema
from pointillist.schema.kinds.datetime import ticks
from pointillist.schema.levels import Levels

MANY = settings(deadline=None, max_examples=100)
SECRET = "Confidential417"


def encode(column: Any, values: Any, kind: pa.DataType | None = None) -> list[int]:
    """The codes of one column."""
    array = values if isinstance(values, pa.Array) else pa.array(values, type=kind)
    return encoder(column)(pa.record_batch({"x": array})).codes["x"].tolist()


def encoder(column: Any, *, units: bool = False) -> Encoder:
    names = frozenset(["x"])
    return Encoder((Levels("x", column),), names, names if units else frozenset(), "the table")


def refusal(column: Any, values: Any, kind: pa.DataType | None = None) -> str:
    with pytest.raises(DataError) as caught:
        encode(column, values, kind)
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


def by_search(levels: Levels, values: list[float]) -> list[int]:
    """What the compiled binning must give, by plain binary search."""
    found = []
    for value in values:
        if math.isnan(value):
            found.append(levels.missing)
        elif value in levels.specials:
            found.append(levels.regular + levels.specials.index(value))
        else:
            place = int(np.searchsorted(levels.edges, value, side="right")) - 1
            found.append(min(max(place, 0), levels.regular - 1))
    return found


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low = draw(st.floats(-1e9, 1e9) | st.floats(1e-9, 1.0) | st.sampled_from([0.0, 1.0, -1.0]))
    high = low + draw(st.floats(1e-2, 1e3)) * max(1e-3, abs(low))
    scale = draw(st.sampled_from(["linear", "log"] if low > 0 else ["linear"]))
    special = tuple(draw(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([0.0, low, high]), max_size=3, unique=True)))
    return Real(min=low, max=high, scale=scale, bins=draw(st.integers(2, 300)), special=special)


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low = draw(st.integers(-(2**51), 2**51) | st.integers(-20, 20))
    width = draw(st.integers(1, 2**51) | st.integers(1, 300))
    scale = draw(st.sampled_from(["linear", "log"] if 0 < low < 1000 * width else ["linear"]))
    special = tuple(draw(st.lists(st.integers(-500, 500), max_size=3, unique=True)))
    return Integer(min=low, max=low + width, scale=scale, bins=draw(st.integers(2, 300)), special=special)


def near(levels: Levels) -> st.SearchStrategy[float]:
    """Any float at all, and those on and beside the edges and the specials."""
    points = [*levels.edges.tolist(), *levels.specials, 0.0, 5e-324, 1.7976931348623157e308]
    points += [math.nextafter(p, side) for p in points for side in (-math.inf, math.inf)]
    return st.floats() | st.sampled_from(points) | st.floats(*levels.bounds)


class TestNumbers:
    @MANY
    @given(st.data(), reals() | integers())
    def test_agrees_with_a_search_of_the_edges_for_any_float(self, data: st.DataObject, column: Any) -> None:
        levels = Levels("x", column)
        values = data.draw(st.lists(near(levels), max_size=30))
        codes = encode(column, pa.array(np.array(values, dtype=np.float64)))
        assert codes == by_search(levels, values)
        assert all(code < levels.size for code in codes)

    @MANY
    @given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300), max_size=30), integers())
    def test_any_whole_number(self, values: list[int | None], column: Integer) -> None:
        levels = Levels("x", column)
        codes = encode(column, values, pa.int64())
        assert codes == by_search(levels, [math.nan if v is None else float(v) for v in values])

    @pytest.mark.parametrize(
        "kind",
        [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()],
        ids=str,
    )
    @pytest.mark.parametrize("nulls", [False, True])
    def test_every_width_of_integer(self, kind: pa.DataType, nulls: bool) -> None:
        limits = np.iinfo(kind.to_pandas_dtype())
        values = [int(limits.min), 0, 7, 100, int(limits.max), *[None] * nulls]
        for column in (Integer(min=5, max=90, special=(0,)), Real(min=5, max=90, special=(0.0,))):
            levels = Levels("x", column)
            assert encode(column, values, kind) == by_search(
                levels, [math.nan if v is None else float(v) for v in values]
            )

    @pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
    def test_every_width_of_float(self, kind: pa.DataType) -> None:
        values = [0.0, 0.5, 1.5, math.nan, math.inf, -math.inf, None, 2.0]
        array = pa.array([None if v is None else kind.to_pandas_dtype()(v) for v in values], type=kind)
        column = Real(min=0.25, max=2, bins=7, special=(0.0,))
        assert encode(column, array) == by_search(Levels("x", column), [math.nan if v is None else v for v in values])

    @pytest.mark.parametrize("kind", [pa.decimal128(10, 2), pa.decimal256(30, 2), pa.decimal128(38, 10)], ids=str)
    def test_decimals(self, kind: pa.DataType) -> None:
        column = Real(min=0, max=10, bins=10, special=(0.0,))
        values = [decimal.Decimal(text) for text in ("0.00", "0.25", "9.99", "-3.50", "12.00")]
        assert encode(column, [*values, None], kind) == [10, 0, 9, 0, 9, 11]

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
    def test_texts(self, kind: pa.DataType) -> None:
        values = ["3", " 3.5 ", "1e1", "-0", "-inf", "inf", *MISSING_TEXTS, None]
        missing = [12] * (len(MISSING_TEXTS) + 1)
        assert encode(Integer(min=0, max=10, special=(-1,)), values, kind) == [3, 3, 10, 0, 0, 10, *missing]

    def test_truths_count_as_zero_and_one(self) -> None:
        assert encode(Integer(min=0, max=1), [True, False, None]) == [1, 0, 2]

    def test_a_fraction_of_a_whole_number_is_dropped(self) -> None:
        assert encode(Integer(min=0, max=10, out_of_domain="error"), [3.0, 3.999, 10.5]) == [3, 3, 10]

    @pytest.mark.parametrize("column", [Real(min=0, max=1, out_of_domain="error"), Integer(min=0, max=1, bins=2)])
    def test_both_bounds_are_inside(self, column: Any) -> None:
        assert encode(column, [0.0, 1.0]) == [0, Levels("x", column).regular - 1]

    @MANY
    @given(reals() | integers())
    def test_specials_keep_their_atom(self, column: Any) -> None:
        levels = Levels("x", column)
        atoms = list(range(levels.regular, levels.missing))
        assert encode(column, [float(v) for v in column.special], pa.float64()) == atoms

    def test_a_special_outside_the_bounds_is_in_the_domain(self) -> None:
        column = Integer(min=1, max=9, special=(-1, 99), out_of_domain="error")
        assert encode(column, [-1, 99, 1]) == [9, 10, 0]

    @pytest.mark.parametrize("value", [-1.0, 10.5, math.inf, -math.inf, 1e300])
    def test_beyond_the_bounds_is_clipped(self, value: float) -> None:
        codes = encode(Real(min=0, max=10, bins=5), [value])
        assert codes == [0 if value < 0 else 4]

    @pytest.mark.parametrize("column", [Real(min=0, max=10, out_of_domain="error"), Integer(min=0, max=10)])
    @pytest.mark.parametrize("value", [-1, 11, 417_417])
    def test_beyond_the_bounds_may_stop_the_call(self, column: Any, value: int) -> None:
        strict = column.model_copy(update={"out_of_domain": "error"})
        message = refusal(strict, [5, value])
        assert "the table: column 'x' holds a value outside min and max" in message
        assert str(value) not in message

    @pytest.mark.parametrize("values", [[1.0, None], [1.0, math.nan], ["1", ""], ["1", "NA"]])
    @pytest.mark.parametrize("kind", [Real, Integer])
    def test_missing_where_it_is_not_allowed(self, kind: Any, values: list[Any]) -> None:
        assert "column 'x' has missing values" in refusal(kind(min=0, max=2, missing=False), values)

    @pytest.mark.parametrize("column", [Real(min=0, max=1), Integer(min=0, max=1)])
    def test_a_text_that_is_no_number(self, column: Any) -> None:
        assert f"cannot be read as {column.kind}" in refusal(column, ["1", SECRET])

    @MANY
    @given(st.data(), reals() | integers())
    def test_positions_are_in_the_unit_interval(self, data: st.DataObject, column: Any) -> None:
        values = data.draw(st.lists(near(Levels("x", column)), max_size=30))
        batch = pa.record_batch({"x": np.array(values, dtype=np.float64)})
        units = encoder(column, units=True)(batch).units["x"]
        assert len(units) == len(values)
        assert ((units >= 0) & (units <= 1)).all()


LONG = Datetime(min=dt.datetime(1900, 1, 1), max=dt.datetime(2100, 1, 1), bins=4096)


def exact(low: dt.datetime, count: int, resolution: Any = "day", **options: Any) -> Datetime:
    """A column with one bin for each of `count` days or seconds from `low`."""
    step = dt.timedelta(days=1) if resolution == "day" else dt.timedelta(seconds=1)
    return Datetime(min=low, max=low + (count - 1) * step, bins=4096, resolution=resolution, **options)


class TestDatetimes:
    @MANY
    @given(st.lists(st.none() | st.dates(), max_size=20), st.sampled_from([pa.date32(), pa.date64()]))
    def test_any_date(self, days: list[dt.date | None], kind: pa.DataType) -> None:
        levels = Levels("x", LONG)
        expected = [math.nan if day is None else float((day - dt.date(1970, 1, 1)).days) for day in days]
        assert encode(LONG, days, kind) == by_search(levels, expected)

    @MANY
    @given(
        st.lists(st.none() | st.datetimes(), max_size=20),
        st.sampled_from(["day", "second"]),
        st.sampled_from([None, "UTC", "Europe/Amsterdam", "-07:30"]),
    )
    def test_any_timestamp_in_any_zone(self, times: list[Any], resolution: Any, zone: str | None) -> None:
        column = LONG.model_copy(update={"resolution": resolution})
        expected = [math.nan if when is None else float(ticks(when, resolution)) for when in times]
        micros = [
            None if when is None else (when - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) for when in times
        ]
        array = pa.array(micros, type=pa.int64()).cast(pa.timestamp("us", zone))
        assert encode(column, array) == by_search(Levels("x", column), expected)

    @pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
    def test_every_unit(self, unit: str) -> None:
        column = exact(dt.datetime(1969, 12, 30), 5)
        times = [dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 2, 12), None]
        assert encode(column, times, pa.timestamp(unit)) == [1, 2, 3, 5]

    @MANY
    @given(st.lists(st.integers(-3 * 10**18, 3 * 10**18) | st.integers(-2000, 2000), max_size=20))
    def test_nanoseconds_round_down_before_1970_too(self, nanoseconds: list[int]) -> None:
        column = LONG.model_copy(update={"resolution": "second"})
        expected = by_search(Levels("x", column), [float(n // 10**9) for n in nanoseconds])
        assert encode(column, nanoseconds, pa.timestamp("ns")) == expected

    def test_the_last_nanosecond_before_1970(self) -> None:
        assert encode(exact(dt.datetime(1969, 12, 31), 2), [-1], pa.timestamp("ns")) == [0]

    @MANY
    @given(st.lists(st.datetimes(dt.datetime(1600, 1, 1)).map(lambda when: when.replace(microsecond=0)), max_size=20))
    def test_iso_texts(self, times: list[dt.datetime]) -> None:
        column = LONG.model_copy(update={"resolution": "second"})
        expected = by_search(Levels("x", column), [float(ticks(when, "second")) for when in times])
        for sep in ("T", " "):
            assert encode(column, [when.isoformat(sep) for when in times], pa.string()) == expected

    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
    def test_iso_days_with_gaps(self, kind: pa.DataType) -> None:
        column = exact(dt.datetime(1969, 12, 31), 4)
        assert encode(column, ["1970-01-02", " 1970-01-01 ", "", "NA", None], kind) == [2, 1, 4, 4, 4]

    @pytest.mark.parametrize(
        ("text", "hour"),
        [("2020-05-01T10:00:00Z", 10), ("2020-05-01T10:00:00+02:00", 8), ("2020-05-01 10:00:00-0300", 13)],
    )
    def test_iso_texts_with_a_zone_are_taken_in_utc(self, text: str, hour: int) -> None:
        column = exact(dt.datetime(2020, 5, 1, hour), 3, "second")
        assert encode(column.model_copy(update={"out_of_domain": "error"}), [text]) == [0]

    def test_texts_with_a_format(self) -> None:
        column = exact(dt.datetime(1969, 12, 31), 400, format="%d/%m/%Y")
        assert encode(column, ["01/02/1970", "31/12/1969", "", None]) == [32, 0, 400, 400]

    def test_a_format_with_a_time(self) -> None:
        column = exact(dt.datetime(2020, 1, 1), 60, "second", format="%Y%m%d-%H:%M:%S")
        assert encode(column, ["20200101-00:00:07", "20200101-00:00:59"]) == [7, 59]

    def test_iso_is_understood_beside_a_format(self) -> None:
        column = exact(dt.datetime(2020, 1, 1), 60, format="%d/%m/%Y")
        assert encode(column, ["03/01/2020", "2020-01-04"]) == [2, 3]

    def test_other_times_stop_the_call_where_told_to(self) -> None:
        column = exact(dt.datetime(2020, 1, 1), 3, out_of_domain="error")
        assert encode(column, [dt.datetime(2020, 1, 3, 23, 59, 59, 999_999)]) == [2]
        assert "outside min and max" in refusal(column, [dt.date(2020, 1, 4)])
        assert "outside min and max" in refusal(column, [dt.date(2019, 12, 31)])

    def test_other_times_are_clipped(self) -> None:
        column = exact(dt.datetime(2020, 1, 1), 3)
        assert encode(column, [dt.date(1, 1, 1), dt.date(9999, 12, 31)]) == [0, 2]

    @pytest.mark.parametrize("values", [[SECRET], ["2020-13-45"], [20200101], [1.5], [True]])
    def test_what_is_no_date(self, values: list[Any]) -> None:
        assert "cannot be read as datetime" in refusal(LONG, values)

    def test_missing_where_it_is_not_allowed(self) -> None:
        column = exact(dt.datetime(2020, 1, 1), 3, missing=False)
        assert "has missing values" in refusal(column, [dt.date(2020, 1, 1), None])
        assert "has missing values" in refusal(column, ["2020-01-01", ""])


def as_dictionary(values: list[Any], kind: pa.DataType | None = None) -> pa.Array:
    return pa.array(values, type=kind).dictionary_encode()


class TestNames:
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
    @pytest.mark.parametrize("column", [Categorical, Ordinal])
    def test_texts(self, kind: pa.DataType, column: Any) -> None:
        assert encode(column(categories=("a", "b")), ["b", "a", "z", None, "", "NA"], kind) == [1, 0, 2, 3, 3, 3]

    @MANY
    @given(st.lists(st.none() | st.text(), max_size=20), st.lists(st.text(), min_size=1, max_size=6, unique=True))
    def test_any_text(self, values: list[str | None], categories: list[str]) -> None:
        column = Categorical(categories=tuple(categories), other_label="\x00none", out_of_domain="other")
        levels = Levels("x", column)
        expected = [
            categories.index(v)
            if v in categories
            else levels.missing
            if v is None or v in MISSING_TEXTS
            else levels.other
            for v in values
        ]
        assert encode(column, values, pa.string()) == expected
        assert encode(column, as_dictionary(values, pa.string())) == expected
        assert all(code < levels.size for code in expected)

    @pytest.mark.parametrize("text", MISSING_TEXTS)
    def test_a_declared_category_is_not_missing(self, text: str) -> None:
        column = Categorical(categories=("a", text))
        assert encode(column, ["a", text, None]) == [0, 1, 3]
        assert encode(column, as_dictionary(["a", text, None])) == [0, 1, 3]
        undeclared = Categorical(categories=("a", "b"))
        assert encode(undeclared, ["a", text, None]) == [0, 3, 3]

    def test_unlisted_values_may_stop_the_call(self) -> None:
        column = Categorical(categories=("a",), out_of_domain="error")
        assert "not one of its categories" in refusal(column, ["a", SECRET])
        assert "not one of its categories" in refusal(column, as_dictionary(["a", SECRET]))
        assert encode(column, ["a", None]) == [0, 1]

    def test_missing_where_it_is_not_allowed(self) -> None:
        column = Categorical(categories=("a",), missing=False)
        for values in (["a", None], ["a", ""], ["a", "NA"]):
            assert "column 'x' has missing values" in refusal(column, values)
            assert "column 'x' has missing values" in refusal(column, as_dictionary(values))

    @pytest.mark.parametrize("index", [pa.int8(), pa.int32(), pa.uint8(), pa.uint32(), pa.int64()], ids=str)
    def test_dictionaries_with_gaps_in_both_places(self, index: pa.DataType) -> None:
        words = pa.array(["b", None, "z", "a", "NA"])
        array = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3, 4], index), words)
        assert encode(Categorical(categories=("a", "b")), array) == [1, 3, 2, 3, 0, 3]

    @pytest.mark.parametrize("words", [pa.large_string(), pa.string_view()], ids=str)
    def test_dictionaries_of_other_texts(self, words: pa.DataType) -> None:
        array = pa.DictionaryArray.from_arrays(pa.array([1, 0]), pa.array(["a", "b"], words))
        assert encode(Categorical(categories=("a", "b")), array) == [1, 0]

    def test_a_word_that_no_row_uses_breaks_no_rule(self) -> None:
        array = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array([SECRET, "a", None]))
        assert encode(Categorical(categories=("a",), out_of_domain="error", missing=False), array) == [0, 0]

    @pytest.mark.parametrize(
        "values",
        [
            pa.array([5, 7, 6, None], pa.int8()),
            pa.array([5, 7, 6, None], pa.uint64()),
            pa.array([5.0, 7.0, 6.0, None]),
            pa.array([5.0, 7.0, 6.5, math.nan]),
            pa.array([5.0, 7.0, math.inf, math.nan], pa.float32()),
            pa.array([decimal.Decimal("5.0"), decimal.Decimal("7.0"), decimal.Decimal("6.5"), None]),
            pa.array(["5", "7", "6", None]),
            pa.array(["5", "7", SECRET, "NA"], pa.large_string()),
            as_dictionary([5, 7, 6, None]),
            as_dictionary([5.0, 7.0, 6.0, None]),
            as_dictionary(["5", "7", "6", ""]),
        ],
        ids=lambda array: str(array.type),
    )
    def test_numbers_as_categories(self, values: pa.Array) -> None:
        assert encode(Categorical(categories=(5, 7)), values) == [0, 1, 2, 3]

    def test_whole_numbers_written_with_a_point(self) -> None:
        """A file that pandas wrote has 1.0 where a column of whole numbers has gaps."""
        assert encode(Categorical(categories=(0, 1)), ["1.0", " 1 ", "0.0", "0.5", ""]) == [1, 1, 0, 2, 3]

    def test_minus_zero_is_zero(self) -> None:
        assert encode(Categorical(categories=(0, 1)), [-0.0, 0.0, 1.0]) == [0, 0, 1]

    @MANY
    @given(
        st.lists(st.none() | st.floats() | st.integers(-9, 9).map(float), max_size=20),
        st.lists(st.integers(-(2**53), 2**53) | st.integers(-9, 9), min_size=1, max_size=6, unique=True),
    )
    def test_any_number(self, values: list[float | None], categories: list[int]) -> None:
        column = Ordinal(categories=tuple(categories))
        levels = Levels("x", column)
        expected = [
            levels.missing if v is None or math.isnan(v) else categories.index(v) if v in categories else levels.other
            for v in values
        ]
        assert encode(column, values, pa.float64()) == expected

    def test_many_categories(self) -> None:
        column = Categorical(categories=tuple(str(n) for n in range(60_000)))
        assert encode(column, ["0", "59999", "x", None]) == [0, 59_999, 60_000, 60_001]

    def test_nested_values_are_refused(self) -> None:
        assert "is stored as lists, and categorical columns need" in refusal(Categorical(categories=("a",)), [[SECRET]])


TRUE, FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")


class TestBooleans:
    @pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()], ids=str)
    @pytest.mark.parametrize("change", [str.lower, str.upper, str.title, lambda text: f" {text}\t"])
    def test_every_spelling(self, change: Any, kind: pa.DataType) -> None:
        texts = [change(text) for text in (*TRUE, *FALSE)]
        assert encode(Boolean(), texts, kind) == [1] * 5 + [0] * 5
        assert encode(Boolean(), as_dictionary(texts, kind)) == [1] * 5 + [0] * 5

    @pytest.mark.parametrize(
        "kind", [pa.bool_(), pa.int8(), pa.int64(), pa.uint8(), pa.float32(), pa.float64()], ids=str
    )
    def test_every_type(self, kind: pa.DataType) -> None:
        assert encode(Boolean(), pa.array([1, 0, None], pa.float64()).cast(kind)) == [1, 0, 2]

    def test_missing(self) -> None:
        assert encode(Boolean(), ["yes", *MISSING_TEXTS, "nA", None]) == [1] + [2] * (len(MISSING_TEXTS) + 2)
        assert encode(Boolean(), [1.0, math.nan]) == [1, 2]
        for values in ([True, None], ["yes", ""], [1.0, math.nan]):
            assert "has missing values" in refusal(Boolean(missing=False), values)

    @pytest.mark.parametrize("values", [["yes", SECRET], ["yes", "2"], [1, 2], [0.5], as_dictionary(["y", SECRET])])
    def test_other_values_are_refused(self, values: Any) -> None:
        assert "the schema is boolean. Booleans are true/false" in refusal(Boolean(), values)

    @MANY
    @given(st.lists(st.text(max_size=4), max_size=10))
    def test_any_text_gives_a_level_or_an_error(self, texts: list[str]) -> None:
        try:
            codes = encode(Boolean(), texts, pa.string())
        except DataError:
            known = {*TRUE, *FALSE, *(text.lower() for text in MISSING_TEXTS)}
            assert any(text.strip().lower() not in known for text in texts)
        else:
            assert all(code < 3 for code in codes)


EVERY_KIND = {
    "named": (Categorical(categories=("a", "b")), pa.array(["a", "b", "z", None])),
    "dictionary": (Categorical(categories=("a", "b")), as_dictionary(["b", "a", "z", None])),
    "numbers": (Categorical(categories=(1, 2)), pa.array([2, 1, 5, None])),
    "ordered": (Ordinal(categories=("a", "b")), pa.array(["b", "b", "z", None])),
    "boolean": (Boolean(), pa.array([True, False, True, None])),
    "integer": (Integer(min=0, max=9), pa.array([1, 5, 99, None])),
    "whole": (Integer(min=0, max=9), pa.array([1, 5, 99, 3])),
    "real": (Real(min=0, max=9), pa.array([1.5, 5.5, 99.5, None])),
    "day": (LONG, pa.array([dt.date(1950, 1, 1), dt.date(2000, 1, 1), dt.date(2020, 1, 1), None])),
    "text": (Real(min=0, max=9), pa.array(["1.5", "5", "", None])),
}


@pytest.mark.parametrize(("column", "array"), EVERY_KIND.values(), ids=EVERY_KIND.keys())
class TestBatches:
    def test_a_slice_gives_the_codes_of_its_rows(self, column: Any, array: pa.Array) -> None:
        codes = encode(column, array)
        for start in range(4):
            for stop in range(start, 5):
                assert encode(column, array[start:stop]) == codes[start:stop]

    def test_an_empty_batch(self, column: Any, array: pa.Array) -> None:
        batch = pa.record_batch({"x": array[:0]})
        records = encoder(column)(batch)
        assert records.rows == 0
        assert records.codes["x"].shape == (0,)
        assert records.codes["x"].dtype == np.uint16

    def test_nothing_but_gaps(self, column: Any, array: pa.Array) -> None:
        """Frames give a column without any value no type at all."""
        del array
        assert encode(column, pa.nulls(3)) == [Levels("x", column).missing] * 3


class TestEncoder:
    schema = Schema(name="s", columns={name: column for name, (column, _) in EVERY_KIND.items()})
    batch = pa.record_batch({name: array for name, (_, array) in EVERY_KIND.items()})
    levels = tuple(Levels(name, column) for name, column in schema.measured.items())

    def test_reads_only_what_is_asked_for(self) -> None:
        encode_two = Encoder(self.levels, frozenset(["boolean"]), frozenset(["real"]), "the table")
        assert encode_two.columns == ["boolean", "real"]
        records = encode_two(self.batch)
        assert list(records.codes) == ["boolean"]
        assert list(records.units) == ["real"]

    def test_all_columns_at_once_are_as_one_at_a_time(self) -> None:
        records = Encoder(self.levels, frozenset(self.schema.measured), frozenset(), "the table")(self.batch)
        assert records.rows == 4
        for name, (column, array) in EVERY_KIND.items():
            assert records.codes[name].tolist() == encode(column, array)

    def test_rows_do_not_change_each_other(self) -> None:
        whole = Encoder(self.levels, frozenset(self.schema.measured), frozenset(), "the table")
        records = whole(self.batch)
        for row in range(4):
            alone = whole(self.batch.slice(row, 1))
            assert all(alone.codes[name][0] == records.codes[name][row] for name in self.schema.measured)


any_array = st.one_of(
    st.lists(st.none() | st.text(max_size=8)).map(lambda values: pa.array(values, pa.string())),
    st.lists(st.none() | st.floats()).map(lambda values: pa.array(values, pa.float64())),
    st.lists(st.none() | st.floats(width=32)).map(lambda values: pa.array(values, pa.float32())),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(lambda values: pa.array(values, pa.int64())),
    st.lists(st.none() | st.booleans()).map(lambda values: pa.array(values, pa.bool_())),
    st.lists(st.none() | st.binary(max_size=4)).map(lambda values: pa.array(values, pa.binary())),
    st.lists(st.none() | st.dates()).map(lambda values: pa.array(values, pa.date32())),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(lambda values: pa.array(values, pa.timestamp("s"))),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)).map(
        lambda values: pa.array(values, pa.timestamp("ns", "UTC"))
    ),
    st.lists(st.none() | st.text(max_size=3)).map(lambda values: as_dictionary(values, pa.string())),
    st.lists(st.none() | st.integers(-5, 5)).map(lambda values: as_dictionary(values, pa.int64())),
)


@settings(deadline=None, max_examples=200)
@given(
    st.sampled_from([column for column, _ in EVERY_KIND.values()])
    | st.sampled_from(
        [Boolean(missing=False), Real(min=0, max=1, missing=False), Categorical(categories=(1, 2), missing=False)]
    ),
    any_array,
)
def test_whatever_the_rows_hold_codes_stay_within_the_levels(column: Any, array: pa.Array) -> None:
    try:
        codes = encode(column, array)
    except DataError as error:
        assert str(error).startswith("the table: column 'x' ")  # noqa: PT017
    else:
        assert len(codes) == len(array)
        assert all(0 <= code < Levels("x", column).size for code in codes)


class TestPositions:
    """Positions in [0, 1] keep to the column's rules like level numbers do."""

    def positions(self, column: Any, values: list[Any]) -> list[float]:
        encoder = Encoder((Levels("x", column),), frozenset(), frozenset(["x"]), "the table")
        return encoder(pa.record_batch({"x": pa.array(values)})).units["x"].tolist()

    def test_of_numbers(self) -> None:
        assert self.positions(Real(min=0, max=4), [1.0, None, 99.0, -1.0]) == [0.25, 0.5, 1.0, 0.0]

    def test_rules_hold(self) -> None:
        with pytest.raises(DataError, match="missing"):
            self.positions(Real(min=0, max=4, missing=False), [1.0, None])
        with pytest.raises(DataError, match="outside min and max"):
            self.positions(Real(min=0, max=4, out_of_domain="error"), [5.0])

    def test_names_have_none(self) -> None:
        with pytest.raises(ValueError, match="not a number"):
            Encoder((Levels("x", Boolean()),), frozenset(), frozenset(["x"]), "the table")
