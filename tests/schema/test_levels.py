import datetime as dt
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointillist.schema import Boolean, Categorical, Datetime, Ignore, Integer, Ordinal, Real, Schema
from pointillist.schema.levels import Levels, levels_of

MANY = settings(deadline=None, max_examples=100)


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low = draw(st.integers(-(2**51), 2**51) | st.integers(-20, 20))
    width = draw(st.integers(1, 2**51) | st.integers(1, 300))
    scale = draw(
        st.sampled_from(["linear", *["log"] * (0 < low < 1000 * width), *["asinh"] * (low <= 0 <= low + width)])
    )
    special = tuple(draw(st.lists(st.integers(-1000, 1000), max_size=3, unique=True)))
    return Integer(
        min=low, max=low + width, scale=scale, bins=draw(st.integers(2, 600)), special=special,
        missing=draw(st.booleans()),
    )  # fmt: skip


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low = draw(st.floats(-1e12, 1e12) | st.floats(1e-12, 1.0) | st.just(0.0))
    width = draw(st.floats(1e-3, 1e3)) * max(1e-6, abs(low))
    scale = draw(st.sampled_from(["linear", *["log"] * (low > 0), *["asinh"] * (low <= 0 <= low + width)]))
    special = tuple(draw(st.lists(st.floats(-1e6, 1e6), max_size=3, unique=True)))
    return Real(
        min=low, max=low + width, scale=scale, bins=draw(st.integers(2, 600)), special=special,
        missing=draw(st.booleans()),
    )  # fmt: skip


@st.composite
def datetimes(draw: st.DrawFn) -> Datetime:
    low = draw(st.datetimes(max_value=dt.datetime(9000, 1, 1)))
    high = low + draw(st.timedeltas(dt.timedelta(days=1), dt.timedelta(days=300_000)))
    resolution = draw(st.sampled_from(["day", "second"]))
    return Datetime(
        min=low, max=high, resolution=resolution, bins=draw(st.integers(2, 600)), missing=draw(st.booleans())
    )


numeric = integers() | reals() | datetimes()


def of(column: Any) -> Levels:
    return Levels("x", column)


class TestLayout:
    @pytest.mark.parametrize("rule", ["other", "error"])
    @pytest.mark.parametrize("missing", [True, False])
    @pytest.mark.parametrize("kind", [Categorical, Ordinal])
    @pytest.mark.parametrize("values", [("a", "b", "c"), (5, 7, 9)])
    def test_names(self, kind: Any, values: tuple[Any, ...], rule: Any, missing: bool) -> None:
        levels = of(kind(categories=values, out_of_domain=rule, missing=missing))
        assert levels.categories == values
        assert levels.regular == 3
        assert levels.has_other == (rule == "other")
        assert levels.other == 3
        assert levels.missing == 3 + (rule == "other")
        assert levels.size == 3 + (rule == "other") + missing
        assert levels.ordered == (kind is Ordinal)
        assert not levels.numeric

    @pytest.mark.parametrize("missing", [True, False])
    def test_booleans(self, missing: bool) -> None:
        levels = of(Boolean(missing=missing))
        assert levels.categories == (False, True)
        assert (levels.regular, levels.missing, levels.size) == (2, 2, 2 + missing)
        assert not levels.has_other
        assert not levels.ordered

    @MANY
    @given(numeric)
    def test_numbers(self, column: Any) -> None:
        levels = of(column)
        assert levels.numeric
        assert levels.ordered
        assert not levels.has_other
        assert levels.regular == len(levels.edges) - 1
        assert levels.specials == tuple(float(v) for v in getattr(column, "special", ()))
        assert levels.missing == levels.regular + len(levels.specials)
        assert levels.size == levels.missing + column.missing
        assert 1 <= levels.regular <= column.bins
        assert levels.size <= 2**16

    def test_only_measured_columns_have_levels(self) -> None:
        schema = Schema(
            name="s",
            columns={"b": Boolean(), "skip": Ignore(), "a": Integer(min=0, max=3, special=(9,), missing=False)},
        )
        assert [each.name for each in levels_of(schema)] == ["b", "a"]
        assert [each.size for each in levels_of(schema)] == [3, 5]

    def test_labels(self) -> None:
        whole = of(Integer(min=0, max=3, special=(-1,)))
        assert [whole.label(level) for level in range(whole.size)] == ["0", "1", "2", "3", "= -1", "missing"]
        real = of(Real(min=0, max=1, bins=2, special=(7.5,), missing=False))
        assert [real.label(level) for level in range(real.size)] == ["[0, 0.5)", "[0.5, 1)", "= 7.5"]
        named = of(Categorical(categories=("a", "b")))
        assert [named.label(level) for level in range(named.size)] == ["a", "b", "other", "missing"]
        strict = of(Categorical(categories=(1, 2), out_of_domain="error"))
        assert [strict.label(level) for level in range(strict.size)] == ["1", "2", "missing"]
        days = of(Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2020, 1, 3)))
        assert days.label(1).startswith("2020-01-02")

    @MANY
    @given(numeric)
    def test_every_level_has_a_label(self, column: Any) -> None:
        levels = of(column)
        assert all(levels.label(level) for level in range(levels.size))


