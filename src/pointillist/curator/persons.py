"""Persons: whose row it is. One person is one normal form of a name, however it was spelt and typed.

The normal form of a value depends on that value alone:

- Unicode's compatibility form without regard to case (NFKC and case folding), so composed and decomposed letters, wide and
  narrow ones, `Ann` and `ANN` are the same; signs that do not show (soft hyphens, joiners, byte order marks) are dropped;
- white space around it dropped, and one blank for any inside it;
- numbers by their value: `7`, `07`, `+7`, `7.0` and `7e0` are the same, in any script's digits;
- a time at midnight is its day, and the `T` between day and time is a blank.
"""

import hashlib
import re
import secrets
import unicodedata
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.curator.encoding import without_missing_texts
from pointillist.errors import DataError

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ t](\d\d:\d\d)(?::(\d\d)(\.\d*)?)?z?", re.ASCII)
_KEY_BYTES = 32


def normal_form(text: str) -> str:
    """One spelling for all spellings of a person's name."""
    if text.isascii():
        text = text.lower()
    else:
        text = "".join(sign for sign in text if unicodedata.category(sign) != "Cf")
        text = unicodedata.normalize("NFD", text)
        for _ in range(2):  # as Unicode defines comparison without regard to case: folding may undo the form
            text = unicodedata.normalize("NFKC", text.casefold())
        text = "".join(str(digit) if (digit := unicodedata.decimal(sign, None)) is not None else sign for sign in text)
    text = " ".join(text.split())
    if text.isascii() and text.isdigit():
        return text.lstrip("0") or "0"
    if _NUMBER.fullmatch(text):
        return _number(text)
    if time := _TIME.fullmatch(text):
        return _time(*time.groups())
    return text


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
    """Numbers in place of persons: keyed hashes of 128 bits, under a key that this process forgets when it ends.

    What is sorted by person may be written to disk, and a process that is killed cannot tidy up. Without the key its
    numbers say nothing about who they stand for, not even to somebody who tries all names.
    """

    def __init__(self) -> None:
        self._keyed = hashlib.blake2b(key=secrets.token_bytes(_KEY_BYTES), digest_size=16)

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
