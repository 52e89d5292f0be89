"""Kinds of columns. Each is a class in a file of its own that knows all about itself; here they are listed."""

from typing import Annotated, Any, get_args

import pyarrow as pa
from pydantic import Field

from pointillist.schema.kinds.base import AnyColumn
from pointillist.schema.kinds.boolean import Boolean
from pointillist.schema.kinds.bounded import Bounded
from pointillist.schema.kinds.categorical import Categorical, Ordinal
from pointillist.schema.kinds.datetime import Datetime
from pointillist.schema.kinds.derived import Derived
from pointillist.schema.kinds.duration import Duration
from pointillist.schema.kinds.ignore import Ignore
from pointillist.schema.kinds.image import Image
from pointillist.schema.kinds.number import Integer, Real

_Any = Categorical | Ordinal | Boolean | Integer | Real | Datetime | Duration | Image | Derived | Ignore

Column = Annotated[_Any, Field(discriminator="kind")]
KINDS: tuple[type[AnyColumn], ...] = get_args(_Any)
NAMES = ", ".join(each.model_fields["kind"].default for each in KINDS)
"""Their names, for messages."""


def kind_of_type(stored: pa.DataType) -> type[AnyColumn]:
    """The kind whose own an Arrow type is; numbers and texts may be of any, so they are nobody's."""
    return next((kind for kind in KINDS if kind.holds(stored)), AnyColumn)


def show_in(unit: str, number: float) -> str:
    """A statistic in the words of the kind that counts in its unit."""
    found: Any = next((text for kind in KINDS if (text := kind.show_in(unit, number)) is not None), None)
    return f"{number:,.5g}" if found is None else found


__all__ = [
    "KINDS",
    "NAMES",
    "AnyColumn",
    "Boolean",
    "Bounded",
    "Categorical",
    "Column",
    "Datetime",
    "Derived",
    "Duration",
    "Ignore",
    "Image",
    "Integer",
    "Ordinal",
    "Real",
    "kind_of_type",
    "show_in",
]
