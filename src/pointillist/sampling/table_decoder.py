"""Table decoder: records as rows of a table, in the caller's own kind of frame."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.sampling.condition import Condition
from pointillist.sampling.decoding import decode_table
from pointillist.sampling.derived_columns import with_derived
from pointillist.sampling.fakes import with_fakes, with_persons
from pointillist.sampling.sample import Sample
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, levels_of

FRAMES = ("pyarrow", "pandas", "polars")
MOST_ROWS = 20_000_000
"""The most rows that are sampled at a time: they are held in memory."""


@dataclass(frozen=True, eq=False)
class TableDecoder:
    """Makes rows of the schema's types."""

    schema: Schema
    frame: str
    """The kind of frame that rows come in unless their user asks for another."""

    @cached_property
    def levels(self) -> tuple[Levels, ...]:
        return levels_of(self.schema)

    @property
    def most(self) -> int:
        return MOST_ROWS

    def require_count(self, count: int) -> None:
        """Refuse a number of rows that cannot be sampled at a time."""
        if count < 0:
            raise UsageError(f"the number of rows must not be negative, not {count}.")
        if count > MOST_ROWS:
            raise UsageError(f"{count:,} rows are too many at a time. Take them in parts: sample_parts(count).")

    def require_frame(self, frame: str | None) -> None:
        """Refuse a kind of frame that is not known."""
        self._kind(frame)

    def _kind(self, frame: str | None) -> str:
        kind = frame or self.frame
        if kind not in FRAMES:
            raise UsageError(f"frame {kind!r} is not known. Choose one of {', '.join(FRAMES)}.")
        return kind

    def condition(self, given: Mapping[str, Any]) -> Condition:
        """Understand what all rows are to have in common."""
        return Condition.of(self.levels, given)

    def balanced_column(self, name: str) -> Levels:
        """The column of which every class is to get the same number of rows."""
        found = next((each for each in self.levels if each.name == name), None)
        if found is None:
            known = ", ".join(each.name for each in self.levels)
            raise UsageError(f"balance: {name!r} is not a column of the model. Columns: {known}.")
        return found

    def decode(self, sample: Sample, rng: np.random.Generator) -> pa.Table:
        """Rows as an Arrow table; numbers that are not settled yet are drawn."""
        measured = decode_table(self.levels, sample.records.codes, rng, sample.numbers)
        made = with_fakes(with_derived(measured, self.schema), self.schema, rng)
        return made if sample.persons is None else with_persons(made, self.schema, sample.persons, rng)

    def to_frame(self, decoded: pa.Table, frame: str | None) -> Any:
        """Rows of the schema's types in another kind of frame: by default the caller's own."""
        kind = self._kind(frame)
        if kind == "pyarrow":
            return decoded
        try:
            if kind == "pandas":
                return self._to_pandas(decoded)
            return nw.from_native(decoded).lazy().collect(kind).to_native()
        except ModuleNotFoundError:
            raise UsageError(f'{kind} is not installed. Install it, or pass frame="pyarrow".') from None

    def _to_pandas(self, table: pa.Table) -> Any:
        """A pandas frame whose types depend on the schema alone, not on whether a value happens to be missing."""
        frame = table.to_pandas(date_as_object=False)
        kinds = {each.name: each.column.pandas_type for each in self.levels if each.has_missing}
        return frame.astype({name: kind for name, kind in kinds.items() if kind is not None})
