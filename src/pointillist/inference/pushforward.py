"""Pushforward: the release of what a function makes of rows. Weights stay; every row goes through the function."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import narwhals as nw
import pyarrow as pa

from pointillist.errors import UsageError
from pointillist.inference.python_function import Written
from pointillist.inference.questions import Questions, Step
from pointillist.inference.received import Received
from pointillist.inference.sql_expression import Expression
from pointillist.sampling.table_decoder import FRAMES


@dataclass(frozen=True, eq=False, repr=False)
class Pushed(Questions):
    """Weighted rows of a new table. Questions are answered as questions about the release, after the function."""

    parent: Questions
    made: Step
    """What it makes of the parent's rows."""

    @classmethod
    def of(cls, parent: Questions, made: Mapping[str, str] | Written) -> Self:
        """Columns as formulas over the parent's, or a function of a frame that returns a frame with as many rows."""
        if isinstance(made, str):
            raise UsageError(f'push: give the new column a name, such as {{"new": {made!r}}}.')
        if isinstance(made, Mapping):
            if not made:
                raise UsageError('push: name at least one column, such as {"ratio": "income / hours"}.')
            formulas = {str(name): Expression.parse(text, parent.columns) for name, text in made.items()}
            return cls(parent, lambda table: pa.table({name: each.evaluate(table) for name, each in formulas.items()}))
        if not callable(made):
            raise UsageError(f"push takes formulas by name or a function of a frame, not {type(made).__name__}.")
        function = made

        def step(table: pa.Table) -> pa.Table:
            return _rows(function(parent.as_frame(table)), table.num_rows)

        return cls(parent, step)

    def __repr__(self) -> str:
        return f"<Pushed: {self.rows.num_rows:,} rows, {len(self.columns)} columns>"

    @property
    def received(self) -> Received:
        return self.parent.received

    @property
    def step(self) -> Step:
        before = self.parent.step
        return self.made if before is None else lambda table: self.made(before(table))

    @cached_property
    def rows(self) -> pa.Table:
        return self.made(self.parent.rows)

    @property
    def frame(self) -> str:
        return self.parent.frame

    def as_frame(self, table: pa.Table, frame: str | None = None) -> Any:
        kind = frame or self.frame
        if kind not in FRAMES:
            raise UsageError(f"frame {kind!r} is not known. Choose one of {', '.join(FRAMES)}.")
        if kind == "pyarrow":
            return table
        try:
            return nw.from_native(table).lazy().collect(kind).to_native()
        except ModuleNotFoundError:
            raise UsageError(f'{kind} is not installed. Install it, or pass frame="pyarrow".') from None


def _rows(made: Any, rows: int) -> pa.Table:
    """What a function returned, as a table."""
    try:
        table = made if isinstance(made, pa.Table) else nw.from_native(made, eager_only=True).to_arrow()
    except TypeError:
        raise UsageError(f"push: the function must return a frame, not {type(made).__name__}.") from None
    if table.num_rows != rows:
        raise UsageError(f"push: the function made {table.num_rows} rows of {rows}. It must make one of each.")
    return table
