"""Image: a picture of public size."""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import pyarrow as pa
from pydantic import Field

from pointillist.schema.kinds.base import AnyColumn


class Image(AnyColumn):
    """A picture of public size. Labels stand in a column of their own."""

    has_levels: ClassVar[bool] = False

    kind: Literal["image"] = "image"
    height: Annotated[int, Field(ge=1, le=128)]
    width: Annotated[int, Field(ge=1, le=128)]
    """Size in pixels; a picture of another size is brought to it by `resize`."""
    colour: bool = False
    """Whether pictures have three channels (red, green, blue) or one (grey)."""
    resize: Literal["stretch", "crop", "pad", "error"] = "stretch"
    """How: stretched to the size; scaled to cover it and cropped; scaled to fit and padded with black; or not at all."""
    missing: Literal[False] = False
    """A picture is always there."""

    @property
    def channels(self) -> int:
        return 3 if self.colour else 1

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width and channels."""
        return self.height, self.width, self.channels

    def from_objects(self, values: Iterable[Any]) -> pa.Array:
        """As Hugging Face has them, or the bytes alone."""
        return pa.array([v["bytes"] if isinstance(v, dict) else v for v in values], pa.large_binary())

    def size(self) -> str:
        """The size in words."""
        return f"{self.height} x {self.width} pixels, {'colour' if self.colour else 'grey'}"

    def brief(self) -> str:
        return f"{self.size()}, other sizes: {self.resize}"

    def describe(self) -> str:
        return self.size()
