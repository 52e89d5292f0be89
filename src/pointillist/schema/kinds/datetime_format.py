"""DatetimeFormat: how dates and times are written as texts, in strptime's letters.

Only letters that mean the same on every machine are known. `datetime_texts` reads and writes them.
"""

import re
from dataclasses import dataclass
from functools import cached_property

LONGEST = 64
_LONG = {"D": "%m/%d/%y", "F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M"}
_PART = re.compile(r"%(?P<letter>-?[dmHIMS]|[YypbBaA%]|[1-9]?f|:?z)|(?P<text>[^%]+)")
_KNOWN = "Y y m d H I M S p b B a A z :z f 3f %"


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
