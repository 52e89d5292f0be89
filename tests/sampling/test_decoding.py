import datetime as dt
import math
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.reading.encoding import Encoder
from pointillist.sampling.decoding import decode, decode_table
from pointillist.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real
from pointillist.schema.levels import Levels

MANY = settings(deadline=None, max_examples=100)
REPEATS = 5
"""How often each level is drawn."""


class Always:
    """A generator that draws one and the same number."""

    def __init__(self, number: float):
        self.number = number

    def random(self, size: int) -> Any:
        return np.full(size, self.number)


def all_codes(levels: Levels) -> Any:
    return np.tile(np.arange(levels.size, dtype=np.uint16), REPEATS)


def encode(levels: Levels, array: pa.Array) -> Any:
    encoder = Encoder((levels,), frozenset([levels.name]), frozenset(), "the table")
    return encoder(pa.record_batch({levels.name: array})).codes[levels.name]


def there_and_back(column: Any, generator: Any = None) -> tuple[list[int], list[int]]:
    levels = Levels("x", column)
    codes = all_codes(levels)
    array = decode(levels, codes, generator or np.random.default_rng(1))
    return codes.tolist(), encode(levels, array).tolist()


names_text = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=6, unique=True)
names_whole = st.lists(st.integers(-(2**53), 2**53), min_size=1, max_size=6, unique=True)


@st.composite
def named(draw: st.DrawFn, values: st.SearchStrategy[list[Any]]) -> Categorical | Ordinal:
    kind = draw(st.sampled_from([Categorical, Ordinal]))
    rule = draw(st.sampled_from(["other", "error"]))
    return kind(
        categories=tuple(draw(values)), other_label="\x00label", out_of_domain=rule, missing=draw(st.booleans())
    )


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    """Specials are outside the bounds, so that no bin holds one."""
    low = draw(st.integers(-(10**9), 10**9) | st.integers(-20, 20))
    width = draw(st.integers(1, 10**9) | st.integers(1, 300))
    scale = draw(st.sampled_from(["linear", "log"] if 0 < low < 1000 * width else ["linear"]))
    special = tuple(draw(st.lists(st.sampled_from([low - 1, low - 99, low + width + 1]), max_size=3, unique=True)))
    return Integer(
        min=low, max=low + width, scale=scale, bins=draw(st.integers(2, 300)), special=special,
        missing=draw(st.booleans()), out_of_domain="error",
    )  # fmt: skip


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low = draw(st.floats(-1e6, 1e6) | st.floats(1e-6, 1.0) | st.sampled_from([0.0, 1.0]))
    high = low + draw(st.floats(1e-2, 1e3)) * max(1e-3, abs(low))
    scale = draw(st.sampled_from(["linear", "log"] if low > 0 else ["linear"]))
    special = tuple(draw(st.lists(st.sampled_from([low - 1.0, high + 1.0, (low + high) / 2]), max_size=3, unique=True)))
    return Real(
        min=low, max=high, scale=scale, bins=draw(st.integers(2, 300)), special=special, missing=draw(st.booleans()),
        out_of_domain="error",
    )  # fmt: skip


@st.composite
def datetimes(draw: st.DrawFn) -> Datetime:
    low = draw(st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(2500, 1, 1)))
    high = low + draw(st.timedeltas(dt.timedelta(days=1), dt.timedelta(days=200_000)))
    return Datetime(
        min=low, max=high, resolution=draw(st.sampled_from(["day", "second"])), bins=draw(st.integers(2, 300)),
        missing=draw(st.booleans()), out_of_domain="error",
    )  # fmt: skip


