"""Duration: a length of time, from seconds to days.

A length is written as whole numbers with a unit each (90s, 15m, 2h, 3d, 1h 30m), as a number of seconds, as a clock shows
it (1:30:00, 1 day, 2:03:04, 2 days 01:03:04) or in ISO 8601 (PT1H30M). All of these are read everywhere: in data, in a
schema, in conditions. Months and years have no length of their own, and are refused. Parts of a second are dropped.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer, field_validator, model_validator

from pointillist.schema.kinds import time_of_day
from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.bounded import Bounded, Floats, check_range, on_grid
from pointillist.schema.kinds.drafting import Found, Reading, all_are, rounded_out
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.kinds.number import check_special
from pointillist.schema.kinds.number_drafting import Range, hours_between, range_of
from pointillist.schema.kinds.time_of_day import TimeOfDay
from pointillist.schema.python_values import absent
from pointillist.schema.selection import Selection
from pointillist.schema.texts import MISSING_TEXTS, is_text, without_missing_texts

SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
"""How long a tick is, by resolution; the longest first."""
_LONGEST = dt.timedelta(days=3_650_000)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_SIGN, _CLOCK = r"(?P<sign>[+-]?)", r"\+?(?P<h>\d{1,9}):(?P<m>\d{2}):(?P<s>\d{2}(\.\d+)?)"
_WAYS = tuple(
    re.compile(_SIGN + way, re.A)
    for way in (
        r"(?P<s>\d{1,15}(\.\d+)?)",
        r"((?P<d>\d{1,9}) ?d)?( ?(?P<h>\d{1,9}) ?h)?( ?(?P<m>\d{1,12}) ?m)?( ?(?P<s>\d{1,15}(\.\d+)?) ?s)?",
        _CLOCK,
        rf"(?P<d>\d{{1,9}}) days?,? {_CLOCK}",
        r"P((?P<w>\d{1,9})W)?((?P<d>\d{1,9})D)?(T((?P<h>\d{1,9})H)?((?P<m>\d{1,12})M)?((?P<s>\d{1,15}(\.\d+)?)S)?)?",
    )
)
_PARTS = {"w": 604_800, "d": 86_400, "h": 3_600, "m": 60, "s": 1}


def length_of(written: Any) -> dt.timedelta:
    """A length, however it is written, to the second below; a ValueError if it is none."""
    if isinstance(written, str):
        micros = _micros(written.strip())
        if micros is None:
            raise ValueError(f'{written!r} is not a length of time such as "90s", "15m", "2h", "1h 30m" or "3d"')
        return dt.timedelta(seconds=micros // 10**6)
    if isinstance(written, bool) or not isinstance(written, int | float | dt.timedelta):
        raise ValueError(f"{written!r} is not a length of time")
    if isinstance(written, dt.timedelta):
        return dt.timedelta(seconds=written // dt.timedelta(seconds=1))
    if not abs(written) <= 10**12:  # also of what is not a number
        raise ValueError(f"{written} seconds are not a finite length of time")
    return dt.timedelta(seconds=math.floor(written))


Length = Annotated[
    dt.timedelta,
    BeforeValidator(length_of),
    PlainSerializer(lambda length: length // dt.timedelta(seconds=1), when_used="json"),
]


class Duration(Bounded):
    """A length of time. Numbers in the data are seconds."""

    whole: ClassVar[bool] = True
    needs: ClassVar[str] = "lengths of time, numbers of seconds or texts"
    also_reads: ClassVar[frozenset[str]] = frozenset({"intervals"})
    compared_as: ClassVar[str | None] = "a length of time"

    kind: Literal["duration"] = "duration"
    min: Length
    max: Length
    """Bounds, as texts such as "90s", "15m", "2h", "3d", "1h 30m", or as numbers of seconds; 0 at least."""
    special: tuple[Length, ...] = ()
    """Lengths that keep an atom of their own, inside or outside the bounds, such as "0s"."""
    resolution: Literal["second", "minute", "hour", "day"] = "second"
    """The unit in which lengths are counted; anything finer is dropped."""
    format: Literal["clock", "days", "iso", "seconds"] | TimeOfDay = "clock"
    """How synthetic CSV files write them: 26:03:04, "1 days 02:03:04", P1DT2H3M4S or 93784; all of these are read. Times of
    day, as lengths since midnight, are read and written in strptime's letters: "%H:%M", "%H%M", "%I:%M %p"."""

    @field_validator("special", mode="before")
    @classmethod
    def _special(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (dt.timedelta() <= self.min and self.max <= _LONGEST):
            raise ValueError(f"min or max is below 0s or beyond {in_words(_LONGEST)}")
        low, high = self.bounds
        if not low < high:
            raise ValueError(
                f"min {in_words(self.min)} is not shorter than max {in_words(self.max)} by a {self.resolution} or more"
            )
        check_range(low, high, self.scale)
        check_special(self.specials)
        if not all(special.is_integer() and special >= 0 for special in self.specials):
            raise ValueError(f"special has a length below 0s, or one that is no whole number of {self.resolution}s")
        return self

    # Its values as numbers: how often the resolution goes into them

    @property
    def tick(self) -> int:
        """How many seconds one counts for."""
        return SECONDS[self.resolution]

    @property
    def ends(self) -> tuple[dt.timedelta, dt.timedelta]:
        return self.min, self.max

    @property
    def bounds(self) -> tuple[float, float]:
        low, high = super().bounds
        return float(math.floor(low)), float(math.floor(high))

    @property
    def atoms(self) -> tuple[dt.timedelta, ...]:
        return self.special

    def number_of(self, value: Any) -> float:
        return float(value / dt.timedelta(seconds=self.tick))

    def length(self, number: float) -> dt.timedelta:
        """The length of so many ticks."""
        return dt.timedelta(seconds=round(number * self.tick))

    def from_objects(self, values: Iterable[Any]) -> pa.Array:
        return pa.array([None if absent(value) else self._of_object(value) for value in values], pa.duration("us"))

    def _of_object(self, value: Any) -> int | None:
        """A Python object as microseconds; a text is a time of day first, where the column has such."""
        if isinstance(value, str) and time_of_day.is_time(self.format):
            seconds = time_of_day.seconds_of(value.strip())
            return _object(value) if seconds is None else seconds * 10**6
        return _object(value)

    def _numbers(self, array: pa.Array) -> pa.Array:
        if pa.types.is_duration(array.type):
            return _floored(array.cast(pa.int64()), _PER_SECOND[array.type.unit] * self.tick)
        if is_text(array.type):
            coded = without_missing_texts(array).dictionary_encode()
            lengths = pa.array([self._of_object(text) for text in coded.dictionary.to_pylist()], pa.int64())
            return pc.take(_floored(lengths, 10**6 * self.tick), coded.indices)
        if pa.types.is_interval(array.type):
            return _floored(_of_intervals(array), 10**6 * self.tick)
        if pa.types.is_boolean(array.type) or pa.types.is_temporal(array.type):
            raise TypeError("not a length of time")
        return pc.floor(pc.divide(pc.cast(array, pa.float64(), safe=False), float(self.tick)))

    def to_arrow(self, numbers: Floats, missing: NDArray[np.bool_]) -> pa.Array:
        seconds = np.where(missing, 0, numbers).astype(np.int64) * self.tick
        return pa.array(seconds, mask=missing, type=pa.int64()).cast(pa.duration("s")).cast(pa.duration("us"))

    def in_terms_of(self, other: Bounded, numbers: Floats) -> Floats:
        """Both in the coarser resolution of the two."""
        if not isinstance(other, Duration) or other.tick <= self.tick:
            return numbers
        return np.floor(numbers * self.tick / other.tick)

    # As texts

    @classmethod
    def holds(cls, kind: pa.DataType) -> bool:
        return bool(pa.types.is_duration(kind) or pa.types.is_interval(kind))

    @classmethod
    def written(cls, array: pa.ChunkedArray) -> pa.ChunkedArray:
        return _written(array, "clock") if pa.types.is_duration(array.type) else array

    def to_text(self, array: pa.ChunkedArray) -> pa.ChunkedArray:
        return _written(array, self.format) if pa.types.is_duration(array.type) else array

    @classmethod
    def counted(cls, array: Any) -> pa.Array | pa.ChunkedArray:
        """In seconds."""
        if pa.types.is_interval(array.type):
            return pc.divide(pa.chunked_array([_of_intervals(array)]).cast(pa.float64()), 1e6)
        per_second = _PER_SECOND[array.type.unit]
        return pc.divide(array.cast(pa.int64()).cast(pa.float64(), safe=False), float(per_second))

    # What a person writes, and what a person reads

    def facts(self) -> dict[str, Any]:
        facts = {**super().facts(), "min": in_words(self.min), "max": in_words(self.max)}
        return facts | ({"special": [in_words(each) for each in self.special]} if self.special else {})

    @classmethod
    def plain(cls, value: Any) -> Any:
        if isinstance(value, np.timedelta64) and not np.isnat(value):
            value = value.astype("m8[us]").item()
        return in_words(value) if isinstance(value, dt.timedelta) else None

    def parse(self, written: Any) -> Selection:
        """A range with both its ends, or a single length."""
        ends = written if isinstance(written, dict) else {"min": written, "max": written}
        low = length_of(ends["min"]) if "min" in ends else min((self.min, *self.special))
        high = length_of(ends["max"]) if "max" in ends else max((self.max, *self.special))
        shown = in_words(low) if low == high else f"the range {in_words(low)} to {in_words(high)}"
        if low > high:
            raise ValueError(f"{shown} is reversed")
        first, last = self.number_of(low), self.number_of(high)
        if not any(first <= value <= last for value in self.specials):
            if last < self.bounds[0] or first > self.bounds[1]:
                raise ValueError(f"{shown} is outside its bounds {self.show_ends()}")
            if not (first <= self.bounds[0] <= last or first <= self.bounds[1] <= last):
                lowest, highest = on_grid(first, last, 0)
                if lowest > highest:
                    raise ValueError(f"no value lies in {shown}: the column counts in {self.unit}")
        return Selection(ranges=((low, high),))

    @property
    def unit(self) -> str:
        return f"{self.resolution}s"

    @classmethod
    def show_in(cls, unit: str, number: float) -> str | None:
        tick = SECONDS.get(unit.removesuffix("s"), 0) if unit.endswith("s") else 0
        return in_words(dt.timedelta(seconds=round(number * tick))) if tick else None

    def show(self, number: float, *, spread: bool = False) -> str:
        return in_words(self.length(number))

    def show_atom(self, number: float) -> str:
        return in_words(self.length(number))

    def show_bin(self, low: float, high: float) -> str:
        return self.show(low) if high - low == 1 else f"[{self.show(low)}, {self.show(high)})"

    def show_ends(self) -> str:
        return f"{in_words(self.min)} to {in_words(self.max)}"

    def brief(self) -> str:
        atoms = "".join(f", {in_words(each)}" for each in self.special)
        return f"{in_words(self.min)} … {in_words(self.max)}{atoms}" + (
            "" if self.scale == "linear" else f" ({self.scale})"
        )

    def beyond(self) -> dt.timedelta:
        return 2 * self.max + dt.timedelta(days=365_000)

    # Drafting

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        """Clock times, texts with days, and ISO 8601. Minutes and seconds alone are left alone: which of them is which?"""
        if time := time_of_day.reading(texts):
            return time
        if all_are(texts, r"regexp_matches(x, '^([0-9]+ days?,? )?[0-9]+:[0-9]{2}:[0-9]{2}(\.[0-9]+)?$')"):
            days = texts.ask("bool_or(contains(x, 'day'))")[0]
            if not days and texts.distinct <= time_of_day.FEW:
                return None
            return Reading("INTERVAL", "replace(trim(x), ',', '')::INTERVAL", "days" if days else "clock")
        iso = r"^P([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?$"
        if not all_are(texts, rf"regexp_matches(x, '{iso}')"):
            return None
        part = "coalesce(TRY_CAST(regexp_extract(x, '{}', 1) AS DOUBLE), 0) * {}".format
        units = (("([0-9]+)D", 86_400), ("T.*?([0-9]+)H", 3_600), ("T.*?([0-9]+)M", 60), (r"([0-9.]+)S", 1))
        return Reading("INTERVAL", f"to_seconds({' + '.join(part(*unit) for unit in units)})", "iso")

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        if found.type != "INTERVAL":
            return None
        seconds = found.cast("greatest(epoch(x), 0)", "DOUBLE")
        longest = float(seconds.ask("max(x)")[0])
        if not 0 < longest <= _LONGEST.total_seconds():
            return Ignore.because("has no lengths of time above zero, or endless ones; set bounds by hand")
        coarse = (name for name, tick in SECONDS.items() if seconds.ask(f"bool_and(x % {tick} = 0)")[0])
        facts: dict[str, Any] = {"resolution": next(coarse, "second")}
        facts |= {} if found.format is None else {"format": found.format}
        seen, tick = range_of(seconds.numbers(), listing=False), SECONDS[facts["resolution"]]
        if time_of_day.is_time(facts.get("format", "")):
            low, high = hours_between(seconds.numbers(), SECONDS["hour"], SECONDS["hour"] - 1)
            seen = seen._replace(low=low, high=high // tick * tick, scale="linear")
            return cls._of_range(seen, seen.low, seen.high, found.missing, facts)
        low, high = (
            _rounded_out(end, up=up, log=seen.scale == "log") for end, up in ((seen.low, False), (seen.high, True))
        )
        low, high = max(math.floor(low / tick), seen.scale == "log") * tick, math.ceil(high / tick) * tick
        return cls._of_range(seen, low, high, found.missing, facts)

    @classmethod
    def _of_range(cls, seen: Range, low: float, high: float, missing: bool, facts: dict[str, Any]) -> Self:
        return cls(
            min=dt.timedelta(seconds=low),
            max=dt.timedelta(seconds=high),
            special=tuple(dt.timedelta(seconds=each) for each in seen.special),
            scale=seen.scale,
            missing=missing,
            read_from_data=("kind", "min", "max", "missing", *facts, *seen.found),
            **facts,
        )


def _rounded_out(seconds: float, *, up: bool, log: bool) -> float:
    """A bound to a round number of days, hours, minutes or seconds."""
    unit = next((each for each in SECONDS.values() if seconds >= each), 1)
    if log and not up:
        return max(1.0, 10.0 ** math.floor(math.log10(seconds / unit))) * unit
    return float(rounded_out(seconds / unit, up=up) * unit)


def in_words(length: dt.timedelta) -> str:
    """A length to the second, such as 1d 2h 3m 4s, in the form that is read again."""
    rest = round(abs(length).total_seconds())
    parts = []
    for name, tick in SECONDS.items():
        count, rest = divmod(rest, tick)
        parts += [f"{count}{name[0]}"] if count else []
    return ("-" if length < dt.timedelta() else "") + (" ".join(parts) or "0s")


def _micros(text: str | None) -> int | None:
    """A text as microseconds; none if it is no length. Of a negative one the sign is that of all parts but a clock's."""
    for way in _WAYS if text else ():
        found = way.fullmatch(str(text))
        parts = {} if found is None else {name: value for name, value in found.groupdict().items() if value}
        negative = parts.pop("sign", "") == "-"
        if not parts:
            continue
        if way is _WAYS[3] and negative:  # as Python writes it: -1 day, 23:00:00 is an hour below zero
            parts["d"], negative = f"-{parts['d']}", False
        total = sum(int(Decimal(value) * _PARTS[name] * 10**6) for name, value in parts.items())
        return -total if negative else total
    return None


def _object(value: Any) -> int | None:
    """A Python object as microseconds."""
    if isinstance(value, str):
        text = value.strip()
        micros = _micros(text)
        if micros is None and text not in MISSING_TEXTS:
            raise ValueError("not a length of time")
        return micros
    if isinstance(value, np.timedelta64 | dt.timedelta):
        return int(np.timedelta64(value).astype("m8[us]").astype(np.int64))
    return math.floor(float(value) * 10**6)


def _floored(counted: pa.Array, per_tick: int) -> pa.Array:
    """Whole ticks, rounded down, also below zero."""
    quotient = pc.divide(counted, per_tick)
    below = pc.less(counted, pc.multiply(quotient, per_tick))  # division rounds towards zero
    return pc.subtract(quotient, pc.cast(below, pa.int64()))


def _of_intervals(array: pa.Array) -> pa.Array:
    """What DuckDB has for a length of time, as microseconds; months have no length."""
    values = array.to_pylist()
    if any(each is not None and each.months for each in values):
        raise ValueError("months have no length")
    day = SECONDS["day"] * 10**6
    return pa.array([None if v is None else v.days * day + v.nanoseconds // 1000 for v in values], pa.int64())


def _written(array: pa.ChunkedArray, form: str) -> pa.ChunkedArray:
    seconds = array.cast(pa.duration("s"), safe=False).cast(pa.int64())
    if form == "seconds":
        return seconds
    texts = [None if each is None else _as_text(each, form) for each in seconds.to_pylist()]
    return pa.chunked_array([pa.array(texts, pa.string())])


def _as_text(seconds: int, form: str) -> str:
    if time_of_day.is_time(form):
        return time_of_day.written(seconds, form)
    sign, seconds = "-" if seconds < 0 else "", abs(seconds)
    minutes, rest = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    if form == "clock":
        return f"{sign}{hours}:{minute:02}:{rest:02}"
    days, hour = divmod(hours, 24)
    if form == "days":
        return f"{days} days {hour:02}:{minute:02}:{rest:02}"
    time = "".join(f"{count}{letter}" for count, letter in ((hour, "H"), (minute, "M"), (rest, "S")) if count)
    date = f"{days}D" if days else ""
    return f"{sign}P{date}{f'T{time}' if time else ''}" if days or time else "PT0S"
