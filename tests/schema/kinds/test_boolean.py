"""True and false: how they are read, and how they are named on the command line."""

import numpy as np
import pyarrow as pa
import pytest

from pointillist.schema import Boolean
from pointillist.schema.kinds.choice import MISSING, UNLISTED

FLAG = Boolean()


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, False, None]),
        pa.array(["Yes", " n ", "NA"]),
        pa.array(["T", "f", ""]),
        pa.array([1, 0, None]),
        pa.array([1.0, 0.0, None]),
    ],
    ids=lambda array: str(array.type),
)
def test_ways_of_saying_it(array: pa.Array) -> None:
    assert FLAG.from_arrow(array).tolist() == [1, 0, MISSING]


def test_anything_else_is_unlisted() -> None:
    assert FLAG.from_arrow(pa.array(["perhaps", "2"])).tolist() == [UNLISTED, UNLISTED]


def test_there_and_back() -> None:
    array = FLAG.to_arrow(np.array([0, 1, 2]), np.array([False, False, True]))
    assert array.to_pylist() == [False, True, None]
    assert FLAG.from_arrow(array).tolist() == [0, 1, MISSING]


def test_the_command_line() -> None:
    assert [FLAG.from_text(text) for text in ("Yes", "0", "", "maybe")] == [True, False, None, "maybe"]
