"""AnyColumn: what is public about one column of a table, and what every kind of column can do.

Everything here counts as public knowledge: it is copied into every release. What a kind does with private rows it does
without a word: its errors name a rule at most, never a value.

To add a kind, write a class in a file of its own and list it in `pointillist.schema.kinds`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, field_validator

from pointillist.schema import python_values
from pointillist.schema.kinds.drafting import Found, Reading
from pointillist.schema.selection import Selection


class AnyColumn(BaseModel):
    """What all kinds have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    missing: bool = True
    """Whether a value may be missing. Missing values keep a level of their own."""
    of: Literal["row", "person"] = "row"
    """Whose fact it is, where a person may have several rows: the row's, or the person's, the same in all of hers."""
    description: str = ""
    """Free text for the reader of the release."""
    read_from_data: tuple[str, ...] = ()
    """Names of the facts above that `schema draft` took from the data: the owner vouches that they are public."""
    bought: tuple[str, ...] = ()
    """Names of the facts above that `schema draft --epsilon` found with noise: they are paid for, and nobody vouches."""

    if TYPE_CHECKING:
        kind: Any  # a literal of each kind's own

    measured: ClassVar[bool] = True
    """Whether it is in the release and in synthetic data."""
    has_levels: ClassVar[bool] = True
    """Whether its values are counted by level."""
    numeric: ClassVar[bool] = False
    """Whether its values are numbers between bounds, or can be counted as such: `Bounded` is such a kind."""
    ordered: ClassVar[bool] = False
    """Whether its values run from low to high."""
    needs: ClassVar[str] = "texts"
    """What it can be read from, for messages."""
    also_reads: ClassVar[frozenset[str]] = frozenset()
    """Families of Arrow types that are no plain values, and that it can read all the same."""
    mend: ClassVar[str] = "kind"
    """What may be wrong in the schema if a value cannot be read, for messages."""
    compared_as: ClassVar[str | None] = None
    """What the values are to each other where the order of two columns is stated; none if they have no such order."""
    pandas_type: ClassVar[str | None] = None
    """The type in pandas of a column that may have gaps, if not that which Arrow chooses."""
    csv_type: ClassVar[pa.DataType] = pa.string()
    """As what the values of a CSV file are read: by what the schema says, never by what they look like."""

    late: ClassVar[tuple[str, ...]] = ()
    """Settings that earlier versions did not have: files hold them only where they are set, and stay as they were."""

    @field_validator("read_from_data", "bought", mode="before")
    @classmethod
    def _tuple(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @property
    def unlisted_is_missing(self) -> bool:
        """Whether an unlisted value comes out as a gap, because there is no room for a label."""
        return False

    def unset(self) -> list[str]:
        """Which of the late settings are at their defaults."""
        fields = type(self).model_fields
        late = (*self.late, *(("of",) if fields["of"].default == "row" else ()), "bought")
        return [name for name in late if name in fields and getattr(self, name) == fields[name].default]

    # Reading and writing

    @property
    def read_as(self) -> pa.DataType:
        """As what this column of a CSV file is read."""
        return self.csv_type

    def from_objects(self, values: Iterable[Any]) -> pa.Array:
        """A column of Python objects in Arrow, each read by itself."""
        return python_values.texts(values)

    def to_text(self, array: pa.ChunkedArray) -> pa.ChunkedArray:
        """Synthetic values as a CSV file has them."""
        return self.written(array)

    @classmethod
    def holds(cls, kind: pa.DataType) -> bool:
        """Whether an Arrow type is this kind's own, so that its values speak for themselves without a schema."""
        return False

    @classmethod
    def written(cls, array: pa.ChunkedArray) -> pa.ChunkedArray:
        """Values of a type that this kind holds, as a CSV file has them where no schema says more."""
        return array

    @classmethod
    def counted(cls, array: Any) -> pa.Array | pa.ChunkedArray:
        """Values of a type that this kind holds, as numbers, where no schema says more."""
        return array

    # What a person writes, and what a person reads

    def facts(self) -> dict[str, Any]:
        """What a schema file says about the column, in order."""
        facts = {"kind": self.kind, **self.model_dump(exclude_defaults=True)}
        # What was read from the data is written down even where it is the default: the owner is to look at it.
        read = {name: getattr(self, name, None) for name in (*self.read_from_data, *self.bought)}
        facts |= {name: value for name, value in read.items() if value is not None}
        if self.measured:
            facts["missing"] = self.missing
        last: dict[str, Any] = {name: facts.pop(name) for name in ("read_from_data", "bought") if name in facts}
        return {**facts, **last}

    def select(self, written: Any) -> Selection:
        """What a condition or a constraint means by a value, a range or a gap; a ValueError says what is wrong."""
        if isinstance(written, dict) and "missing" in written:
            # Where categories are whole numbers, synthetic rows leave what is unlisted missing, too.
            if not (self.missing or self.unlisted_is_missing):
                raise ValueError("its values are never missing (missing = false)")
            return Selection(missing=True)
        return self.parse(written)

    def parse(self, written: Any) -> Selection:
        """What is meant by a value, or by a range with its ends under `min` and `max`."""
        raise ValueError(f"a column of kind {self.kind} has no values to choose from")

    def from_text(self, text: str) -> Any:
        """What is meant by a text from the command line, in the form in which Python has it."""
        if text == "":
            return None
        low, dots, high = text.partition("..")
        if not (dots and self.ordered):
            return self.value_of(text)
        return self.value_of(low) if low else None, self.value_of(high) if high else None

    def value_of(self, text: str) -> Any:
        """One value from the command line."""
        return text

    @classmethod
    def plain(cls, value: Any) -> Any:
        """A Python value that belongs to this kind, as a file holds it; none if it is of another kind."""
        return None

    @classmethod
    def show_in(cls, unit: str, number: float) -> str | None:
        """A statistic in words, if its unit is one that this kind counts in."""
        return None

    def every_value(self, most: int) -> list[Any]:
        """All values but missing ones, if there are about as few as `most`; else none."""
        return []

    def brief(self) -> str:
        """What it may hold, in few words."""
        return "–"

    def describe(self) -> str:
        """What it may hold, in full."""
        return self.brief()

    # Drafting

    @classmethod
    def reading(cls, texts: Found) -> Reading | None:
        """How texts of a file without types are read as this kind, if all of them can be."""
        return None

    @classmethod
    def draft(cls, found: Found) -> "AnyColumn | None":
        """A column for what was found in the data, with all that was read from it named; none if it is another kind's."""
        return None

    def stored_as(self, kind: pa.DataType) -> Self:
        """The drafted column, knowing the Arrow type that the data are stored in."""
        return self

    def room_for_people(self) -> float:
        """How many people a drafted column could name, as far as its facts say; 0 for what names nobody."""
        return 0
