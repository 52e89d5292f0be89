"""Datetime: dates, and points in time."""

import datetime as dt
import re
import zoneinfo
from contextlib import suppress
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from pointillist.schema.kinds import datetime_text
from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.bounded import Bounded, Floats
from pointillist.schema.kinds.datetime_drafting import PLAIN, iso_format, other_format
from pointillist.schema.kinds.datetime_text import DatetimeFormat
from pointillist.schema.kinds.drafting import Found, Reading, all_are
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.selection import Selection
from pointillist.schema.texts import is_text, without_missing_texts

SECONDS = {"day": 86_400, "second": 1}
"""How long a tick is, by resolution."""
_EPOCH = dt.datetime(1970, 1, 1)
_STORED = re.compile(r"(?P<date>date32|date64)|timestamp\[(?P<unit>s|ms|us|ns)(, tz=(?P<zone>[\w+:/-]{1,64}))?\]", re.A)
_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}")
_FIRST_NS, _LAST_NS = dt.datetime(1678, 1, 1), dt.datetime(2261, 12, 31, 23, 59, 59)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_ZONED = r":\d{2}(\.\d+)?(Z|[+-]\d{2}(:?\d{2})?)$"


class Datetime(Bounded):
    """A date, or a point in time without a zone (zoned times are taken in UTC)."""

    whole: ClassVar[bool] = True
    needs: ClassVar[str] = "dates, times or texts"
    mend: ClassVar[str] = "format or kind"
    compared_as: ClassVar[str | None] = "a date"

    kind: Literal["datetime"] = "datetime"
    scale: Literal["linear"] = "linear"
    min: dt.datetime
    max: dt.datetime
    resolution: Literal["day", "second"] = "day"
    """Days give dates, seconds give timestamps; anything finer is dropped."""
    format: str | None = None
    """How texts are written, in strptime's letters, in the data and in synthetic CSV files; ISO 8601 is always read."""
    stored: str | None = None
    """The type in synthetic frames, Parquet and Arrow files: `date32`, `date64`, `timestamp[ms]`,
    `timestamp[us, tz=Europe/Paris]`; none given: `date32` for days, `timestamp[us]` for seconds."""

    @field_validator("format")
    @classmethod
    def _format(cls, value: str | None) -> str | None:
        if value is not None:
            DatetimeFormat(value)
        return value

    @field_validator("min", "max", mode="before")
    @classmethod
    def _datetime(cls, value: Any) -> Any:
        if isinstance(value, str):
            value = dt.datetime.fromisoformat(value)
        elif isinstance(value, dt.date) and not isinstance(value, dt.datetime):
            value = dt.datetime(value.year, value.month, value.day)
        return _utc(value) if isinstance(value, dt.datetime) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        low, high = (
            when.replace(microsecond=0) if self.resolution == "second" else when.date() for when in (self.min, self.max)
        )
        if not low < high:
            raise ValueError(f"min {self.min} is not before max {self.max} by a {self.resolution} or more")
        if self.stored is not None:
            self._check_stored(self.stored)
        return self

    def _check_stored(self, stored: str) -> None:
        found = _STORED.fullmatch(stored)
        if found is None:
            raise ValueError(
                f"stored {stored!r} is not known. Known are date32, date64, timestamp[s], timestamp[ms], timestamp[us], "
                "timestamp[ns], and with a zone timestamp[us, tz=UTC]"
            )
        if found["date"] and self.resolution != "day":
            raise ValueError(f'stored = "{stored}" holds no time of day: set resolution = "day", or store a timestamp')
        if found["unit"] == "ns" and not (self.min >= _FIRST_NS and self.max <= _LAST_NS):
            raise ValueError(f'stored = "{stored}" reaches from {_FIRST_NS:%Y} to {_LAST_NS:%Y} only: store [us]')
        zones = zoneinfo.available_timezones()  # none on machines that know no zones
        if found["zone"] and zones and found["zone"] not in zones and _OFFSET.fullmatch(found["zone"]) is None:
            raise ValueError(f"stored: the zone {found['zone']!r} is not known")

    @property
    def unit_and_zone(self) -> tuple[str, str | None]:
        """How a timestamp is stored; dates have the unit `date32` or `date64`."""
        if self.stored is None:
            return ("date32" if self.resolution == "day" else "us"), None
        found = _STORED.fullmatch(self.stored)
        assert found is not None
        return found["date"] or found["unit"], found["zone"]

    # Its values as numbers: days or seconds since 1970

    @property
    def ends(self) -> tuple[dt.datetime, dt.datetime]:
        return self.min, self.max

    @property
    def tick(self) -> int:
        """How many seconds one counts for."""
        return SECONDS[self.resolution]

    def number_of(self, value: Any) -> float:
        return float(ticks(value, self.resolution))

    def _numbers(self, array: pa.Array) -> pa.Array:
        """Whole days or seconds since 1970, rounded down, also before 1970."""
        if is_text(array.type):
            array = _moments(without_missing_texts(array), self.format)
        if pa.types.is_date32(array.type) and self.resolution == "day":
            return array.cast(pa.int32())
        if pa.types.is_date(array.type):
            array = array.cast(pa.timestamp("s"))
        if not pa.types.is_timestamp(array.type):
            raise TypeError("not a date")
        per_tick = _PER_SECOND[array.type.unit] * SECONDS[self.resolution]
        counted = array.cast(pa.int64())
        quotient = pc.divide(counted, per_tick)
        below = pc.less(counted, pc.multiply(quotient, per_tick))  # division rounds towards zero
        return pc.subtract(quotient, pc.cast(below, pa.int64()))

    def to_arrow(self, numbers: Floats, missing: NDArray[np.bool_]) -> pa.Array:
        """In the type that the column is stored in."""
        counted = pa.array(numbers.astype(np.int64), mask=missing, type=pa.int64())
        unit, zone = self.unit_and_zone
        if self.resolution == "day":
            days = counted.cast(pa.int32()).cast(pa.date32())
            if unit.startswith("date"):
                return days.cast(pa.type_for_alias(unit))
            counted = days.cast(pa.timestamp("s"))
        else:
            counted = counted.cast(pa.timestamp("s"))
        return counted.cast(pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, zone))  # counted in UTC

    def in_terms_of(self, other: Bounded, numbers: Floats) -> Floats:
        """A date beside a time: both by the day."""
        coarse = isinstance(other, Datetime) and SECONDS[other.resolution] > SECONDS[self.resolution]
        return np.floor(numbers / SECONDS["day"]) if coarse else numbers

    def raw(self, numbers: Floats) -> Floats:
        """Days since the first."""
        return (numbers - self.bounds[0]) / (SECONDS["day"] / SECONDS[self.resolution])

    # As texts

    @classmethod
    def holds(cls, kind: pa.DataType) -> bool:
        return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))

    @classmethod
    def written(cls, array: pa.ChunkedArray) -> pa.ChunkedArray:
        """Days, and times to the second."""
        if pa.types.is_timestamp(array.type):
            with suppress(pa.ArrowInvalid):  # parts of a second are written where there are any
                return array.cast(pa.timestamp("s", array.type.tz))
        return array.cast(pa.date32()) if pa.types.is_date64(array.type) else array

    def to_text(self, array: pa.ChunkedArray) -> pa.ChunkedArray:
        """In the column's format, if it has one."""
        if self.format is None or not self.holds(array.type):
            return self.written(array)
        form = DatetimeFormat(self.format)
        return pa.chunked_array([datetime_text.write(form, chunk) for chunk in array.chunks], pa.string())

    @classmethod
    def counted(cls, array: Any) -> pa.Array | pa.ChunkedArray:
        """Dates count in days, times in seconds, from 1970."""
        if pa.types.is_date(array.type):
            return array.cast(pa.date32()).cast(pa.int32())
        array = array.cast(pa.timestamp("us")).cast(pa.int64())
        return pc.divide(array.cast(pa.float64(), safe=False), 1e6)

    # What a person writes, and what a person reads

    def facts(self) -> dict[str, Any]:
        midnight = dt.time()
        return {
            name: value.date() if isinstance(value, dt.datetime) and value.time() == midnight else value
            for name, value in super().facts().items()
        }

    @classmethod
    def plain(cls, value: Any) -> Any:
        if isinstance(value, np.datetime64):
            value = value.astype("M8[us]").item()
        return value.isoformat() if isinstance(value, dt.date) else None  # a datetime is a date, too

    def parse(self, written: Any) -> Selection:
        """A range in the column's resolution. A date that ends a range stands for the whole day."""
        ends = written if isinstance(written, dict) else {"min": written, "max": written}
        low = self._moment(ends["min"], last=False) if "min" in ends else self.min
        high = self._moment(ends["max"], last=True) if "max" in ends else self.max
        if low > high:
            raise ValueError(f"the range {low} to {high} is reversed")
        if high < self._floored(self.min) or low > self.max:
            raise ValueError(f"{low} to {high} is outside its bounds {self.min} to {self.max}")
        return Selection(ranges=((low, high),))

    def _moment(self, written: Any, *, last: bool) -> dt.datetime:
        if not isinstance(written, str):
            raise ValueError(f"{written!r} is not a date")
        try:
            when = _utc(dt.datetime.fromisoformat(written))
        except ValueError:
            raise ValueError(f"{written!r} is not a date in the form 2020-12-31 or 2020-12-31T23:59:59") from None
        whole_day = len(written) <= len("2020-12-31")
        if last and whole_day:
            when = dt.datetime.combine(when, dt.time(23, 59, 59))
        return self._floored(when)

    def _floored(self, when: dt.datetime) -> dt.datetime:
        """Without what is finer than the column's resolution."""
        day = self.resolution == "day"
        return when.replace(hour=0, minute=0, second=0, microsecond=0) if day else when.replace(microsecond=0)

    @property
    def unit(self) -> str:
        return self.resolution

    @classmethod
    def show_in(cls, unit: str, number: float) -> str | None:
        return str(moment(number, unit)).removesuffix(" 00:00:00") if unit in SECONDS else None

    def show(self, number: float, *, spread: bool = False) -> str:
        if spread:
            return f"{number:,.0f} {self.resolution}s"
        return moment(round(number), self.resolution).strftime(
            "%Y-%m-%d" if self.resolution == "day" else "%Y-%m-%d %H:%M"
        )

    def show_bin(self, low: float, high: float) -> str:
        return str(moment(low, self.resolution))

    def show_ends(self) -> str:
        return f"{self.min:%Y-%m-%d} to {self.max:%Y-%m-%d}"

    def brief(self) -> str:
        return f"{self.min.date()} … {self.max.date()}"

    def beyond(self) -> dt.datetime:
        return min(self.max, dt.datetime(8000, 1, 1)) + dt.timedelta(days=365_000)

    # Drafting

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        """Dates as people write them, or as ISO 8601 does."""
        if form := other_format(texts):
            kind = "TIMESTAMP" if "%M" in form else "DATE"
            return Reading(kind, f"strptime(trim(x), '{form}')::{kind}", form)
        if all_are(texts, r"regexp_matches(x, '^\d{4}-\d{2}-\d{2}$') AND TRY_CAST(x AS DATE) IS NOT NULL"):
            return Reading("DATE", "trim(x)::DATE")
        if all_are(texts, r"regexp_matches(x, '^\d{4}-\d{2}-\d{2}[ T]\d') AND TRY_CAST(x AS TIMESTAMP) IS NOT NULL"):
            return Reading("TIMESTAMP", "trim(x)::TIMESTAMP", iso_format(texts))
        return None

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        if found.type != "DATE" and not found.type.startswith("TIMESTAMP"):
            return None
        if found.type == "TIMESTAMPTZ_NS":  # which DuckDB casts to nothing else
            found = found.cast("x::TIMESTAMP_NS", "TIMESTAMP_NS")
        try:
            midnight = "bool_and(x::TIMESTAMP = date_trunc('day', x::TIMESTAMP))"
            low, high, whole_days = found.ask(f"min(x)::TIMESTAMP, max(x)::TIMESTAMP, {midnight}")
            first, last = dt.datetime(low.year, 1, 1), dt.datetime(high.year, 12, 31)
        except (ValueError, OverflowError, AttributeError):  # dates beyond Python's calendar
            return Ignore.because("has dates outside the calendar; set bounds by hand if it should be used")
        # Days that are stored as times, all of them at midnight, stay days, and are written as they were.
        disguised = bool(whole_days) and found.type.startswith("TIMESTAMP") and "TZ" not in found.type
        days, form = found.type == "DATE" or disguised, found.format or (PLAIN if disguised else None)
        return cls(
            min=first,
            max=last if days else last + dt.timedelta(hours=23, minutes=59, seconds=59),
            resolution="day" if days else "second",
            format=form,
            missing=found.missing,
            read_from_data=("kind", "min", "max", "resolution", "missing", *(("format",) if form else ())),
        )

    def stored_as(self, kind: pa.DataType) -> Self:
        name = re.sub(r"\[(day|ms)\]$", "", str(kind)) if pa.types.is_date(kind) else str(kind)
        usual = "date32" if self.resolution == "day" else "timestamp[us]"
        if not self.holds(kind) or name == usual:
            return self
        marks = {} if self.bought else {"read_from_data": (*self.read_from_data, "stored")}  # types are public there
        facts = self.model_dump() | {"stored": name} | marks
        with suppress(ValueError):  # a zone that is not known here, or years that the type cannot reach
            return self.model_validate(facts)
        return self


