"""Ignore: a column that is left out."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from pointillist.schema.kinds.base import AnyColumn


class Ignore(AnyColumn):
    """A column that is left out of the release; in the synthetic data it is left out, too, or made up (`fake`)."""

    measured: ClassVar[bool] = False
    has_levels: ClassVar[bool] = False
    late: ClassVar[tuple[str, ...]] = ("fake",)

    kind: Literal["ignore"] = "ignore"
    repeats: Annotated[int, Field(ge=2)] | None = None
    """Set by a draft that takes the column for people's numbers or names, with about so many rows each: the schema must
    then say who a row belongs to."""

    fake: Literal["id", "email", "phone", "uuid", "url", "ip", "name", "company", "address", "text"] | None = None
    """What is put in its place in synthetic data: made up, and without a trace of the private values."""

    @classmethod
    def because(cls, why: str) -> Self:
        """What a draft says of a column that it can make nothing of."""
        return cls(description=why, read_from_data=("kind",))

    def room_for_people(self) -> float:
        return math.inf
