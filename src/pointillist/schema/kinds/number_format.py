"""Number format: how numbers are dressed in texts, such as `$9,999`, `9%` or `9 999 EUR`.

A 9 stands for digits; `9,999` says what stands between thousands; what is before and after is written with every number.
"""

import re
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from pointillist.schema.kinds.drafting import Found, all_are

_FORM = re.compile(r"(?P<before>[^0-9]{0,8})9((?P<between>[,' ])999)?(?P<after>[^0-9]{0,8})")
_SIGNS = r"[$€£¥₹%]|[A-Z]{3}|R\$|kr"
_DRESSED = re.compile(rf"[+-]?(?P<before>({_SIGNS})? ?)[+-]?[0-9]([0-9,' ]*[0-9])?(\.[0-9]+)?(?P<after> ?({_SIGNS})?)")


@dataclass(frozen=True)
class NumberFormat:
    """What stands before, after and between the digits of numbers."""

    before: str
    between: str
    after: str

    @classmethod
    def of(cls, form: str) -> Self:
        """The format that a text such as `$9,999` says; a ValueError if it says none."""
        found = _FORM.fullmatch(form)
        if found is None:
            raise ValueError(
                f"format {form!r} is not understood: write a 9 for digits, or 9,999 with the sign between thousands, and "
                "what stands before and after it, as in $9,999 or 9%"
            )
        return cls(found["before"], found["between"] or "", found["after"])

    def __str__(self) -> str:
        return f"{self.before}9{self.between + '999' if self.between else ''}{self.after}"

    def read(self, texts: pa.Array) -> pa.Array:
        """Texts without their dress. Each is looked at by itself, and one that has none stays as it is."""
        for part in filter(str.strip, (self.before, self.after)):
            texts = pc.replace_substring(texts, part.strip(), "")
        for part in filter(None, (self.between, " ")):
            texts = pc.replace_substring(texts, part, "")
        return texts

    def write(self, array: pa.ChunkedArray, digits: int | None) -> pa.ChunkedArray:
        """Numbers as texts."""
        group = "," if self.between else ""
        form = f"{{:{group}}}" if digits is None else f"{{:{group}.{digits}f}}"
        texts = [None if each is None else self._one(each, form) for each in array.to_pylist()]
        return pa.chunked_array([pa.array(texts, pa.string())])

    def _one(self, value: float, form: str) -> str:
        digits = form.format(abs(value)).replace(",", self.between)
        return f"{'-' if value < 0 else ''}{self.before}{digits}{self.after}"


def dress_of(texts: Found) -> tuple[NumberFormat, str] | None:
    """The dress that all texts of a private column wear, and SQL that takes it off; none if they wear none, or several."""
    some = texts.some()
    first = _DRESSED.fullmatch(some.strip()) if isinstance(some, str) else None
    if first is None:
        return None
    before, after = first["before"], first["after"]
    for between in (",", " ", "'"):
        digits = f"([0-9]{{1,3}}({between}[0-9]{{3}})+|[0-9]+)".replace("'", "''")
        dress = [re.escape(each.strip()).replace("'", "''") for each in (before, after)]
        test = f"regexp_matches(x, '^[+-]?({dress[0]})? ?[+-]?{digits}(\\.[0-9]+)? ?({dress[1]})?$')"
        if all_are(texts, test):
            used = bool(texts.ask(f"bool_or(contains(trim(x), '{between.replace(chr(39), chr(39) * 2)}'))")[0])
            found = NumberFormat(before, between if used and between != " " else "", after)
            if not any((found.before.strip(), found.between, found.after.strip())):
                continue
            bare = "trim(x)"
            for part in filter(str.strip, {before, after, between}):
                bare = f"replace({bare}, '{part.strip().replace(chr(39), chr(39) * 2)}', '')"
            return found, f"replace({bare}, ' ', '')"
    return None
