"""Given syntax: how a selection of a column's values is written, and what is meant. Conditions on a sample and
constraints in a schema speak this language.

A selection is written as a value, as a list of values, as a range of numbers, dates or ordered categories (both ends
belong to it, and either may be left open), or as "missing":

    in Python    "F"    ["F", "M"]    (30, 40)                   None
    in a schema  "F"    ["F", "M"]    { min = 30, max = 40 }     { missing = true }
    in a shell   F      (repeated)    30..40                     (nothing)
"""

from typing import Any

import numpy as np

from pointillist.schema.kinds import KINDS, AnyColumn
from pointillist.schema.selection import Selection

_ENDS = {"min", "max"}


def select(name: str, column: AnyColumn, written: Any) -> Selection:
    """Understand what is written about a column of the schema; a ValueError says what is wrong with it."""
    try:
        return Selection.united(column.select(each) for each in _listed(plain(written)))
    except ValueError as error:
        raise ValueError(f"column {name!r}: {error}") from None


def plain(written: Any) -> Any:
    """The same, as a file holds it: texts, numbers, truths, lists and tables."""
    if written is None:
        return {"missing": True}
    if isinstance(written, tuple):
        if len(written) != 2:
            raise ValueError(f"a range has two ends, (low, high), not {len(written)}; a list of values is [...]")
        written = {end: value for end, value in zip(("min", "max"), written, strict=True) if value is not None}
    if isinstance(written, dict):
        if written == {"missing": True} or (written and written.keys() <= _ENDS):
            return {key: _scalar(value) for key, value in written.items()}
        raise ValueError("a range is { min = ..., max = ... } with at least one of them, a gap { missing = true }")
    if isinstance(written, list | set | frozenset):
        return [plain(each) for each in written]
    return _scalar(written)


def from_text(name: str, column: AnyColumn, text: str) -> Any:
    """What is meant by a text from the command line, in the form that `select` takes."""
    try:
        return column.from_text(text)
    except ValueError:
        raise ValueError(f"column {name!r}: {text!r} is neither a number nor a range such as 30..40") from None


def _scalar(value: Any) -> Any:
    """One value, as a file holds it."""
    own = next((found for kind in KINDS if (found := kind.plain(value)) is not None), None)
    if own is not None:
        return own
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | int | float):  # a truth is an int
        return value
    raise ValueError(f"a value is a text, a number, a date, true or false, not {type(value).__name__}")


def _listed(written: Any) -> list[Any]:
    if not isinstance(written, list):
        return [written]
    if not written:
        raise ValueError("the list of values is empty")
    if any(isinstance(each, list) for each in written):
        raise ValueError("a list of values holds no further lists")
    return written
