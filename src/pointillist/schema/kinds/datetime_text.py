"""Datetime text: how dates and times are written as texts, in strptime's letters; read and written as such a format says.

Only letters that mean the same on every machine are known. Names of months and days are English. Times are in UTC: a zone
in a text is heeded when it is read, and what is written says +00:00.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

LONGEST = 64
_LONG = {"D": "%m/%d/%y", "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M"}
_PART = re.compile(r"%(?P<letter>-?[dmHIMS]|[YypbBaA%]|[1-9]?f|:?z)|(?P<text>[^%]+)")
_KNOWN = "Y y m d H I M S p b B a A z :z f 3f %"

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class DatetimeFormat:
    """One way of writing a date or a time."""

    text: str

    def __post_init__(self) -> None:
        if len(self.text) > LONGEST or not self.text.isprintable():
            raise ValueError(f"format must be printable, of at most {LONGEST} characters")
        said = "".join(letter or "x" for letter, _ in self.parts)  # raises at a letter that is not known
        if not ({"Y", "y"} & set(said) and {"m", "b", "B"} & set(said) and "d" in said):
            raise ValueError("format must say the year, the month and the day, such as %Y-%m-%d")
        if "I" in said and "p" not in said:
            raise ValueError("format has %I, hours up to 12: add %p, or write %H")
        if "f" in said and re.search(r"%S[.,]%[1-9]?f", self._expanded) is None:
            raise ValueError("format: %f, the parts of a second, must follow %S. or %S,")
        if said.count("f") > 1 or said.count("z") > 1:
            raise ValueError("format has %f or %z twice")
        if "z" in said and not said.endswith("z"):
            raise ValueError("format: %z, the zone, must come last")

    @property
    def _expanded(self) -> str:
        return re.sub("%([DFTR])", lambda found: _LONG[found[1]], self.text)

    @cached_property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of a letter and a text, one of which is empty."""
        parts, place, form = [], 0, self._expanded
        while place < len(form):
            found = _PART.match(form, place)
            if found is None:
                known = " ".join(f"%{letter}" for letter in _KNOWN.split())
                raise ValueError(f"format has {form[place : place + 2]!r}, which is not known here. Known are {known}")
            letter, text = found["letter"] or "", found["text"] or ""
            parts.append(("", "%") if letter == "%" else (letter, text))
            place = found.end()
        return tuple(parts)


def write(form: DatetimeFormat, moments: pa.Array) -> pa.Array:
    """Dates or times as texts; missing where they are missing."""
    moments = _without_zone(moments)
    pieces = [pa.scalar(text) if text else _written(moments, letter) for letter, text in form.parts]
    return pc.binary_join_element_wise(*pieces, "")


def read(form: DatetimeFormat, texts: pa.Array) -> pa.Array:
    """Texts as times to the second; null where one is not written so."""
    letters = "".join(f"%{letter.lstrip('-:')}" if letter else text.replace("%", "%%") for letter, text in form.parts)
    if "f" in (letter[-1:] for letter, _ in form.parts):
        before, after = re.split(r"[.,]%[1-9]?f", letters)
        pattern = "".join(_pattern(letter, text) for letter, text in form.parts)
        head, tail = re.split(r"\\?[.,]\(FRACTION\)", pattern)
        texts = pc.replace_substring_regex(texts, f"^({head})[.,][0-9]+({tail})$", r"\1\2")
        letters = before + after
    return _without_zone(pc.strptime(texts, format=letters, unit="us", error_is_null=True))


def _without_zone(moments: pa.Array) -> pa.Array:
    """Dates or times as times in UTC that have no zone."""
    if not pa.types.is_timestamp(moments.type):
        return moments.cast(pa.timestamp("s"))
    return moments.cast(pa.int64()).cast(pa.timestamp(moments.type.unit))


def _pattern(letter: str, text: str) -> str:
    if text:
        return re.escape(text)
    kind = letter[-1]
    words = {"Y": "[0-9]{4}", "f": "(FRACTION)", "z": "(?:Z|[+-][0-9:]+)"}
    return words.get(kind, "[A-Za-z]+" if kind in "pbBaA" else "[0-9]{1,2}")


_NUMBERS: dict[str, Callable[[pa.Array], pa.Array]] = {
    "Y": pc.year,
    "y": lambda moments: _rest(pc.year(moments), 100),
    "m": pc.month,
    "d": pc.day,
    "H": pc.hour,
    "I": lambda moments: pc.add(_rest(pc.add(pc.hour(moments), 11), 12), 1),
    "M": pc.minute,
    "S": pc.second,
}


def _rest(whole: pa.Array, by: int) -> pa.Array:
    return pc.subtract(whole, pc.multiply(pc.divide(whole, by), by))


def _written(moments: pa.Array, letter: str) -> pa.Array:
    """What stands for one letter."""
    kind = letter[-1]
    if kind in _NUMBERS:
        digits = pc.cast(_NUMBERS[kind](moments), pa.string())
        return digits if letter[0] == "-" else pc.utf8_lpad(digits, 4 if kind == "Y" else 2, "0")
    if kind in "bB":
        names = pa.array([name[:3] if kind == "b" else name for name in _MONTHS])
        return pc.take(names, pc.subtract(pc.month(moments), 1))
    if kind in "aA":
        names = pa.array([name[:3] if kind == "a" else name for name in _DAYS])
        return pc.take(names, pc.day_of_week(moments))
    if kind == "p":
        return pc.if_else(pc.less(pc.hour(moments), 12), "AM", "PM")
    if kind == "f":  # whole seconds are all that a column holds
        return pa.scalar("0" * int(letter[:-1] or 6))
    return pa.scalar("+00:00" if letter == ":z" else "+0000")