class TestEdges:
    @MANY
    @given(numeric)
    def test_strictly_increasing_from_bound_to_bound(self, column: Any) -> None:
        levels = of(column)
        assert (np.diff(levels.edges) > 0).all()
        assert levels.edges[0] == levels.bounds[0]
        assert levels.edges[-1] == levels.bounds[1] + (1 if levels.whole else 0)

    @MANY
    @given(integers() | datetimes())
    def test_whole_columns_have_whole_edges(self, column: Any) -> None:
        edges = of(column).edges
        assert (edges == np.floor(edges)).all()

    @MANY
    @given(integers().filter(lambda column: column.scale == "linear") | datetimes())
    def test_linear_whole_columns_use_all_bins(self, column: Any) -> None:
        levels = of(column)
        low, high = levels.bounds
        assert levels.regular == min(column.bins, high - low + 1)
        widths = np.diff(levels.edges)
        assert widths.max() - widths.min() <= 1

    @MANY
    @given(reals().filter(lambda column: column.scale == "linear"))
    def test_linear_bins_are_equally_wide(self, column: Real) -> None:
        widths = np.diff(of(column).edges)
        rounding = 4 * np.spacing(max(abs(column.min), abs(column.max)))
        assert np.allclose(widths, (column.max - column.min) / column.bins, rtol=1e-9, atol=rounding)

    @MANY
    @given(st.floats(1e-9, 1e9), st.floats(1.01, 1e6), st.integers(2, 500))
    def test_log_bins_have_equal_ratios(self, low: float, ratio: float, bins: int) -> None:
        edges = of(Real(min=low, max=low * ratio, scale="log", bins=bins)).edges
        assert len(edges) == bins + 1
        assert np.allclose(np.diff(np.log(edges)), math.log(ratio) / bins, rtol=1e-6, atol=1e-9)

    @MANY
    @given(st.integers(1, 1000), st.integers(1, 10**9), st.integers(2, 500))
    def test_log_on_whole_numbers_grows_in_width(self, low: int, width: int, bins: int) -> None:
        levels = of(Integer(min=low, max=low + width, scale="log", bins=bins))
        widths = np.diff(levels.edges)
        assert (widths >= 1).all()
        assert (np.diff(widths) >= -1).all()  # rounding up to whole numbers may cost one
        assert levels.regular <= min(bins, width + 1)

    def test_log_on_small_whole_numbers_keeps_each_its_own(self) -> None:
        edges = of(Integer(min=1, max=1000, scale="log", bins=30)).edges
        assert edges[:4].tolist() == [1, 2, 3, 4]
        assert edges[-1] == 1001

    def test_few_whole_numbers_have_a_bin_each(self) -> None:
        assert of(Integer(min=-2, max=2)).edges.tolist() == [-2, -1, 0, 1, 2, 3]

    @MANY
    @given(st.floats(1e-300, 1e300), st.floats(1e-5, 1e-3), st.integers(2, 4096))
    def test_a_narrow_log_range_stays_between_its_bounds(self, low: float, width: float, bins: int) -> None:
        edges = of(Real(min=low, max=low * (1 + width), scale="log", bins=bins)).edges
        assert (np.diff(edges) > 0).all()
        assert (edges[0], edges[-1]) == (low, low * (1 + width))

    def test_asinh_bins_are_narrow_at_zero_and_grow_on_both_sides(self) -> None:
        edges = of(Real(min=-1000, max=50_000, scale="asinh")).edges
        widths = np.diff(edges)
        assert len(widths) == 256
        assert widths[np.searchsorted(edges, 0) - 1] < 0.002 * widths[-1]
        assert edges[widths.argmin()] == pytest.approx(0, abs=widths.min())
        assert np.diff(widths)[edges[1:-1] > widths.min()].min() > 0
        assert np.diff(widths)[edges[1:-1] < -widths.min()].max() < 0

    @MANY
    @given(st.integers(-3000, 3000), st.integers(1, 1023), st.integers(0, 3))
    def test_a_level_for_each_of_few_values_with_decimals(self, first: int, count: int, digits: int) -> None:
        unit = 10**digits
        levels = of(Real(min=first / unit, max=(first + count) / unit, decimals=digits))
        assert levels.values.tolist() == [number / unit for number in range(first, first + count + 1)]
        place = np.searchsorted(levels.edges, levels.values, side="right") - 1
        assert np.minimum(place, levels.regular - 1).tolist() == list(range(levels.regular))

    def test_many_values_share_256_levels_and_so_do_few_that_are_counted_in_bins(self) -> None:
        assert of(Integer(min=0, max=1023)).regular == len(of(Integer(min=0, max=1023)).values) == 1024
        assert of(Real(min=0, max=102.3, decimals=1)).regular == 1024
        for column in (
            Integer(min=0, max=1024),
            Real(min=0, max=102.4, decimals=1),
            Real(min=0, max=1),
            Real(min=0, max=50, decimals=1, bins=256),
            Real(min=1, max=50, decimals=1, scale="log"),
        ):
            assert (of(column).regular, len(of(column).values)) == (256, 0)

    def test_bounds_beside_the_grid_are_kept(self) -> None:
        levels = of(Real(min=0.05, max=0.49, decimals=1))
        assert (levels.edges[0], levels.edges[-1]) == (0.05, 0.49)
        assert levels.values.tolist() == [0.1, 0.2, 0.3, 0.4]

    def test_neighbouring_floats_make_one_bin(self) -> None:
        levels = of(Real(min=1.0, max=math.nextafter(1.0, 2.0)))
        assert levels.regular == 1


