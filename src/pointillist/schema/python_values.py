"""Python values: columns of objects, as pandas has them, read one by one.

Nothing is inferred from the values together: Arrow would choose one type for all of them, so that one odd value changes
how the others are read.
"""

import datetime as dt
import decimal
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from pointillist.schema.texts import MISSING_TEXTS


def texts(values: Iterable[Any]) -> pa.Array:
    """Each value as a text."""
    return pa.array([None if absent(value) else _text(value) for value in values], pa.string())


def numbers(values: Iterable[Any]) -> pa.Array:
    """Each value as a number."""
    return pa.array([None if absent(value) else _number(value) for value in values], pa.float64())


def absent(value: Any) -> bool:
    """None, NaN, NaT (not equal to themselves) and pandas' NA (neither equal nor unequal)."""
    if value is None:
        return True
    unequal = value != value  # noqa: PLR0124
    return not isinstance(unequal, bool | np.bool_) or bool(unequal)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return None if value.strip() in MISSING_TEXTS else float(value)
    return float(value)


def _text(value: Any) -> str:
    if isinstance(value, float | decimal.Decimal) and value == int(value):
        return str(int(value))  # 7.0 and 7.00 are 7, whatever the other values are
    return value.isoformat() if isinstance(value, dt.date) else str(value)
