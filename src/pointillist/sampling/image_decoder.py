"""Image decoder: records as images with their labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.files.images import Images
from pointillist.generators.image_generator import ImageColumns
from pointillist.sampling.condition import Condition, Cut
from pointillist.sampling.sample import Sample
from pointillist.schema import Schema
from pointillist.schema.levels import Levels, levels_of
from pointillist.schema.selection import Selection

MOST_BYTES = 1 << 32
"""The most pixels that are sampled at a time: they are held in memory."""


@dataclass(frozen=True, eq=False)
class ClassCut(Cut):
    """Some levels of a label, each by itself: what is unlisted and what is missing are classes of images, too."""

    chosen: tuple[int, ...]

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        return np.isin(np.arange(self.levels.size), self.chosen).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ImageDecoder:
    """Makes images of the schema's size."""

    schema: Schema

    @cached_property
    def columns(self) -> ImageColumns:
        return ImageColumns.of(self.schema)

    @cached_property
    def classes(self) -> tuple[str | int, ...]:
        return class_names(self.schema)

    @property
    def most(self) -> int:
        assert self.schema.image is not None
        return MOST_BYTES // int(np.prod(self.schema.image[1].shape))

    def require_count(self, count: int) -> None:
        """Refuse a number of images that cannot be sampled at a time."""
        if not 0 <= count <= self.most:
            raise UsageError(f"the number of images must lie between 0 and {self.most:,} at a time, not {count:,}.")

    def require_frame(self, frame: str | None) -> None:
        """Refuse any frame."""
        if frame is not None:
            raise UsageError("images come as Images, not in a frame: leave frame out.")

    def condition(self, given: Mapping[str, Any]) -> Condition:
        """A class, or a list of classes. They are known by name, as folders are: a number and its text are the same."""
        for name in given:
            self._require_label(name)
        if not given:
            return Condition({})
        (levels,), names = levels_of(self.schema), [str(name) for name in self.classes]
        value, known = given[levels.name], f"Classes: {', '.join(names)}."
        asked = [str(each) for each in (value if isinstance(value, list | tuple | set) else [value])]
        absent = [each for each in asked if each not in names]
        if absent:
            raise UsageError(f"given: {absent[0]!r} is not a class of {levels.name!r}. {known}")
        if not asked:
            raise UsageError(f"given: no class of {levels.name!r} is asked for. {known}")
        chosen = tuple(place for place, name in enumerate(names) if name in asked)
        return Condition({levels.name: ClassCut(levels, Selection(values=tuple(asked)), chosen)})

    def balanced_column(self, name: str) -> Levels:
        """The label."""
        self._require_label(name)
        return levels_of(self.schema)[0]

    def _require_label(self, name: str) -> None:
        label = self.columns.label
        if name != label:
            known = "There is no label." if label is None else f"The label is {label!r}."
            raise UsageError(f"{name!r} is not the images' label. {known}")

    def decode(self, sample: Sample, rng: np.random.Generator) -> Images:
        """Images, each with its label; nothing is left to chance."""
        codes = None if self.columns.label is None else sample.records.codes[self.columns.label]
        return Images(sample.records.images[self.columns.image], codes, self.classes)

    def to_frame(self, decoded: Images, frame: str | None) -> Images:
        """The images themselves."""
        self.require_frame(frame)
        return decoded


def class_names(schema: Schema) -> tuple[str | int, ...]:
    """The label's levels by name; none for images without labels."""
    if schema.label is None:
        return ()
    (levels,) = levels_of(schema)
    named = tuple(levels.categories)
    rest = tuple(levels.label(level) for level in range(levels.regular, levels.size))
    other = getattr(levels.column, "other_label", "other")
    return named + tuple(other if text == "other" else text for text in rest)
