"""Formula: a number as a plain function of other columns of the same row, such as `sched_dep_time % 100` or `a + b`.

Public, like everything in a schema. It has numbers, columns (in back-ticks where their names are no words), + - * / // %,
brackets, log (the natural one), year, month, day, weekday (Monday is 0) and hour of a date, and the days between two dates,
`days(left - entered)`. Nothing else is understood, so a formula from a
stranger can do no harm.
"""

import ast
import keyword
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_OPERATORS: Mapping[type[ast.operator], Callable[[Floats, Floats], Floats]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.mod,
}
PARTS = ("year", "month", "day", "weekday", "hour")
"""Functions of a date."""
_LONGEST = 500


@dataclass(frozen=True)
class Formula:
    """An expression of columns."""

    text: str

    @cached_property
    def _parsed(self) -> tuple[ast.expr, dict[str, str]]:
        names: dict[str, str] = {}

        def plain(found: re.Match[str]) -> str:
            names[key := f"_column_{len(names)}_"] = found[1]
            return key

        if len(self.text) > _LONGEST:
            raise ValueError(f"a formula may have {_LONGEST} signs at most")
        try:
            tree = ast.parse(re.sub("`([^`]+)`", plain, self.text), mode="eval").body
        except (SyntaxError, RecursionError, MemoryError):
            raise ValueError(f"{self.text!r} is no formula, such as a + b or a % 100") from None
        return tree, names

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads; a ValueError if it is no formula."""
        found: dict[str, None] = {}
        self._walk(self._parsed[0], found, {})
        return tuple(found)

    @property
    def dates(self) -> tuple[str, ...]:
        """Those of them that must be dates."""
        found: dict[str, None] = {}
        self._walk(self._parsed[0], {}, found)
        return tuple(found)

    def _walk(self, part: ast.expr, columns: dict[str, None], dates: dict[str, None]) -> None:
        match part:
            case ast.Constant(value=int() | float()) if not isinstance(part.value, bool):
                pass
            case ast.Name():
                columns[self._parsed[1].get(part.id, part.id)] = None
            case ast.BinOp() if type(part.op) in _OPERATORS:
                self._walk(part.left, columns, dates)
                self._walk(part.right, columns, dates)
            case ast.UnaryOp(op=ast.USub()):
                self._walk(part.operand, columns, dates)
            case ast.Call(func=ast.Name(id="log"), args=[inner], keywords=[]):
                self._walk(inner, columns, dates)
            case ast.Call(func=ast.Name(id=name), args=[ast.Name() as column], keywords=[]) if name in PARTS:
                columns[self._parsed[1].get(column.id, column.id)] = None
                dates[self._parsed[1].get(column.id, column.id)] = None
            case ast.Call(
                func=ast.Name(id="days"),
                args=[ast.BinOp(left=ast.Name() as later, op=ast.Sub(), right=ast.Name() as earlier)],
                keywords=[],
            ):
                for each in (later, earlier):
                    columns[self._parsed[1].get(each.id, each.id)] = None
                    dates[self._parsed[1].get(each.id, each.id)] = None
            case _:
                raise ValueError(
                    f"{self.text!r} has something in it that a formula has not: numbers, columns, + - * / // %, brackets, "
                    "log, year, month, day, weekday and hour of a date, and days(a - b) of two dates"
                )

    def values(self, columns: Mapping[str, NDArray[np.generic]]) -> Floats:
        """The result for every row: columns are numbers with NaN for gaps, or datetime64; NaN where an input is missing."""
        with np.errstate(all="ignore"):
            found = np.asarray(self._value(self._parsed[0], columns), dtype=np.float64)
        return np.where(np.isfinite(found), found, np.nan)

    def _value(self, part: ast.expr, columns: Mapping[str, NDArray[np.generic]]) -> Floats:
        match part:
            case ast.Constant():
                return np.float64(part.value)  # type: ignore[arg-type, return-value]
            case ast.Name():
                return columns[self._parsed[1].get(part.id, part.id)].astype(np.float64)
            case ast.BinOp():
                return _OPERATORS[type(part.op)](self._value(part.left, columns), self._value(part.right, columns))
            case ast.UnaryOp():
                return -self._value(part.operand, columns)
            case ast.Call(func=ast.Name(id="log"), args=[inner]):
                return np.log(self._value(inner, columns))
            case ast.Call(func=ast.Name(id=name), args=[ast.Name() as column]):
                return part_of(name, columns[self._parsed[1].get(column.id, column.id)])
            case ast.Call(args=[ast.BinOp(left=ast.Name() as later, right=ast.Name() as earlier)]):
                both = (columns[self._parsed[1].get(each.id, each.id)] for each in (later, earlier))
                return days_between(*both)
        raise ValueError("no formula")


def part_of(name: str, dates: NDArray[np.generic]) -> Floats:
    """The year, month, day of the month, day of the week from Monday or hour of dates; NaN where there is none."""
    days, months, years = (dates.astype(f"datetime64[{unit}]") for unit in "DMY")
    match name:
        case "year":
            found = years.astype(np.int64) + 1970
        case "month":
            found = (months - years).astype(np.int64) + 1
        case "day":
            found = (days - months).astype(np.int64) + 1
        case "weekday":
            found = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
        case _:
            found = (dates.astype("datetime64[h]") - days).astype(np.int64)
    return np.where(np.isnat(dates), np.nan, found.astype(np.float64))


def days_between(later: NDArray[np.generic], earlier: NDArray[np.generic]) -> Floats:
    """Days by the calendar from one date to another; NaN where one of them is missing."""
    days = later.astype("datetime64[D]") - earlier.astype("datetime64[D]")
    return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))


def quoted(name: str) -> str:
    """A column's name as a formula has it."""
    plain = (
        name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and name not in (*PARTS, "log", "days")
    )
    return name if plain else f"`{name}`"
