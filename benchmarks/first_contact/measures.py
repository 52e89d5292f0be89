"""Measures: what a person would look at first in a synthetic table, computed plainly and without the package's own judge."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

FEW = 50
"""Up to so many different values, a column is compared value by value; more are numbers in twentieths of the real rows."""
PARTS = 20
BEYOND = 0.02
"""A number may lie so far outside of the real ones, in terms of their span, before a person would ask about it."""
_MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "None", "N/A", "n/a")


@dataclass(frozen=True)
class ColumnMeasure:
    """How near a synthetic column comes to the real one."""

    name: str
    kind: str
    values: int
    """Different values among the real rows."""
    tvd: float | None
    """Total variation distance, value by value where there are few, and else by twentieths; none for what is left out."""
    odd: float
    """The share of synthetic rows with a value that a person would not accept there."""
    why: str


def measure(name: str, kind: str, real: pa.Array, synthetic: pa.Array | None) -> ColumnMeasure:
    """Compare one column; none stands for a column that the draft left out."""
    numbers = as_numbers(real)
    shown = numbers if numbers is not None else np.array(_texts(real), dtype=object)
    filled = shown[~_gaps(shown)]
    distinct = len(set(filled.tolist()))
    if synthetic is None:
        return ColumnMeasure(name, kind, distinct, None, 0.0, "")
    other = as_numbers(synthetic) if numbers is not None else np.array(_texts(synthetic), dtype=object)
    if other is None:
        return ColumnMeasure(name, kind, distinct, 1.0, 1.0, "numbers became texts")
    tvd = _tvd(_classes(shown, filled, distinct), _classes(other, filled, distinct))
    odd, why = _odd(filled, other[~_gaps(other)], distinct, numeric=numbers is not None)
    return ColumnMeasure(name, kind, distinct, tvd, odd / max(1, len(other)), why)


def as_numbers(column: pa.Array) -> NDArray[np.float64] | None:
    """A column as numbers, days or seconds, gaps as NaN; none if it holds texts."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_boolean(column.type):
        return None
    if pa.types.is_temporal(column.type):
        column = pc.cast(column, pa.int32() if pa.types.is_date32(column.type) else pa.int64())
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        numbers = np.asarray(pc.cast(column, pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        return short(numbers) if pa.types.is_floating(column.type) else numbers
    return None


def short(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers to six digits, as people read them: 4.5999999 is 4.6."""
    some = np.isfinite(numbers) & (numbers != 0)
    scale = np.ones(len(numbers))
    scale[some] = 10.0 ** (5 - np.floor(np.log10(np.abs(numbers[some]))))
    return np.where(some, np.round(numbers * scale) / scale, numbers)


def float_coded(column: pa.Array) -> bool:
    """Whether whole numbers are stored as floats."""
    if not pa.types.is_floating(column.type):
        return False
    numbers = as_numbers(column)
    filled = numbers[np.isfinite(numbers)] if numbers is not None else np.empty(0)
    return len(filled) > 0 and bool((filled == np.round(filled)).all())


def _texts(column: pa.Array) -> list[str | None]:
    return [None if each is None or str(each).strip() in _MISSING else str(each).lower() for each in column.to_pylist()]


def _gaps(shown: NDArray[Any]) -> NDArray[np.bool_]:
    if shown.dtype == object:
        return np.array([each is None for each in shown], dtype=np.bool_)
    return np.isnan(shown)


def _classes(shown: NDArray[Any], real: NDArray[Any], distinct: int) -> Counter[Any]:
    """How often each class comes: a value, or a twentieth of the real rows; frequent values are apart."""
    gaps = _gaps(shown)
    filled = shown[~gaps]
    found: Counter[Any] = Counter({"gap": int(gaps.sum())})
    if distinct <= FEW or real.dtype == object:
        found.update(filled.tolist())
        return found
    values, often = np.unique(real, return_counts=True)
    atoms = values[often > len(real) / PARTS]
    rest = real[~np.isin(real, atoms)]
    cuts = np.unique(np.quantile(rest, np.arange(1, PARTS) / PARTS)) if len(rest) else np.empty(0)
    apart = np.isin(filled, atoms)
    found.update(filled[apart].tolist())
    found.update(("part", int(place)) for place in np.searchsorted(cuts, filled[~apart], side="right"))
    return found


def _tvd(one: Counter[Any], other: Counter[Any]) -> float:
    first, second = max(1, one.total()), max(1, other.total())
    return sum(abs(one[each] / first - other[each] / second) for each in {*one, *other}) / 2


def _odd(real: NDArray[Any], other: NDArray[Any], distinct: int, *, numeric: bool) -> tuple[int, str]:
    """How many synthetic values a person would not accept, and why."""
    if not len(real) or not len(other):
        return len(other), "values where there are none" if len(other) else ""
    if not numeric:
        known = {*real.tolist(), "other", "(other)"}
        return sum(each not in known for each in other.tolist()), "texts that no real row has"
    low, high = float(real.min()), float(real.max())
    tests = {"beyond the real range": (other < low - BEYOND * (high - low)) | (other > high + BEYOND * (high - low))}
    if low >= 0:
        tests["negative"] = other < 0
    if (real == np.round(real)).all():
        tests["not whole"] = other != np.round(other)
        if clock(real):
            tests["no time of day"] = (other % 100 >= 60) | (other > 2400)
    if distinct <= FEW and not dense(real):
        tests["a value that no real row has"] = ~np.isin(other, real)
    wrong = np.logical_or.reduce(list(tests.values()))
    return int(wrong.sum()), ", ".join(why for why, found in tests.items() if found.any())


def dense(real: NDArray[np.float64]) -> bool:
    """Whether numbers fill at least half of the places between the lowest and the highest, in steps of the smallest gap."""
    values = np.unique(real)
    gaps = np.diff(values)
    return len(values) < 2 or len(values) >= 0.5 * (round((values[-1] - values[0]) / gaps.min()) + 1)


def clock(real: NDArray[np.float64]) -> bool:
    """Whether numbers are times of day written as HHMM."""
    hours = np.unique(real // 100)
    return bool(
        real.min() >= 0 and real.max() <= 2400 and (real % 100 < 60).all() and len(hours) >= 6 and real.max() >= 1000
        and len(np.unique(real)) > FEW and (real % 100 > 40).mean() > 0.1
    )  # fmt: skip
