"""Column: what is public about one column of a table, by kind.

Everything here counts as public knowledge: it is copied into every release.
"""

import datetime as dt
import math
import re
import zoneinfo
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from pointillist.schema.datetime_format import DatetimeFormat
from pointillist.schema.selection import utc

# Texts that stand for "no value", unless the column declares them as a category.
MISSING_TEXTS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?")

# Integers beyond this are not exact in the double-precision numbers that files and frames carry.
_EXACT = 2**53
_MOST_CATEGORIES, _MOST_SPECIALS = 60_000, 1_000


class AnyColumn(BaseModel):
    """What all kinds have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    missing: bool = True
    """Whether a value may be missing. Missing values keep a level of their own."""
    description: str = ""
    """Free text for the reader of the release."""
    read_from_data: tuple[str, ...] = ()
    """Names of the facts above that `schema draft` took from the data: the owner vouches that they are public."""

    @field_validator("read_from_data", mode="before")
    @classmethod
    def _tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


class _Named(AnyColumn):
    """Categories given by name."""

    categories: tuple[str, ...] | tuple[int, ...]
    """All categories that may appear, as texts or as whole numbers."""
    out_of_domain: Literal["other", "error"] = "other"
    """What happens to a value that is not listed: it becomes `other_label`, or the call stops."""
    other_label: str = "other"
    """How an unlisted value is written in the synthetic data; columns of numbers leave it missing instead."""

    @field_validator("categories", mode="before")
    @classmethod
    def _categories(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.categories:
            raise ValueError("categories is empty: list every category that may appear")
        if len(set(self.categories)) != len(self.categories):
            raise ValueError("categories has an entry twice: list each once")
        if len(self.categories) > _MOST_CATEGORIES:
            raise ValueError(f"categories has over {_MOST_CATEGORIES:,} entries: group them, or ignore the column")
        if any(isinstance(c, int) and abs(c) > _EXACT for c in self.categories):
            raise ValueError("categories has a number beyond 2^53: write the categories as texts")
        if self.out_of_domain == "other" and self.other_label in self.categories:
            raise ValueError(
                f"other_label {self.other_label!r} is also a category: choose another other_label, "
                'or set out_of_domain = "error"'
            )
        return self


class Categorical(_Named):
    """Categories without an order."""

    kind: Literal["categorical"] = "categorical"


class Ordinal(_Named):
    """Categories from low to high."""

    kind: Literal["ordinal"] = "ordinal"


class Boolean(AnyColumn):
    """True or false. Texts true/false, t/f, yes/no, y/n and 1/0 are understood in any case."""

    kind: Literal["boolean"] = "boolean"


class _Numeric(AnyColumn):
    """A number with public bounds."""

    scale: Literal["linear", "log"] = "linear"
    """How the range is cut into bins; "log" suits money and durations, and needs min > 0."""
    bins: Annotated[int, Field(ge=2, le=4096)] = 256
    """The finest resolution at which the column is measured."""
    out_of_domain: Literal["clip", "error"] = "clip"
    """What happens to a value outside the bounds: it is moved to the nearest bound, or the call stops."""


def _check_range(low: float, high: float, scale: str) -> None:
    if not low < high:
        raise ValueError(f"min {low} is not below max {high}")
    if not math.isfinite(high - low):
        raise ValueError("the range from min to max is too wide for a number")
    if scale == "log" and low <= 0:
        raise ValueError(f'scale = "log" needs min > 0, but min is {low}: list 0 under special, and raise min')
    if scale == "log" and math.log(high / low) < 1e-6:
        raise ValueError('scale = "log" is of no use for so narrow a range: set scale = "linear"')


def _check_special(special: tuple[float, ...]) -> None:
    if len(set(special)) != len(special):
        raise ValueError("special has an entry twice: list each once")
    if not all(abs(v) <= _EXACT for v in special):
        raise ValueError("special has a value that is not finite, or beyond 2^53")
    if len(special) > _MOST_SPECIALS:
        raise ValueError(f"special has over {_MOST_SPECIALS:,} entries")


class Integer(_Numeric):
    """A whole number; a fraction found in the data is dropped."""

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
        if self.min < -_EXACT or self.max >= _EXACT:
            raise ValueError("min or max is beyond 2^53")
        _check_range(self.min, self.max, self.scale)
        _check_special(self.special)
        return self


class Real(_Numeric):
    """A real number."""

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
        _check_range(self.min, self.max, self.scale)
        _check_special(self.special)
        return self


class Datetime(_Numeric):
    """A date, or a point in time without a zone (zoned times are taken in UTC)."""

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
        return utc(value) if isinstance(value, dt.datetime) else value

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


_STORED = re.compile(r"(?P<date>date32|date64)|timestamp\[(?P<unit>s|ms|us|ns)(, tz=(?P<zone>[\w+:/-]{1,64}))?\]", re.A)
_OFFSET = re.compile(r"[+-][0-9]{2}:[0-9]{2}")
_FIRST_NS, _LAST_NS = dt.datetime(1678, 1, 1), dt.datetime(2261, 12, 31, 23, 59, 59)


class Image(AnyColumn):
    """A picture of public size. Labels stand in a column of their own."""

    kind: Literal["image"] = "image"
    height: Annotated[int, Field(ge=1, le=128)]
    width: Annotated[int, Field(ge=1, le=128)]
    """Size in pixels; a picture of another size is brought to it by `resize`."""
    colour: bool = False
    """Whether pictures have three channels (red, green, blue) or one (grey)."""
    resize: Literal["stretch", "crop", "pad", "error"] = "stretch"
    """How: stretched to the size; scaled to cover it and cropped; scaled to fit and padded with black; or not at all."""
    missing: Literal[False] = False
    """A picture is always there."""

    @property
    def channels(self) -> int:
        return 3 if self.colour else 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        return self.height, self.width, self.channels


class Ignore(AnyColumn):
    """A column that is left out of the release and of the synthetic data."""

    kind: Literal["ignore"] = "ignore"
    repeats: Annotated[int, Field(ge=2)] | None = None
    """Set by a draft that takes the column for people's numbers or names, with about so many rows each: the schema must
    then say who a row belongs to."""


Column = Annotated[
    Categorical | Ordinal | Boolean | Integer | Real | Datetime | Image | Ignore, Field(discriminator="kind")
]
Numeric = Integer | Real | Datetime

KINDS = "categorical, ordinal, boolean, integer, real, datetime, image, ignore"
"""Their names, for messages."""
