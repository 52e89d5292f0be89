"""Persons: whose row it is. One person is one normal form of a name, however it was spelt and typed.

The normal form of a value depends on that value alone:

- Unicode's compatibility form without regard to case (NFKC and case folding), so composed and decomposed letters, wide and
  narrow ones, `Ann` and `ANN` are the same; signs that do not show (soft hyphens, joiners, variation selectors, fillers,
  byte order marks, control characters) are dropped;
- white space around it dropped, and one blank for any inside it;
- numbers by their value: `7`, `07`, `+7`, `7.0` and `7e0` are the same, in any script's digits;
- a time at midnight is its day, and the `T` between day and time is a blank.
"""

import hashlib
import re
import unicodedata
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.schema.texts import without_missing_texts

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d)(?::(\d\d)(\.\d*)?)?z?", re.ASCII)
_IGNORABLE = frozenset(
    code
    for first, last in (
        # Unicode's property Default_Ignorable_Code_Point, which the standard library does not tell.
        (0x00AD, 0x00AD),
        (0x034F, 0x034F),
        (0x061C, 0x061C),
        (0x115F, 0x1160),
        (0x17B4, 0x17B5),
        (0x180B, 0x180F),
        (0x200B, 0x200F),
        (0x202A, 0x202E),
        (0x2060, 0x206F),
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),
        (0xFEFF, 0xFEFF),
        (0xFFA0, 0xFFA0),
        (0xFFF0, 0xFFF8),
        (0x1BCA0, 0x1BCA3),
        (0x1D173, 0x1D17A),
        (0xE0000, 0xE0FFF),
    )
    for code in range(first, last + 1)
)


def normal_form(text: str) -> str:
    """One spelling for all spellings of a person's name."""
    text = text.lower() if text.isascii() and text.isprintable() else _folded(text)
    text = " ".join(text.split())
    if text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    if _NUMBER.fullmatch(text):
        return _number(text)
    if time := _TIME.fullmatch(text):
        return _time(*time.groups())
    return text


def _folded(text: str) -> str:
    """Without regard to case, compatibility and signs that do not show; white space stays.

    Letters are taken apart before they are folded, as folding turns some marks into letters: what stands behind such a mark
    would else depend on how the text was composed. Folding and form may undo each other, so both are done until neither
    changes anything.
    """
    before = None
    while text != before:
        before = text
        text = "".join(_digit(sign) for sign in text if _shows(sign))
        text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", text)


def _shows(sign: str) -> bool:
    return sign.isspace() or not (ord(sign) in _IGNORABLE or unicodedata.category(sign) in ("Cf", "Cc"))


def _digit(sign: str) -> str:
    """A digit of any script as the one that it stands for, and any other sign as it is."""
    digit = unicodedata.decimal(sign, None)
    return sign if digit is None else str(digit)


def _number(text: str) -> str:
    written = format(Decimal(text), "f")
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    return "0" if written == "-0" else written


def _time(day: str, minute: str, second: str | None, fraction: str | None) -> str:
    exact = (second or "00") + (fraction or "").rstrip("0").rstrip(".")
    return day if (minute, exact) == ("00:00", "00") else f"{day} {minute}:{exact}"


def owners(array: pa.Array, column: str, origin: str) -> pa.Array:
    """The persons of a column in normal form, as a dictionary of texts; null where a row names nobody."""
    try:
        if isinstance(array, pa.DictionaryArray):
            array = array.dictionary_decode()
        if pa.types.is_floating(array.type):
            # Frames turn whole numbers with gaps into floats: 7.0 is person 7. Other fractions have several spellings.
            array = array.cast(pa.float64())
            array = pc.if_else(pc.is_nan(array), None, array)
            whole = pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), 2.0**53))
            if pc.any(pc.invert(whole)).as_py():
                raise pa.ArrowInvalid("not a whole number")
        elif pa.types.is_decimal(array.type):
            array = array.cast(pa.string())  # exactly, whatever its size
        spelt = without_missing_texts(array).dictionary_encode()
        forms = pa.array([normal_form(text) or None for text in spelt.dictionary.to_pylist()], pa.string())
        return forms.take(spelt.indices).dictionary_encode()
    except pa.ArrowException:
        raise DataError(
            f"{origin}: column {column!r} cannot be read as names of persons. Make it text, or whole numbers."
        ) from None


class Pseudonyms:
    """Numbers in place of persons: keyed hashes of 128 bits, under a key that is kept nowhere.

    What is sorted by person may be written to disk, and a process that is killed cannot tidy up. Without the key its
    numbers say nothing about who they stand for, not even to somebody who tries all names.
    """

    def __init__(self, key: bytes) -> None:
        self._keyed = hashlib.blake2b(key=key, digest_size=16)

    def of(self, people: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The upper and lower halves of each row's number; null where a row names nobody."""
        hashes = np.frombuffer(b"".join(map(self._hash, people.dictionary.to_pylist())), dtype=np.uint64)
        return _picked(hashes[0::2], people.indices), _picked(hashes[1::2], people.indices)

    def _hash(self, name: str) -> bytes:
        hashed = self._keyed.copy()
        hashed.update(name.encode())
        return hashed.digest()


def _picked(values: NDArray[np.uint64], places: pa.Array) -> pa.Array:
    return pa.array(values, pa.uint64()).take(places)
