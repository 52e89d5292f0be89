"""Derived: a column that follows from others. It is not measured, costs nothing, and comes out exact."""

from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field, field_validator, model_validator

from pointillist.schema.formula import Formula
from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.bounded import Bounded
from pointillist.schema.kinds.choice import Choice

_MOST_CODES = 10_000


class Derived(AnyColumn):
    """A number by a formula of other columns (`derived = "a + b"`), or what stands for a code of another (`of`)."""

    measured: ClassVar[bool] = False
    has_levels: ClassVar[bool] = False

    kind: Literal["derived"] = "derived"
    derived: str = ""
    """A formula of measured columns."""
    decimals: Annotated[int, Field(ge=0, le=12)] | None = None
    """Digits after the point of a formula's result; 0 makes it whole. None given: not rounded."""
    of: str | None = None  # type: ignore[assignment]  # this kind is of other columns, and of nobody else
    """In place of a formula: the measured column whose value decides."""
    codes: tuple[str, ...] | tuple[int, ...] = ()
    """Values of that column, …"""
    values: tuple[str, ...] | tuple[int, ...] = ()
    """… and what this column has for each of them; it has none for others."""

    @field_validator("codes", "values", mode="before")
    @classmethod
    def _tuples(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.of is None) != bool(self.derived):
            raise ValueError("give either derived, a formula, or of, codes and values")
        if self.derived and not self.formula.columns:
            raise ValueError(f"derived {self.derived!r} names no column")
        if self.of is not None and not 0 < len(self.codes) == len(self.values) <= _MOST_CODES:
            raise ValueError(f"codes and values must be as many, from 1 to {_MOST_CODES:,}")
        if len(set(self.codes)) != len(self.codes):
            raise ValueError("codes has an entry twice")
        return self

    @cached_property
    def formula(self) -> Formula:
        return Formula(self.derived)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that it follows from."""
        return self.formula.columns if self.of is None else (self.of,)

    def check(self, name: str, measured: dict[str, Any]) -> None:
        """Refuse inputs that are no measured columns, or of the wrong kind, with a ValueError."""
        for each in self.inputs:
            if each not in measured:
                raise ValueError(f"column {name!r} is derived from {each!r}, which is not a measured column")
            column = measured[each]
            date = each in (self.formula.dates if self.of is None else ())
            if self.of is None and (not isinstance(column, Bounded) or (column.kind == "datetime") != date):
                raise ValueError(
                    f"column {name!r} is derived from {each!r}, which is {column.kind}: no formula fits it"
                )
            if self.of is not None and not (isinstance(column, Choice) or column.kind == "integer"):
                raise ValueError(f"column {name!r} follows from {each!r}, which is {column.kind}: it has no codes")

    def of_table(self, table: pa.Table) -> pa.Array:
        """The column for rows that have its inputs."""
        if self.of is not None:
            codes = table[self.of].combine_chunks()
            place = pc.index_in(codes, value_set=pa.array(list(self.codes), type=codes.type))
            return pa.array(list(self.values)).take(place)
        inputs = {name: _numbers(table[name]) for name in self.inputs}
        found = self.formula.values(inputs)
        gaps = np.isnan(found)
        if self.decimals == 0:
            return pa.array(
                found.round().astype("int64", copy=False) if not gaps.any() else _whole(found, gaps), mask=gaps
            )
        return pa.array(found if self.decimals is None else found.round(self.decimals), mask=gaps)

    def brief(self) -> str:
        return f"= {self.derived}" if self.of is None else f"by {self.of}"


def _numbers(column: pa.ChunkedArray) -> Any:
    """Numbers with NaN for gaps, or datetime64 with NaT."""
    if pa.types.is_temporal(column.type):
        return column.cast(pa.timestamp("us")).to_numpy()
    return column.cast(pa.float64()).to_numpy()


def _whole(found: Any, gaps: Any) -> Any:
    found = found.copy()
    found[gaps] = 0.0
    return found.round().astype("int64")
