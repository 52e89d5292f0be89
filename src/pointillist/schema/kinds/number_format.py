"""Number format: how numbers are dressed in texts, such as `$9,999`, `9%`, `9,9 %` or `9.999,9 EUR`.

A 9 stands for digits; `9,999` says what stands between thousands, `9,9` that decimals follow a comma, and `9.00` or `9,00`
that whole numbers are written with zeros for decimals; what is before and after is written with every number.
"""

import re
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from pointillist.schema.kinds.drafting import Found, all_are

_SPACES = " \u00a0\u202f"
"""A space, and those that do not break a line: typists and programs put them between thousands and before a sign."""
_FORM = re.compile(
    rf"(?P<before>[^0-9]{{0,8}})9((?P<between>[.,'{_SPACES}])999)?(?P<fraction>,9|[.,]0{{1,6}})?(?P<after>[^0-9]{{0,8}})"
)
_SIGNS = r"[$€£¥₹%]|[A-Z]{3}|R\$|kr"
_DRESSED = re.compile(
    rf"[+-]?(?P<before>({_SIGNS})?[{_SPACES}]?)[+-]?[0-9]([0-9.,'{_SPACES}]*[0-9])?(?P<after>[{_SPACES}]?({_SIGNS})?)"
)
_BETWEEN = {".": (",", *_SPACES, "'"), ",": (".", *_SPACES, "'")}
"""What may stand between thousands, by the sign before decimals."""


@dataclass(frozen=True)
class NumberFormat:
    """What stands before, after and between the digits of numbers."""

    before: str
    between: str
    after: str
    point: str = "."
    """What stands before decimals."""
    zeros: int = 0
    """How many zeros stand for the decimals of whole numbers."""

    @classmethod
    def of(cls, form: str) -> Self:
        """The format that a text such as `$9,999` says; a ValueError if it says none."""
        found = _FORM.fullmatch(form)
        fraction = "" if found is None else found["fraction"] or ""
        if found is None or (fraction and fraction[0] == found["between"]):
            raise ValueError(
                f"format {form!r} is not understood: write a 9 for digits, or 9,999 with the sign between thousands, 9,9 if "
                "decimals follow a comma, and what stands before and after it, as in $9,999, 9% or 9.999,9 EUR"
            )
        between = found["between"] or ""
        point = "," if fraction.startswith(",") or between == "." else "."
        return cls(found["before"], between, found["after"], point, fraction.count("0"))

    def __str__(self) -> str:
        fraction = self.point + "0" * self.zeros if self.zeros else ",9" if self.point == "," else ""
        return f"{self.before}9{self.between + '999' if self.between else ''}{fraction}{self.after}"

    def read(self, texts: pa.Array) -> pa.Array:
        """Texts without their dress. Each is looked at by itself, and one that has none stays as it is."""
        for part in filter(str.strip, (self.before, self.after)):
            texts = pc.replace_substring(texts, part.strip(), "")
        for part in filter(None, (self.between, *_SPACES)):
            texts = pc.replace_substring(texts, part, "")
        return pc.replace_substring(texts, ",", ".") if self.point == "," else texts

    def write(self, array: pa.ChunkedArray, digits: int | None) -> pa.ChunkedArray:
        """Numbers as texts."""
        group = "," if self.between else ""
        form = f"{{:{group}}}" if digits is None else f"{{:{group}.{digits}f}}"
        zeros = self.point + "0" * self.zeros if self.zeros and digits == 0 else ""
        signs = str.maketrans({",": self.between, ".": self.point})
        values: list[float | None] = array.to_pylist()
        texts = [None if each is None else self._one(each, form.format(abs(each)), signs, zeros) for each in values]
        return pa.chunked_array([pa.array(texts, pa.string())])

    def _one(self, value: float, digits: str, signs: dict[int, str], zeros: str) -> str:
        return f"{'-' if value < 0 else ''}{self.before}{digits.translate(signs)}{zeros}{self.after}"


def dress_of(texts: Found) -> tuple[NumberFormat, str] | None:
    """The dress that all texts of a private column wear, and SQL that takes it off; none if they wear none, or several.

    What can be read with a decimal point and with a decimal comma is read with a point: 1,234 EUR is a thousand and more.
    """
    some = texts.some()
    first = _DRESSED.fullmatch(some.strip()) if isinstance(some, str) else None
    if first is None:
        return None
    before, after = first["before"], first["after"]
    for point, signs in _BETWEEN.items():
        for between in signs:
            found = _worn(texts, before, after, between, point)
            if found is not None and (found.between or before.strip() or after.strip()):
                return found, _bare(found, between)
    return None


def _worn(texts: Found, before: str, after: str, between: str, point: str) -> NumberFormat | None:
    """The dress with these signs, if all texts wear it."""
    digits = rf"([1-9][0-9]{{0,2}}({re.escape(between)}[0-9]{{3}})+|[0-9]+)"
    dress = [re.escape(each.strip()) for each in (before, after)]
    decimals = rf"({re.escape(point)}[0-9]+)?"
    pattern = f"^[+-]?({dress[0]})?[{_SPACES}]?[+-]?{digits}{decimals}[{_SPACES}]?({dress[1]})?$"
    if not all_are(texts, f"regexp_matches(x, {_text(pattern)})"):
        return None
    grouped, fraction, alike, fewest, most = texts.ask(
        f"bool_or(regexp_matches(x, {_text('[0-9]' + re.escape(between) + '[0-9]')})), "
        f"bool_or(contains(x, {_text(point)})), min(len(trim(x))) = max(len(trim(x))), "
        f"min(len(regexp_extract(x, {_text(re.escape(point) + '(0+)[^0-9]*$')}, 1))), "
        f"max(len(regexp_extract(x, {_text(re.escape(point) + '(0+)[^0-9]*$')}, 1)))"
    )
    if between in _SPACES and alike and not any(dress):
        return None  # 123 456 789, and all others of that form: no amounts, but perhaps somebody's numbers
    if not grouped and not fraction:
        point = "."  # nothing says that it is another
    zeros = int(most) if fewest == most and most <= 6 else 0
    return NumberFormat(before, between if grouped else "", after, point, zeros)


def _bare(found: NumberFormat, between: str) -> str:
    """SQL for a text without its dress, with a decimal point."""
    bare = "trim(x)"
    for part in dict.fromkeys((found.before.strip(), found.after.strip(), between, *_SPACES)):
        bare = f"replace({bare}, {_text(part)}, '')" if part else bare
    return f"replace({bare}, ',', '.')" if found.point == "," else bare


def _text(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"
