"""Domain: what a schema offers feature maps to read. Maps that come in a file are held against it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from pointillist.schema import Schema
from pointillist.schema.levels import levels_of


@dataclass(frozen=True)
class Domain:
    """The measured columns of a schema, by how they can be read."""

    sizes: Mapping[str, int]
    """For each column that has levels, their number."""
    numbers: frozenset[str]
    """Columns that have positions in [0, 1]."""
    image: str | None
    shape: tuple[int, int, int]
    """Height, width and channels of an image; of no size where there is none."""
    label: str | None

    @classmethod
    def of(cls, schema: Schema) -> Self:
        levels = levels_of(schema)
        image, shape = (None, (0, 0, 0)) if schema.image is None else (schema.image[0], schema.image[1].shape)
        return cls(
            {each.name: each.size for each in levels},
            frozenset(each.name for each in levels if each.numeric),
            image,
            shape,
            schema.label,
        )

    @property
    def pixels(self) -> int:
        """Numbers in one image."""
        height, width, channels = self.shape
        return height * width * channels

    @property
    def classes(self) -> int:
        """Levels of the label; one where there is none."""
        return 1 if self.label is None else self.sizes[self.label]
