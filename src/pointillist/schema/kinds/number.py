"""Number: integer and real columns."""

import math
import sys
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from pointillist.schema import python_values
from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.bounded import Bounded, Floats, check_range, on_grid
from pointillist.schema.kinds.categorical import EXACT, Categorical
from pointillist.schema.kinds.drafting import Found, Reading, all_are, range_of
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.selection import Selection
from pointillist.schema.texts import is_text, without_missing_texts

_MOST_SPECIALS = 1_000
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_LARGEST = 2**53 - 1
_MOST_DECIMALS, _USUAL = 12, 0.95
_DOUBLE_NOISE, _FLOAT_NOISE = 4 * 2.0**-52, 4 * 2.0**-23
"""How far a number may lie from the one that was meant, relative to it: a few last places of its type."""


class Number(Bounded):
    """What integers and reals have in common."""

    csv_type: ClassVar[pa.DataType] = pa.float64()
    compared_as: ClassVar[str | None] = "a number"
    grid: ClassVar[str]
    """Which numbers it takes, for messages; {} stands for how many digits they have."""

    def from_objects(self, values: Iterable[Any]) -> pa.Array:
        return python_values.numbers(values)

    def _numbers(self, array: pa.Array) -> pa.Array:
        if is_text(array.type):
            return pc.cast(without_missing_texts(array), pa.float64())
        if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            return array
        return pc.cast(array, pa.float64())

    def parse(self, written: Any) -> Selection:
        return Selection(ranges=(self._range(written),))

    def _range(self, written: Any) -> tuple[float, float]:
        single = not isinstance(written, dict)
        ends = {"min": written, "max": written} if single else written
        for value in ends.values():
            if isinstance(value, str | bool):
                raise ValueError(f"{value!r} is not a number, and this column is {self.kind}")
            if not abs(value) <= sys.float_info.max:  # also of what is not a number
                raise ValueError(f"{value} is not a finite number; leave an end of a range away to keep it open")
        first, last = self.ends
        low, high = ends.get("min", min((first, *self.atoms))), ends.get("max", max((last, *self.atoms)))
        shown = str(written) if single else f"the range {low} to {high}"
        if low > high:
            raise ValueError(f"{shown} is reversed")
        if any(low <= value <= high for value in self.atoms):
            return low, high
        if high < first or low > last:
            raise ValueError(f"{shown} is outside its bounds {first} to {last}")
        if self.digits is None and low == high:
            raise ValueError(
                f"the single value {low} has no probability in a column of reals: give a range, or state its decimals"
            )
        if self.digits is not None and not (low <= first <= high or low <= last <= high):
            lowest, highest = on_grid(low, high, self.digits)
            if lowest > highest:
                raise ValueError(f"no value lies in {shown}: the column {self.grid.format(self.digits)}")
        return low, high


def check_special(special: tuple[float, ...]) -> None:
    """Refuse atoms that could not be told apart."""
    if len(set(special)) != len(special):
        raise ValueError("special has an entry twice: list each once")
    if not all(abs(v) <= EXACT for v in special):
        raise ValueError("special has a value that is not finite, or beyond 2^53")
    if len(special) > _MOST_SPECIALS:
        raise ValueError(f"special has over {_MOST_SPECIALS:,} entries")