class TestRoundTrip:
    @MANY
    @given(named(names_text) | st.booleans().map(lambda missing: Boolean(missing=missing)))
    def test_names_and_truths(self, column: Any) -> None:
        codes, back = there_and_back(column)
        assert back == codes

    @MANY
    @given(named(names_whole))
    def test_numbers_as_names_leave_what_is_other_missing(self, column: Any) -> None:
        levels = Levels("x", column)
        codes = all_codes(levels)
        array = decode(levels, codes, np.random.default_rng(1))
        absent = codes >= levels.regular
        assert array.is_null().to_numpy(zero_copy_only=False).tolist() == absent.tolist()
        kept = codes[~absent]
        assert encode(levels, array.drop_null()).tolist() == kept.tolist()

    @MANY
    @given(integers() | reals() | datetimes())
    def test_numbers_and_times(self, column: Any) -> None:
        codes, back = there_and_back(column)
        assert back == codes

    @pytest.mark.parametrize("number", [0.0, 1 - 2**-53], ids=["low end", "high end"])
    @MANY
    @given(column=integers() | reals() | datetimes())
    def test_the_ends_of_a_bin_are_in_the_bin(self, column: Any, number: float) -> None:
        without = column if isinstance(column, Datetime) else column.model_copy(update={"special": ()})
        codes, back = there_and_back(without, Always(number))
        assert back == codes

    @pytest.mark.parametrize("low", [10**12, 2**50, 2**52, 2**53 - 20, -(2**53) + 1])
    def test_large_whole_numbers(self, low: int) -> None:
        codes, back = there_and_back(Integer(min=low, max=low + 9, out_of_domain="error"))
        assert back == codes

    def test_a_whole_special_within_the_bounds(self) -> None:
        """The bin that holds nothing else stands for the same value; wider bins keep to themselves."""
        codes, back = there_and_back(Integer(min=0, max=9, special=(0, 4)))
        assert back == [{0: 10, 4: 11}.get(code, code) for code in codes]

    def test_a_wide_bin_does_not_draw_the_special_within(self) -> None:
        levels = Levels("x", Integer(min=0, max=9, bins=2, special=(1,)))
        array = decode(levels, np.zeros(1000, dtype=np.uint16), np.random.default_rng(0))
        assert set(array.to_pylist()) == {0, 2, 3, 4}

    @MANY
    @given(reals(), st.integers(0, 12))
    def test_rounding_moves_a_real_by_less_than_a_digit(self, column: Real, decimals: int) -> None:
        rounded = column.model_copy(update={"decimals": decimals, "special": ()})
        levels = Levels("x", rounded)
        codes = all_codes(levels)
        codes = codes[codes < levels.regular]
        values = decode(levels, codes, np.random.default_rng(1)).to_numpy()
        half = 0.5 * 10.0**-decimals * (1 + 1e-6) + 4 * np.spacing(np.abs(values))
        assert (values >= levels.edges[codes] - half).all()
        assert (values <= levels.edges[codes + 1] + half).all()

    def test_rounding_to_fine_digits_keeps_the_bin_or_its_neighbour(self) -> None:
        column = Real(min=0, max=100, bins=50, decimals=2, special=(-1.0,))
        codes, back = there_and_back(column)
        regular = [(a, b) for a, b in zip(codes, back, strict=True) if a < 50]
        assert all(abs(a - b) <= 1 for a, b in regular)
        assert [b for a, b in zip(codes, back, strict=True) if a >= 50] == [50, 51] * REPEATS


class TestValues:
    @MANY
    @given(integers() | reals() | datetimes(), st.none() | st.integers(0, 6))
    def test_inside_the_bounds(self, column: Any, decimals: int | None) -> None:
        if isinstance(column, Real):
            column = column.model_copy(update={"decimals": decimals})
        levels = Levels("x", column)
        codes = all_codes(levels)
        codes = codes[codes < levels.regular]
        array = decode(levels, codes, np.random.default_rng(1))
        assert array.null_count == 0
        if isinstance(column, Datetime):
            second = dt.timedelta(seconds=1)
            first = column.min.date() if column.resolution == "day" else column.min - second
            last = column.max.date() if column.resolution == "day" else column.max
            assert first <= pc.min(array).as_py() <= pc.max(array).as_py() <= last
        else:
            assert column.min <= pc.min(array).as_py() <= pc.max(array).as_py() <= column.max

    @MANY
    @given(
        st.integers(-1000, 1000),
        st.integers(1, 1000),
        st.integers(0, 4),
        st.integers(2, 300),
        st.integers(0, 2**32 - 1),
    )
    def test_decimals(self, low: int, width: int, decimals: int, bins: int, seed: int) -> None:
        column = Real(min=low, max=low + width, decimals=decimals, bins=bins)
        values = decode(Levels("x", column), np.arange(bins, dtype=np.uint16), np.random.default_rng(seed)).to_pylist()
        assert values == [round(value, decimals) for value in values]

    def test_many_digits_of_a_huge_number(self) -> None:
        levels = Levels("x", Real(min=0, max=1e300, decimals=12, bins=4))
        values = decode(levels, np.arange(4, dtype=np.uint16), np.random.default_rng(0)).to_numpy()
        assert (values >= levels.edges[:-1]).all()
        assert (values <= levels.edges[1:]).all()

    @MANY
    @given(reals() | integers())
    def test_specials_are_exact(self, column: Any) -> None:
        levels = Levels("x", column)
        codes = np.arange(levels.regular, levels.missing, dtype=np.uint16)
        assert decode(levels, codes, np.random.default_rng(1)).to_pylist() == list(column.special)

    def test_specials_are_not_rounded(self) -> None:
        levels = Levels("x", Real(min=0, max=9, decimals=0, bins=3, special=(0.125, -7.75)))
        assert decode(levels, np.array([3, 4], dtype=np.uint16), np.random.default_rng(1)).to_pylist() == [0.125, -7.75]

    def test_labels(self) -> None:
        levels = Levels("x", Categorical(categories=("a", "b"), other_label="none of them"))
        codes = np.array([1, 0, 2, 3], dtype=np.uint16)
        assert decode(levels, codes, np.random.default_rng(0)).to_pylist() == ["b", "a", "none of them", None]
        strict = Levels("x", Categorical(categories=("a", "b"), out_of_domain="error"))
        assert decode(strict, codes[[0, 1, 2]], np.random.default_rng(0)).to_pylist() == ["b", "a", None]

    def test_empty_text_is_a_category_and_not_missing(self) -> None:
        levels = Levels("x", Categorical(categories=("", "NA")))
        array = decode(levels, np.array([0, 1, 2, 3], dtype=np.uint16), np.random.default_rng(0))
        assert array.to_pylist() == ["", "NA", "other", None]

    def test_truths(self) -> None:
        codes = np.array([1, 0, 2], dtype=np.uint16)
        assert decode(Levels("x", Boolean()), codes, np.random.default_rng(0)).to_pylist() == [True, False, None]

    def test_days_and_seconds(self) -> None:
        low = dt.datetime(1969, 12, 31)
        days = Levels("x", Datetime(min=low, max=dt.datetime(1970, 1, 2)))
        codes = np.array([0, 1, 2, 3], dtype=np.uint16)
        day = dt.date(1969, 12, 31)
        expected = [day, dt.date(1970, 1, 1), dt.date(1970, 1, 2), None]
        assert decode(days, codes, np.random.default_rng(0)).to_pylist() == expected
        seconds = Levels("x", Datetime(min=low, max=low + dt.timedelta(seconds=2), resolution="second"))
        steps = [low, low + dt.timedelta(seconds=1), low + dt.timedelta(seconds=2), None]
        assert decode(seconds, codes, np.random.default_rng(0)).to_pylist() == steps

    @pytest.mark.parametrize("scale", ["linear", "log"])
    def test_evenly_spread_on_the_scale(self, scale: Any) -> None:
        levels = Levels("x", Real(min=1, max=10_000, scale=scale, bins=2))
        values = decode(levels, np.ones(20_000, dtype=np.uint16), np.random.default_rng(3)).to_numpy()
        unit = levels.to_unit(values)
        quartiles = np.quantile(unit, [0, 0.25, 0.5, 0.75, 1])
        assert quartiles == pytest.approx([0.5, 0.625, 0.75, 0.875, 1], abs=0.01)

    def test_every_whole_number_of_a_bin_is_drawn(self) -> None:
        levels = Levels("x", Integer(min=0, max=9, bins=2))
        values = decode(levels, np.zeros(1000, dtype=np.uint16), np.random.default_rng(0))
        assert set(values.to_pylist()) == {0, 1, 2, 3, 4}


