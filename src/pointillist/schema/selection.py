"""Selection: which values of a column are meant. Conditions on a sample and constraints in a schema speak this language.

A selection is written as a value, as a list of values, as a range of numbers, dates or ordered categories (both ends
belong to it, and either may be left open), or as "missing":

    in Python    "F"    ["F", "M"]    (30, 40)                   None
    in a schema  "F"    ["F", "M"]    { min = 30, max = 40 }     { missing = true }
    in a shell   F      (repeated)    30..40                     (nothing)
"""

import datetime as dt
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_ENDS = {"min", "max"}
_EXACT = 2.0**53
"""Beyond this, doubles have no fractions."""
_SHOWN = 12
"""At most this many categories are listed in a message."""


@dataclass(frozen=True)
class Selection:
    """Values of one column."""

    values: tuple[Any, ...] = ()
    """Categories, or true and false; the column's `other_label` stands for what is unlisted."""
    ranges: tuple[tuple[Any, Any], ...] = ()
    """Lowest and highest number or moment of each range."""
    missing: bool = False

    def __str__(self) -> str:
        shown = [[str(end).removesuffix(" 00:00:00") for end in each] for each in self.ranges]
        ranges = (f"{low} to {high}" if low != high else low for low, high in shown)
        return " or ".join([*map(repr, self.values), *ranges, *(["missing"] if self.missing else [])])

    def includes(self, other: Self) -> bool:
        """Whether all of another selection of the same column is in this one."""
        return (
            set(other.values) <= set(self.values)
            and all(any(a <= low and high <= b for a, b in self.ranges) for low, high in other.ranges)
            and self.missing >= other.missing
        )


def select(name: str, column: Any, written: Any) -> Selection:
    """Understand what is written about a column of the schema; a ValueError says what is wrong with it."""
    try:
        return _united([_one(column, each) for each in _listed(plain(written))])
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from None


def plain(written: Any) -> Any:
    """The same, as a file holds it: texts, numbers, truths, lists and tables."""
    if written is None:
        return {"missing": True}
    if isinstance(written, tuple):
        if len(written) != 2:
            raise ValueError(f"a range has two ends, (low, high), not {len(written)}; a list of values is [...]")
        written = {end: value for end, value in zip(("min", "max"), written, strict=True) if value is not None}
    if isinstance(written, dict):
        if written == {"missing": True} or (written and written.keys() <= _ENDS):
            return {key: _scalar(value) for key, value in written.items()}
        raise ValueError("a range is { min = ..., max = ... } with at least one of them, a gap { missing = true }")
    if isinstance(written, list | set | frozenset):
        return [plain(each) for each in written]
    return _scalar(written)


def from_text(name: str, column: Any, text: str) -> Any:
    """What is meant by a text from the command line, in the form that `select` takes."""
    if text in getattr(column, "categories", ()):
        return text
    if text == "":
        return None
    if column.kind == "boolean":
        return _BOOLEANS.get(text.lower(), text)
    low, dots, high = text.partition("..")
    try:
        if not dots or column.kind == "categorical":
            return _value_of(column, text)
        return _value_of(column, low) if low else None, _value_of(column, high) if high else None
    except ValueError:
        raise ValueError(f"column {name!r}: {text!r} is neither a number nor a range such as 30..40") from None


def _value_of(column: Any, text: str) -> Any:
    """A text as a value of the column's type."""
    if column.kind == "integer" or isinstance(getattr(column, "categories", ("",))[0], int):
        return int(text)
    return float(text) if column.kind == "real" else text


def _scalar(value: Any) -> Any:
    """One value, as a file holds it."""
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]")
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dt.date):  # a datetime, too
        return value.isoformat()
    if isinstance(value, str | int | float):  # a truth is an int
        return value
    raise ValueError(f"a value is a text, a number, a date, true or false, not {type(value).__name__}")


def _listed(written: Any) -> list[Any]:
    if not isinstance(written, list):
        return [written]
    if not written:
        raise ValueError("the list of values is empty")
    if any(isinstance(each, list) for each in written):
        raise ValueError("a list of values holds no further lists")
    return written


def _united(parts: Iterable[Selection]) -> Selection:
    parts = list(parts)
    values = dict.fromkeys(value for part in parts for value in part.values)
    ranges = sorted({each for part in parts for each in part.ranges})
    merged: list[tuple[Any, Any]] = []
    for low, high in ranges:
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return Selection(tuple(values), tuple(merged), any(part.missing for part in parts))


def _one(column: Any, written: Any) -> Selection:
    """A value, a range or a gap of any kind of column."""
    if isinstance(written, dict) and "missing" in written:
        # Where categories are whole numbers, synthetic rows leave what is unlisted missing, too.
        if not (column.missing or _unlisted_is_missing(column)):
            raise ValueError("its values are never missing (missing = false)")
        return Selection(missing=True)
    match column.kind:
        case "boolean" | "categorical" | "ordinal":
            return Selection(values=_categories(column, written))
        case "integer" | "real":
            return Selection(ranges=(_numbers(column, written),))
        case _:
            return Selection(ranges=(_moments(column, written),))


