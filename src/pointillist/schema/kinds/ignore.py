"""Ignore: a column that is left out."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field

from pointillist.schema.kinds.base import AnyColumn


class Ignore(AnyColumn):
    """A column that is left out of the release and of the synthetic data."""

    measured: ClassVar[bool] = False
    has_levels: ClassVar[bool] = False

    kind: Literal["ignore"] = "ignore"
    repeats: Annotated[int, Field(ge=2)] | None = None
    """Set by a draft that takes the column for people's numbers or names, with about so many rows each: the schema must
    then say who a row belongs to."""

    @classmethod
    def because(cls, why: str) -> Self:
        """What a draft says of a column that it can make nothing of."""
        return cls(description=why, read_from_data=("kind",))

    def room_for_people(self) -> float:
        return math.inf