KINDS = {
    "text": (Categorical(categories=("a",)), pa.string()),
    "ordered": (Ordinal(categories=("a", "b")), pa.string()),
    "number": (Categorical(categories=(1, 2)), pa.int64()),
    "truth": (Boolean(), pa.bool_()),
    "whole": (Integer(min=0, max=9, scale="linear"), pa.int64()),
    "log": (Integer(min=1, max=9, scale="log"), pa.int64()),
    "real": (Real(min=0, max=9), pa.float64()),
    "rounded": (Real(min=0, max=9, decimals=0), pa.float64()),
    "day": (Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 1, 1)), pa.date32()),
    "second": (
        Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 1, 1), resolution="second"),
        pa.timestamp("us"),
    ),
}


class TestTables:
    levels = tuple(Levels(name, column) for name, (column, _) in KINDS.items())

    @pytest.mark.parametrize(("column", "kind"), KINDS.values(), ids=KINDS.keys())
    @pytest.mark.parametrize("rows", [0, 1, 50])
    def test_types(self, column: Any, kind: pa.DataType, rows: int) -> None:
        levels = Levels("x", column)
        codes = np.arange(rows) % levels.size
        array = decode(levels, codes.astype(np.uint16), np.random.default_rng(0))
        assert array.type == kind
        assert len(array) == rows

    @pytest.mark.parametrize("column", [column for column, _ in KINDS.values()], ids=KINDS.keys())
    def test_missing_is_null_and_only_that(self, column: Any) -> None:
        levels = Levels("x", column)
        codes = np.array([0, levels.missing, levels.regular - 1, levels.missing], dtype=np.uint16)
        array = decode(levels, codes, np.random.default_rng(0))
        assert array.is_null().to_pylist() == [False, True, False, True]
        assert not any(isinstance(value, float) and math.isnan(value) for value in array.to_pylist())

    def test_columns_in_the_schema_s_order(self) -> None:
        codes = {each.name: np.zeros(3, dtype=np.uint16) for each in reversed(self.levels)}
        table = decode_table(self.levels, codes, np.random.default_rng(0))
        assert table.column_names == list(KINDS)
        assert [field.type for field in table.schema] == [kind for _, kind in KINDS.values()]
        assert table.num_rows == 3

    def test_one_seed_one_table(self) -> None:
        codes = {each.name: np.arange(40, dtype=np.uint16) % each.size for each in self.levels}
        tables = [decode_table(self.levels, codes, np.random.default_rng(seed)) for seed in (5, 5, 6)]
        assert tables[0].equals(tables[1])
        assert not tables[0].equals(tables[2])


def test_rounding_does_not_turn_a_number_into_a_special_value() -> None:
    levels = Levels("x", Real(min=0, max=9, bins=3, decimals=0, special=(0.0,)))
    values = decode(levels, np.zeros(1000, dtype=np.uint16), np.random.default_rng(0)).to_numpy()
    assert set(values) == {1.0, 2.0, 3.0}