def _unlisted_is_missing(column: Any) -> bool:
    return getattr(column, "out_of_domain", None) == "other" and isinstance(column.categories[0], int)


def _known(column: Any) -> tuple[Any, ...]:
    """The values that a column of names can take."""
    if column.kind == "boolean":
        return (False, True)
    other = column.out_of_domain == "other" and not _unlisted_is_missing(column)
    return (*column.categories, column.other_label) if other else column.categories


def _categories(column: Any, written: Any) -> tuple[Any, ...]:
    known = _known(column)
    if not isinstance(written, dict):
        return (known[_place(known, written)],)
    if column.kind != "ordinal":
        raise ValueError(f"a range needs a number, a date or an ordinal, and this column is {column.kind}")
    last = len(column.categories) - 1
    low, high = (
        _place(column.categories, written[end]) if end in written else open_end
        for end, open_end in (("min", 0), ("max", last))
    )
    if low > high:
        raise ValueError(f"the range {written['min']!r} to {written['max']!r} is reversed")
    return tuple(column.categories[low : high + 1])


def _place(known: tuple[Any, ...], value: Any) -> int:
    """Where a value stands among those known. True is not 1 here, as it is in Python."""
    for place, each in enumerate(known):
        if type(each) is type(value) and each == value:
            return place
    shown = ", ".join(map(repr, known[:_SHOWN])) + (f", ... ({len(known)})" if len(known) > _SHOWN else "")
    raise ValueError(f"{value!r} is not one of its values: {shown}")


def _numbers(column: Any, written: Any) -> tuple[float, float]:
    """A range of a numeric column."""
    single = not isinstance(written, dict)
    ends = {"min": written, "max": written} if single else written
    for value in ends.values():
        if isinstance(value, str | bool):
            raise ValueError(f"{value!r} is not a number, and this column is {column.kind}")
        if not abs(value) <= sys.float_info.max:  # also of what is not a number
            raise ValueError(f"{value} is not a finite number; leave an end of a range away to keep it open")
    low, high = ends.get("min", min((column.min, *column.special))), ends.get("max", max((column.max, *column.special)))
    shown = str(written) if single else f"the range {low} to {high}"
    if low > high:
        raise ValueError(f"{shown} is reversed")
    if any(low <= value <= high for value in column.special):
        return low, high
    if high < column.min or low > column.max:
        raise ValueError(f"{shown} is outside its bounds {column.min} to {column.max}")
    digits = 0 if column.kind == "integer" else column.decimals
    if digits is None and low == high:
        raise ValueError(
            f"the single value {low} has no probability in a column of reals: give a range, or state its decimals"
        )
    if digits is not None and not (low <= column.min <= high or low <= column.max <= high):
        first, last = on_grid(low, high, digits)
        if first > last:
            rule = "takes whole numbers" if column.kind == "integer" else f"has {digits} decimals"
            raise ValueError(f"no value lies in {shown}: the column {rule}")
    return low, high


def on_grid(low: float, high: float, digits: int) -> tuple[float, float]:
    """The lowest and the highest number with so many digits in a range; the first is above the last if there is none."""
    scale = 10**digits
    if max(abs(low), abs(high)) * scale >= _EXACT:
        return low, high  # so large a number has no such digits to lose
    first, last = math.floor(low * scale) - 1, math.ceil(high * scale) + 1
    while first / scale < low:  # a product in floating point may be a little off: 0.7 * 10 is over 7
        first += 1
    while last / scale > high:
        last -= 1
    return first / scale, last / scale


def _moments(column: Any, written: Any) -> tuple[dt.datetime, dt.datetime]:
    """A range of a datetime column, in its resolution. A date that ends a range stands for the whole day."""
    ends = written if isinstance(written, dict) else {"min": written, "max": written}
    low = _moment(ends["min"], column, last=False) if "min" in ends else column.min
    high = _moment(ends["max"], column, last=True) if "max" in ends else column.max
    if low > high:
        raise ValueError(f"the range {low} to {high} is reversed")
    if high < _floored(column.min, column) or low > column.max:
        raise ValueError(f"{low} to {high} is outside its bounds {column.min} to {column.max}")
    return low, high


def _moment(written: Any, column: Any, *, last: bool) -> dt.datetime:
    if not isinstance(written, str):
        raise ValueError(f"{written!r} is not a date")
    try:
        when = utc(dt.datetime.fromisoformat(written))
    except ValueError:
        raise ValueError(f"{written!r} is not a date in the form 2020-12-31 or 2020-12-31T23:59:59") from None
    whole_day = len(written) <= len("2020-12-31")
    if last and whole_day:
        when = dt.datetime.combine(when, dt.time(23, 59, 59))
    return _floored(when, column)


def _floored(when: dt.datetime, column: Any) -> dt.datetime:
    """Without what is finer than the column's resolution."""
    return (
        when.replace(hour=0, minute=0, second=0, microsecond=0)
        if column.resolution == "day"
        else when.replace(microsecond=0)
    )


def utc(when: dt.datetime) -> dt.datetime:
    """A moment without a zone; zoned ones are taken in UTC."""
    if when.tzinfo is None:
        return when
    try:
        return when.astimezone(dt.UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError("is outside the calendar in UTC") from None
