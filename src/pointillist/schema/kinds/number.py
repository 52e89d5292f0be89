"""Number: integer and real columns."""

import itertools
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
from pointillist.schema.kinds.drafting import MOST_VALUES, Found, Reading, all_are
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.kinds.number_drafting import Range, decimals_of, range_of
from pointillist.schema.kinds.number_format import NumberFormat, dress_of
from pointillist.schema.selection import Selection
from pointillist.schema.texts import is_text, without_missing_texts

_MOST_SPECIALS = 1_000
_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_LARGEST = 2**53 - 1


class Number(Bounded):
    """What integers and reals have in common."""

    csv_type: ClassVar[pa.DataType] = pa.float64()
    compared_as: ClassVar[str | None] = "a number"
    late: ClassVar[tuple[str, ...]] = ("only", "clock", "format")
    grid: ClassVar[str]
    """Which numbers it takes, for messages; {} stands for how many digits they have."""

    format: str | None = None
    """How numbers are written in a CSV file, where they are not plain: `$9,999` has a currency before and commas between
    thousands, `9%` a sign behind."""

    @field_validator("format")
    @classmethod
    def _form(cls, value: str | None) -> str | None:
        if value is not None:
            NumberFormat.of(value)
        return value

    @property
    def read_as(self) -> pa.DataType:
        return self.csv_type if self.format is None else pa.string()

    def from_objects(self, values: Iterable[Any]) -> pa.Array:
        return python_values.numbers(values) if self.format is None else python_values.texts(values)

    def to_text(self, array: pa.ChunkedArray) -> pa.ChunkedArray:
        return array if self.format is None else NumberFormat.of(self.format).write(array, self.digits)

    def _numbers(self, array: pa.Array) -> pa.Array:
        if is_text(array.type):
            texts = without_missing_texts(array)
            return pc.cast(texts if self.format is None else NumberFormat.of(self.format).read(texts), pa.float64())
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
        if any(low <= value <= high for value in (*self.atoms, *self.listed.tolist())):
            return low, high
        if len(self.listed):
            raise ValueError(f"no number of the column lies in {shown}")
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


def check_only(only: tuple[float, ...], special: tuple[float, ...], low: float, high: float) -> None:
    """Refuse a list of numbers that cannot be the levels of a column."""
    if not 2 <= len(only) <= MOST_VALUES or any(one >= other for one, other in itertools.pairwise(only)):
        raise ValueError(f"only must list from 2 to {MOST_VALUES:,} numbers, each above the one before")
    if (low, high) != (only[0], only[-1]):
        raise ValueError(f"only lists numbers from {only[0]:g} to {only[-1]:g}: set min and max to these two")
    if not set(only).isdisjoint(special):
        raise ValueError("only and special have a number in common: list it once")


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
    only: tuple[int, ...] = ()
    """The only numbers that there are, from min to max, where these leave gaps: any other is taken for the nearest."""
    clock: bool = False
    """Whether numbers are times of day written as hours and minutes: after 1359 comes 1400."""

    @field_validator("special", "only", mode="before")
    @classmethod
    def _special(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.min < -EXACT or self.max >= EXACT:
            raise ValueError("min or max is beyond 2^53")
        check_range(self.min, self.max, self.scale)
        check_special(self.special)
        if self.only:
            check_only(self.only, self.special, self.min, self.max)
        if self.clock and (self.only or self.min < 0 or self.max > 2400 or self.min % 100 > 59 or self.max % 100 > 59):
            raise ValueError(
                "clock = true is for times from 0 to 2400, whose last two digits are minutes, without only"
            )
        if (self.only or self.clock) and (self.bins is not None or self.scale != "linear"):
            raise ValueError("bins and scale cannot be set where every number is a level of its own (only, clock)")
        return self

    @property
    def listed(self) -> Floats:
        if self.clock:
            every = np.arange(self.min, self.max + 1)
            return np.setdiff1d(every[every % 100 < 60], self.special).astype(np.float64)
        return np.array(self.only, dtype=np.float64)

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
        if len(self.listed):
            return sorted({*map(int, self.listed), *self.special}) if len(self.listed) <= most else []
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
            return Ignore.because(
                'every value is different, perhaps an identifier; set a kind if it should be used, or fake = "id" for '
                "running numbers in its place"
            )
        return cls.of_whole(found)

    @classmethod
    def of_whole(cls, found: Found) -> AnyColumn:
        """A draft for whole numbers that are no identifier."""
        if found.distinct <= 2:
            return Categorical.of_numbers(found)
        if int(found.ask("max(abs(x::HUGEINT))")[0]) > _LARGEST:
            return Ignore.because("numbers beyond 2^53, perhaps an identifier; set a kind if it should be used")
        return cls.of_range(range_of(found.numbers(), 1.0), found)

    @classmethod
    def of_range(cls, seen: Range, found: Found) -> Self:
        """The column of what was seen."""
        return cls(
            min=max(-_LARGEST, math.floor(seen.low)), max=min(_LARGEST, math.ceil(seen.high)), missing=found.missing,
            special=tuple(int(v) for v in seen.special), only=tuple(int(v) for v in seen.only), scale=seen.scale,
            clock=seen.clock, format=found.format,
            read_from_data=("kind", "min", "max", "missing", *seen.found, *_format_of(found)),
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
    only: tuple[float, ...] = ()
    """The only numbers that there are, from min to max: any other is taken for the nearest."""

    @field_validator("special", "only", mode="before")
    @classmethod
    def _special(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_range(self.min, self.max, self.scale)
        check_special(self.special)
        if self.only:
            check_only(self.only, self.special, self.min, self.max)
            if self.bins is not None or self.scale != "linear":
                raise ValueError("bins and scale cannot be set where every number is a level of its own (only)")
            if self.decimals is not None and any(round(each, self.decimals) != each for each in self.only):
                raise ValueError("only lists a number with more decimals than the column has")
        return self

    @property
    def listed(self) -> Floats:
        return np.array(self.only, dtype=np.float64)

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
        if all_are(texts, test):
            return Reading("DOUBLE", "trim(x)::DOUBLE")
        dress = dress_of(texts)
        return None if dress is None else Reading("DOUBLE", f"{dress[1]}::DOUBLE", str(dress[0]))

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        if found.type not in ("FLOAT", "DOUBLE") and not found.type.startswith("DECIMAL"):
            return None
        numbers = found.cast("x::DOUBLE", "DOUBLE")
        finite = numbers.where("isfinite(x)")
        if finite.some() is None:
            return Ignore.because("has no finite values")
        values = finite.numbers()
        decimals = decimals_of(values, single=found.type == "FLOAT")
        if (
            decimals == 0 and values.whole and (found.format is None or finite.distinct > 2)
        ):  # stored as floats, perhaps because of gaps
            return Integer.of_whole(finite.cast("x::BIGINT", "BIGINT"))
        if decimals is not None:
            values = values.rounded(decimals)
        seen = range_of(values, None if decimals is None else 10.0**-decimals)
        facts = seen.found + (("decimals",) if decimals is not None else ())
        return cls(
            min=float(seen.low), max=float(seen.high), special=seen.special, only=seen.only, scale=seen.scale,
            decimals=decimals, missing=numbers.where("NOT isnan(x)").missing,
            format=found.format, read_from_data=("kind", "min", "max", "missing", *facts, *_format_of(found)),
        )  # fmt: skip

    def room_for_people(self) -> float:
        return self.max - self.min + 1 if self.decimals == 0 else 0


def _format_of(found: Found) -> tuple[str, ...]:
    return ("format",) if found.format is not None else ()