class Integer(Number):
    """A whole number; a fraction found in the data is dropped."""

    whole: ClassVar[bool] = True
    pandas_type: ClassVar[str | None] = "Int64"
    grid: ClassVar[str] = "takes whole numbers"

    kind: Literal["integer"] = "integer"
    min: int
    max: int
    special: tuple[int, ...] = ()
    """Values that keep an atom of their own, inside or outside the bounds, such as 0 or -1."""

    @field_validator("special", mode="before")
    @classmethod
    def _special(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min < -EXACT or self.max >= EXACT:
            raise ValueError("min or max is beyond 2^53")
        check_range(self.min, self.max, self.scale)
        check_special(self.special)
        return self

    @property
    def ends(self) -> tuple[int, int]:
        return self.min, self.max

    @property
    def atoms(self) -> tuple[int, ...]:
        return self.special

    def to_arrow(self, numbers: Floats, missing: NDArray[np.bool_]) -> pa.Array:
        return pa.array(numbers.astype(np.int64), mask=missing, type=pa.int64())

    def value_of(self, text: str) -> int:
        return int(text)

    def every_value(self, most: int) -> list[int]:
        return sorted({*range(self.min, self.max + 1), *self.special}) if self.max - self.min < most else []

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        """A leading zero makes a code, not a number."""
        test = r"regexp_matches(x, '^[+-]?(0|[1-9]\d*)$') AND TRY_CAST(x AS BIGINT) IS NOT NULL"
        return Reading("BIGINT", "trim(x)::BIGINT") if all_are(texts, test) else None

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        if found.type not in _WHOLE:
            return None
        if found.distinct == found.filled and found.filled > 100:
            return Ignore.because("every value is different, perhaps an identifier; set a kind if it should be used")
        if found.distinct <= 2:
            return Categorical.of_numbers(found)
        if int(found.ask("max(abs(x::HUGEINT))")[0]) > _LARGEST:
            return Ignore.because("numbers beyond 2^53, perhaps an identifier; set a kind if it should be used")
        seen = range_of(found, 1.0)
        return cls(
            min=max(-_LARGEST, math.floor(seen.low)), max=min(_LARGEST, math.ceil(seen.high)), missing=found.missing,
            special=tuple(int(v) for v in seen.special), scale=seen.scale,
            read_from_data=("kind", "min", "max", "missing", *seen.found),
        )  # fmt: skip

    def room_for_people(self) -> float:
        return self.max - self.min + 1


class Real(Number):
    """A real number."""

    grid: ClassVar[str] = "has {} decimals"

    kind: Literal["real"] = "real"
    min: Annotated[float, Field(allow_inf_nan=False)]
    max: Annotated[float, Field(allow_inf_nan=False)]
    special: tuple[float, ...] = ()
    """Values that keep an atom of their own, inside or outside the bounds, such as 0 or -1."""
    decimals: Annotated[int, Field(ge=0, le=12)] | None = None
    """Digits after the point in the synthetic data; none given: not rounded."""

    @field_validator("special", mode="before")
    @classmethod
    def _special(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_range(self.min, self.max, self.scale)
        check_special(self.special)
        return self

    @property
    def ends(self) -> tuple[float, float]:
        return self.min, self.max

    @property
    def atoms(self) -> tuple[float, ...]:
        return self.special

    @property
    def digits(self) -> int | None:
        return self.decimals

    def to_arrow(self, numbers: Floats, missing: NDArray[np.bool_]) -> pa.Array:
        return pa.array(numbers, mask=missing, type=pa.float64())

    def value_of(self, text: str) -> float:
        return float(text)

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        test = "TRY_CAST(x AS DOUBLE) IS NOT NULL AND NOT regexp_matches(x, '^[+-]?0[0-9]')"
        return Reading("DOUBLE", "trim(x)::DOUBLE") if all_are(texts, test) else None

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        if found.type not in ("FLOAT", "DOUBLE") and not found.type.startswith("DECIMAL"):
            return None
        numbers = found.cast("x::DOUBLE", "DOUBLE")
        finite = numbers.where("isfinite(x)")
        nan = numbers.where("isnan(x)").some() is not None
        if finite.some() is None:
            return Ignore.because("has no finite values")
        decimals = _decimals(finite, _FLOAT_NOISE if found.type == "FLOAT" else _DOUBLE_NOISE)
        seen = range_of(finite, None if decimals is None else 10.0**-decimals)
        facts = seen.found + (("decimals",) if decimals is not None else ())
        return cls(
            min=float(seen.low), max=float(seen.high), special=seen.special, scale=seen.scale, decimals=decimals,
            missing=found.missing or nan, read_from_data=("kind", "min", "max", "missing", *facts),
        )  # fmt: skip

    def room_for_people(self) -> float:
        return self.max - self.min + 1 if self.decimals == 0 else 0


def _decimals(found: Found, noise: float) -> int | None:
    """Digits after the point that are enough for all but one in twenty values; none if more are usual than can be kept.

    What lies nearer to a short number than its type can tell apart is that number: 0.1 + 0.2 has one decimal.
    """
    tests = " ".join(
        f"WHEN abs(round(x, {digits}) - x) <= {noise} * abs(x) THEN {digits}" for digits in range(_MOST_DECIMALS + 1)
    )
    beyond = _MOST_DECIMALS + 1
    usual = found.ask(f"quantile_disc(CASE {tests} ELSE {beyond} END, {_USUAL})")[0]
    return None if usual == beyond else int(usual)
