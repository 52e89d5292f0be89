"""Columns of Python objects: each value is read by itself."""

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from pointillist.schema.python_values import absent, numbers, texts


@pytest.mark.parametrize("value", [None, float("nan"), np.nan, pd.NaT, pd.NA, np.datetime64("NaT")])
def test_gaps(value: Any) -> None:
    assert absent(value)
    assert texts([value]).to_pylist() == numbers([value]).to_pylist() == [None]


def test_texts() -> None:
    values = ["a", 7, 7.0, decimal.Decimal("7.00"), 0.5, True, dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)]
    assert texts(values).to_pylist() == ["a", "7", "7", "7", "0.5", "True", "2020-01-02", "2020-01-02T03:00:00"]


def test_numbers() -> None:
    assert numbers([1, "2.5", " NA ", np.float32(0.5)]).to_pylist() == [1.0, 2.5, None, 0.5]
    with pytest.raises(ValueError, match="could not convert"):
        numbers(["one"])