any_floats = st.lists(st.floats(), max_size=20).map(lambda values: np.array(values, dtype=np.float64))


class TestUnit:
    @MANY
    @given(numeric, any_floats)
    def test_any_number_lands_in_the_unit_interval(self, column: Any, values: Any) -> None:
        unit = of(column).to_unit(values)
        assert unit.shape == values.shape
        assert ((unit >= 0) & (unit <= 1)).all()

    @MANY
    @given(numeric)
    def test_bounds_are_the_ends_and_missing_is_the_middle(self, column: Any) -> None:
        levels = of(column)
        low, high = levels.bounds
        unit = levels.to_unit(np.array([low, high, -math.inf, math.inf, math.nan]))
        assert unit.tolist() == pytest.approx([0, 1, 0, 1, 0.5])

    @MANY
    @given(numeric, any_floats)
    def test_order_is_kept(self, column: Any, values: Any) -> None:
        ordered = np.sort(values[~np.isnan(values)])
        assert (np.diff(of(column).to_unit(ordered)) >= 0).all()

    def test_log_scale(self) -> None:
        levels = of(Real(min=1, max=10_000, scale="log"))
        assert levels.to_unit(np.array([1.0, 10.0, 100.0, 0.0, -5.0])).tolist() == pytest.approx([0, 0.25, 0.5, 0, 0])

    def test_a_range_of_two_neighbours(self) -> None:
        column = Real(min=5e-324, max=1e-323)
        unit = of(column).to_unit(np.array([column.min, column.max, 0.0, math.nan, math.inf]))
        assert unit.tolist() == [0, 1, 0, 0.5, 1]


class TestSpans:
    @MANY
    @given(numeric)
    def test_within_the_unit_interval_one_for_each_level(self, column: Any) -> None:
        levels = of(column)
        low, high = levels.spans
        assert len(low) == len(high) == levels.size
        assert (low >= 0).all()
        assert (low <= high).all()
        assert (high <= 1).all()

    @MANY
    @given(numeric)
    def test_bins_meet_and_atoms_are_points(self, column: Any) -> None:
        levels = of(column)
        low, high = levels.spans
        bins = levels.regular
        assert low[0] == 0
        assert high[bins - 1] == pytest.approx(1)
        if levels.whole:  # a run of whole numbers ends one step before the next begins
            assert (low[1:bins] > high[: bins - 1]).all()
        else:
            assert (low[1:bins] == high[: bins - 1]).all()
        assert (low[bins:] == high[bins:]).all()

    @pytest.mark.parametrize("missing", [True, False])
    def test_an_example(self, missing: bool) -> None:
        low, high = of(Real(min=0, max=4, bins=2, special=(1.0, -9.0), missing=missing)).spans
        assert low.tolist() == [0, 0.5, 0.25, 0, *[0.5] * missing]
        assert high.tolist() == [0.5, 1, 0.25, 0, *[0.5] * missing]


def test_the_span_of_a_whole_number_is_where_it_decodes_to() -> None:
    levels = Levels("x", Integer(min=0, max=3, missing=False))
    low, high = levels.spans
    assert low.tolist() == high.tolist() == levels.to_unit(np.arange(4.0)).tolist()


def test_positions_are_numbers_of_the_levels_in_order() -> None:
    whole = of(Integer(min=0, max=3, special=(-1, 2)))
    assert whole.positions.tolist()[:-1] == [0.5, 1.5, 2.5, 3.5, -1, 2]
    assert np.isnan(whole.positions[-1])
    named = of(Ordinal(categories=("low", "high"), out_of_domain="other"))
    assert named.positions[:2].tolist() == [0, 1]
    assert np.isnan(named.positions[2:]).all()
    assert of(Boolean(missing=False)).positions.tolist() == [0, 1]
    assert np.isnan(of(Categorical(categories=("a", "b", "c"))).positions).all()
