"""Categorical and ordinal: categories given by name, without and with an order."""

import math
import re
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pydantic import field_validator, model_validator

from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.choice import MISSING, Choice
from pointillist.schema.kinds.drafting import Found
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.kinds.text_drafting import direct_identifier, why_left_out
from pointillist.schema.texts import MISSING_TEXTS, as_texts, is_text, without_missing_texts

EXACT = 2**53
"""Integers beyond this are not exact in the double-precision numbers that files and frames carry."""
_MOST_CATEGORIES = 60_000
MOST_CATEGORIES = 60
"""Up to so many different texts are all taken for categories."""
_MOST_DRAFTED, _LEAST_ROWS, _LEAST_SHARE, _COVERED = 1_000, 5, 2e-4, 0.7
"""Of more texts those are, up to so many, that so many rows and such a share of them have, if these cover most rows."""
_LISTED = 50
"""Categories at most that are written out where a column is described."""


class Named(Choice):
    """Categories given by name."""

    csv_type: ClassVar[pa.DataType] = pa.dictionary(pa.int32(), pa.string())
    unlisted_rule: ClassVar[str] = 'lists its categories with out_of_domain = "error"'
    unlisted_remedy: ClassVar[str] = 'Add the category to the schema, or set out_of_domain = "other".'

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
        if any(isinstance(c, int) and abs(c) > EXACT for c in self.categories):
            raise ValueError("categories has a number beyond 2^53: write the categories as texts")
        if self.out_of_domain == "other" and self.other_label in self.categories:
            raise ValueError(
                f"other_label {self.other_label!r} is also a category: choose another other_label, "
                'or set out_of_domain = "error"'
            )
        return self

    @property
    def choices(self) -> tuple[Any, ...]:
        return self.categories

    @property
    def has_other(self) -> bool:
        return self.out_of_domain == "other"

    @property
    def whole(self) -> bool:
        """Whether the categories are whole numbers."""
        return isinstance(self.categories[0], int)

    @property
    def unlisted_is_missing(self) -> bool:
        return self.has_other and self.whole

    @property
    def known(self) -> tuple[Any, ...]:
        return (*self.categories, self.other_label) if self.has_other and not self.whole else self.categories

    def _keyed(self, array: pa.Array) -> tuple[pa.Array, dict[Any, int]]:
        if self.whole:
            return _whole_numbers(array), {float(c): i for i, c in enumerate(self.choices)}
        known: dict[Any, int] = {str(c): i for i, c in enumerate(self.choices)}
        for text in MISSING_TEXTS:
            known.setdefault(text, MISSING)
        return as_texts(array), known

    def to_arrow(self, numbers: NDArray[Any], missing: NDArray[np.bool_]) -> pa.Array:
        if self.whole:
            # A column of whole numbers has no room for a label: what is unlisted is left missing.
            values = np.array([*self.categories, 0, 0], dtype=np.int64)
            return pa.array(values[numbers], mask=missing | (numbers == len(self.categories)), type=pa.int64())
        names = np.array([*self.categories, self.other_label, ""], dtype=object)
        return pa.array(names[np.where(missing, len(names) - 1, numbers)], mask=missing, type=pa.string())

    def from_text(self, text: str) -> Any:
        return text if text in self.categories else super().from_text(text)

    def value_of(self, text: str) -> Any:
        return int(text) if self.whole else text

    def brief(self) -> str:
        names = [str(c) for c in self.categories]
        return (f"{len(names)}: " if len(names) > 4 else "") + ", ".join(names[:4]) + (", …" if len(names) > 4 else "")

    def describe(self) -> str:
        more = f" and {len(self.categories) - _LISTED:,} more" if len(self.categories) > _LISTED else ""
        other = "; unlisted ones count as one" if self.has_other else ""
        return ", ".join(map(str, self.categories[:_LISTED])) + more + other

    def unlisted(self) -> Any:
        return max(self.categories) + 1 if self.whole else self.other_label  # type: ignore[operator]

    def room_for_people(self) -> float:
        return len(self.categories)


class Categorical(Named):
    """Categories without an order."""

    kind: Literal["categorical"] = "categorical"

    @classmethod
    def draft(cls, found: Found) -> AnyColumn | None:
        """Texts, if they are not too many."""
        if found.type != "VARCHAR" and not found.type.startswith("ENUM"):
            return None
        plain = found.cast("x::VARCHAR", "VARCHAR") if found.type != "VARCHAR" else found
        if direct := direct_identifier(plain):
            return Ignore.because(direct)
        texts = _categories(found)
        if not texts:
            return Ignore.because(why_left_out(plain))
        label = "other"
        while label in texts:
            label = f"({label})"
        return cls(
            categories=tuple(texts),
            other_label=label,
            missing=found.missing,
            read_from_data=("kind", "categories", "missing", *(("other_label",) if label != "other" else ())),
        )

    @classmethod
    def of_numbers(cls, found: Found) -> Self:
        """A draft for a few whole numbers, which are rather codes."""
        # A column of numbers has no room for a label: without missing values, an unlisted one must stop the call.
        rule: Any = {} if found.missing else {"out_of_domain": "error"}
        return cls(
            categories=tuple(sorted(int(value) for value, _ in found.ranked(found.distinct))),
            missing=found.missing,
            read_from_data=("kind", "categories", "missing"),
            **rule,
        )


def _categories(found: Found) -> list[str]:
    """The texts to list, in order: all if they are few; else those that many rows have, if that is most rows; or none."""
    few = found.distinct <= MOST_CATEGORIES
    ranked = found.ranked(MOST_CATEGORIES if few else _MOST_DRAFTED)
    if not few:
        ranked = [(text, often) for text, often in ranked if often >= max(_LEAST_ROWS, _LEAST_SHARE * found.filled)]
        if sum(often for _, often in ranked) < _COVERED * found.filled:
            return []
    return sorted(str(text) for text, _ in ranked)


class Ordinal(Named):
    """Categories from low to high."""

    ordered: ClassVar[bool] = True

    kind: Literal["ordinal"] = "ordinal"

    def parse_range(self, written: dict[str, Any]) -> tuple[Any, ...]:
        last = len(self.categories) - 1
        low, high = (
            self.place(written[end], self.categories) if end in written else open_end
            for end, open_end in (("min", 0), ("max", last))
        )
        if low > high:
            raise ValueError(f"the range {written['min']!r} to {written['max']!r} is reversed")
        return tuple(self.categories[low : high + 1])


def _whole_numbers(array: pa.Array) -> pa.Array:
    """Categories that are numbers, however they are written: frames and files turn 1 into 1.0 when there are gaps."""
    if is_text(array.type):
        coded = without_missing_texts(array).dictionary_encode()
        values = [
            float(text) if re.fullmatch(r"[+-]?\d+(\.0*)?", text) else math.inf for text in coded.dictionary.to_pylist()
        ]
        found = pc.take(pa.array(values, pa.float64()), coded.indices)
    else:
        found = pc.cast(array, pa.float64(), safe=False)
        found = pc.if_else(pc.is_nan(found), None, found)
    return pc.add(found, 0.0)  # minus zero becomes zero
