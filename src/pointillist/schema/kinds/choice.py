"""Choice: a column whose values are some of a known few. Categorical, ordinal and boolean columns are such."""

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.selection import Selection

UNLISTED, MISSING = -1, -2
"""In place of a choice's number: what is none of them, and what is missing."""
_SHOWN = 12
"""At most this many choices are listed in a message."""


class Choice(AnyColumn):
    """What columns of a few known values have in common."""

    needs: ClassVar[str] = "texts, whole numbers or booleans"
    unlisted_rule: ClassVar[str]
    """What the schema says that forbids an unlisted value, for messages."""
    unlisted_remedy: ClassVar[str]
    """What to do about an unlisted value, for messages."""

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that are known, in order."""
        raise NotImplementedError

    @property
    def has_other(self) -> bool:
        """Whether unlisted values have a level of their own."""
        return False

    @property
    def known(self) -> tuple[Any, ...]:
        """Every value that synthetic rows can have."""
        return self.choices

    def from_arrow(self, array: pa.Array) -> NDArray[np.int64]:
        """The number of every value among the choices, or UNLISTED, or MISSING. Each value is looked at by itself."""
        values, known = self._keyed(array)
        index = pc.index_in(values, value_set=pa.array(list(known), type=values.type))
        found = np.array(list(known.values()), dtype=np.int64)[index.fill_null(0).to_numpy(zero_copy_only=False)]
        found = np.where(index.is_valid().to_numpy(zero_copy_only=False), found, UNLISTED)
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), found, MISSING)

    def _keyed(self, array: pa.Array) -> tuple[pa.Array, dict[Any, int]]:
        """The values in a form that can be looked up, and what is looked up there."""
        raise NotImplementedError

    def to_arrow(self, numbers: NDArray[Any], missing: NDArray[np.bool_]) -> pa.Array:
        """The choices with these numbers; one past the last stands for an unlisted value."""
        raise NotImplementedError

    def place(self, value: Any, known: tuple[Any, ...]) -> int:
        """Where a value stands among those known. True is not 1 here, as it is in Python."""
        for place, each in enumerate(known):
            if type(each) is type(value) and each == value:
                return place
        shown = ", ".join(map(repr, known[:_SHOWN])) + (f", ... ({len(known)})" if len(known) > _SHOWN else "")
        raise ValueError(f"{value!r} is not one of its values: {shown}")

    def parse(self, written: Any) -> Selection:
        if not isinstance(written, dict):
            return Selection(values=(self.known[self.place(written, self.known)],))
        return Selection(values=self.parse_range(written))

    def parse_range(self, written: dict[str, Any]) -> tuple[Any, ...]:
        """What is meant by a range, where the choices have an order."""
        raise ValueError(f"a range needs a number, a date or an ordinal, and this column is {self.kind}")

    def every_value(self, most: int) -> list[Any]:
        return list(self.known)

    def unlisted(self) -> Any:
        """A value that is not among the choices, where such values have a level."""
        raise NotImplementedError