def _moments(texts: pa.Array, form: str | None) -> pa.Array:
    """Texts as times in UTC: in the column's own format, in ISO 8601, or in ISO 8601 with a zone."""
    kind = pa.timestamp("us")
    found = pa.nulls(len(texts), kind)
    if form is not None:
        found = datetime_text.read(DatetimeFormat(form), texts)
        texts = pc.if_else(pc.is_valid(found), None, texts)
    zoned = pc.fill_null(pc.match_substring_regex(texts, _ZONED), False)
    utc = pc.cast(pc.if_else(zoned, texts, None), pa.timestamp("us", "UTC")).cast(kind)
    plain = pc.cast(pc.if_else(zoned, None, texts), kind)
    return pc.coalesce(found, utc, plain)


def ticks(when: dt.datetime, resolution: str) -> int:
    """A datetime as a whole number of days or seconds since 1970."""
    return (when - _EPOCH) // dt.timedelta(seconds=SECONDS[resolution])


def moment(tick: float, resolution: str) -> dt.datetime:
    """The inverse of `ticks`."""
    return _EPOCH + dt.timedelta(seconds=int(tick) * SECONDS[resolution])


def _utc(when: dt.datetime) -> dt.datetime:
    """A moment without a zone; zoned ones are taken in UTC."""
    if when.tzinfo is None:
        return when
    try:
        return when.astimezone(dt.UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError("is outside the calendar in UTC") from None
