"""Level values: numbers stay in their bin, beside special values, and at the place that they are given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.schema.level_values import beside_specials, numbers, placed, to_arrow
from pointillist.schema.levels import Levels

COLUMNS = {
    "whole": pt.Integer(min=0, max=99, bins=7, special=(50,)),
    "real": pt.Real(min=1, max=1000, bins=9, scale="log", decimals=2, special=(0.0,)),
    "signed": pt.Real(min=-300, max=4000, bins=9, scale="asinh", decimals=2, special=(0.0,)),
    "date": pt.Datetime(min="2020-01-01", max="2020-12-31", bins=5),
}


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("spread", [0.0, 0.37, 1.0])
def test_numbers_stay_in_their_bin(name: str, spread: float) -> None:
    level = Levels(name, COLUMNS[name])
    codes = np.arange(level.other, dtype=np.uint16)
    found = numbers(level, codes, np.full(len(codes), spread))
    regular = found[: level.regular]
    half = 0.005  # of the decimals that numbers are rounded to
    assert ((level.edges[:-1] - half <= regular) & (regular <= level.edges[1:] + half)).all()
    assert found[level.regular :].tolist() == list(level.specials)
    assert not np.isin(regular, level.specials).any()


def test_places_of_the_whole_range_are_kept() -> None:
    level = Levels("whole", COLUMNS["whole"])
    values = np.array([0.0, 13.0, 99.0])
    codes = (np.searchsorted(level.edges, values, side="right") - 1).astype(np.uint16)
    np.testing.assert_array_equal(placed(level, codes, level.to_unit(values)), values)


def test_whole_numbers_go_round_special_ones() -> None:
    low, high = np.full(3, 4.0), np.full(3, 7.0)
    assert beside_specials(np.array([4.0, 5.0, 6.0]), low, high, (5.0, 6.0)).tolist() == [4.0, 4.0, 4.0]


def test_gaps_are_gaps() -> None:
    level = Levels("whole", COLUMNS["whole"])
    codes = np.array([0, level.missing], dtype=np.uint16)
    assert to_arrow(level, codes, np.array([3.0, 3.0])).to_pylist() == [3, None]
    truth = Levels("b", pt.Boolean())
    assert to_arrow(truth, np.array([1, 0, truth.missing], dtype=np.uint16)).to_pylist() == [True, False, None]


def test_few_values_come_out_exactly() -> None:
    level = Levels("r", pt.Real(min=0, max=100, decimals=1, missing=False))
    codes = np.arange(level.regular, dtype=np.uint16)
    for spread in (0.0, 0.5, 1.0):
        found = numbers(level, codes, np.full(len(codes), spread))
        assert found.tolist() == [number / 10 for number in range(1001)]
        assert placed(level, codes, level.to_unit(found)).tolist() == found.tolist()


@given(st.floats(-1e9, 0), st.floats(1e-3, 1e9), st.floats(0, 1))
def test_numbers_on_an_asinh_scale_come_back(low: float, high: float, unit: float) -> None:
    level = Levels("x", pt.Real(min=low, max=high, scale="asinh", missing=False))
    value = level.from_unit(np.array([unit]))
    code = np.clip(np.searchsorted(level.edges, value, side="right") - 1, 0, level.regular - 1).astype(np.uint16)
    np.testing.assert_allclose(placed(level, code, level.to_unit(value)), value, rtol=1e-6, atol=1e-9 * (high - low))
