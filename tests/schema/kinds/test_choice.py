"""Choices: values are looked up one by one, and named in messages."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.schema import Categorical, Ordinal
from pointillist.schema.kinds.choice import MISSING, UNLISTED

LETTERS = Categorical(categories=("a", "b", "?"))


@given(st.lists(st.sampled_from(["a", "b", "?", "c", "NA", "", None])))
def test_each_value_is_looked_up_by_itself(values: list[str | None]) -> None:
    places = {"a": 0, "b": 1, "?": 2, "c": UNLISTED}  # a text for what is missing may be a category
    expected = [places.get(value, MISSING) if value is not None else MISSING for value in values]
    assert LETTERS.from_arrow(pa.array(values, pa.string())).tolist() == expected


def test_whole_numbers_however_they_are_written() -> None:
    codes = Categorical(categories=(1, 20))
    for array in (pa.array([1, 20, 3, None]), pa.array([1.0, 20.0, 3.5, None]), pa.array(["1", "+20.0", "one", "NA"])):
        assert codes.from_arrow(array).tolist() == [0, 1, UNLISTED, MISSING]


def test_written_values() -> None:
    array = LETTERS.to_arrow(np.array([0, 2, 3, 0]), np.array([False, False, False, True]))
    assert array.to_pylist() == ["a", "?", "other", None]
    numbers = Categorical(categories=(1, 20)).to_arrow(np.array([1, 2]), np.array([False, False]))
    assert numbers.to_pylist() == [20, None]


def test_only_an_order_has_ranges() -> None:
    grade = Ordinal(categories=("low", "middle", "high"))
    assert grade.parse({"min": "middle"}).values == ("middle", "high")
    with pytest.raises(ValueError, match="this column is categorical"):
        LETTERS.parse({"min": "a"})
