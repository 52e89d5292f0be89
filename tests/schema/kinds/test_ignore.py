"""Columns that are left out."""

import math

import pyarrow as pa
import pytest

from pointillist.schema import Ignore


def test_it_is_neither_measured_nor_counted() -> None:
    assert not Ignore().measured
    assert not Ignore().has_levels
    assert Ignore().csv_type == pa.string()
    assert Ignore().room_for_people() == math.inf


def test_a_draft_says_why() -> None:
    column = Ignore.because("has no values at all")
    assert column.facts() == {
        "kind": "ignore",
        "description": "has no values at all",
        "read_from_data": ("kind",),
    }


def test_it_has_no_values_to_choose_from() -> None:
    with pytest.raises(ValueError, match="kind ignore has no values to choose from"):
        Ignore().select("a")
