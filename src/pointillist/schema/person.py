"""Person: who a row belongs to, when a person may own several rows, and in which order they come."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Person(BaseModel):
    """Who a row belongs to, when a person may own several rows."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    column: str
    """The column that names the person. It is never measured."""
    max_rows: Annotated[int, Field(ge=1)]
    """At most this many rows of each person are used; the rest are left out."""
    order: str | None = None
    """The column by which the rows of a person come one after the other: a date, a number or an ordinal column."""
    persons: Annotated[int, Field(ge=1)] | None = None
    """Roughly how many persons there are, if that is public; only used to plan and to show expected errors."""

    @property
    def unit(self) -> "Person":
        """Whom a promise is for: the order of rows and how many persons there are do not matter to it."""
        return Person(column=self.column, max_rows=self.max_rows)

    def facts(self) -> dict[str, Any]:
        """What a file says about it: earlier versions had neither order nor persons."""
        return self.model_dump(exclude_none=True)

    def check_order(self, measured: Mapping[str, Any]) -> None:
        """Refuse an order by a column that has none, or that all rows of a person share."""
        column = measured.get(self.order or "")
        if column is None:
            raise ValueError(f"person.order {self.order!r} is not a measured column")
        if not column.ordered:
            raise ValueError(
                f"person.order {self.order!r} is {column.kind}, which has no order: name a date, a number or an ordinal "
                "column"
            )
        if column.of == "person":
            raise ValueError(f'person.order {self.order!r} has of = "person": rows differ in what orders them')
