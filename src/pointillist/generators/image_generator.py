"""Image generator: what generators of images share. The label is drawn first, by its share, and then an image for it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.drawing import quota
from pointillist.records import Records
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]

_TRIED = 4096
"""So many labels tell how frequent classes are beside each other; one more of each, and none is impossible."""


@dataclass(frozen=True)
class ImageColumns:
    """What the columns of images are called. Files do not say it twice: the schema does."""

    image: str = "image"
    label: str | None = "label"

    @classmethod
    def of(cls, schema: Schema) -> Self:
        if schema.image is None:
            raise ValueError("a generator of images needs a schema with images")
        return cls(schema.image[0], schema.label)


USUAL = ImageColumns()


@dataclass(frozen=True)
class Outline:
    """What a generator's images are, before any is made."""

    size: tuple[int, int, int]
    """Height, width and channels."""
    shares: tuple[float, ...]
    """Of the label's levels; none for images without labels."""
    columns: ImageColumns

    def fits(self, schema: Schema) -> bool:
        """Whether a schema asks for such images."""
        if schema.image is None or schema.image != (self.columns.image, schema.image[1]):
            return False
        label = self.columns.label if self.shares else None
        classes = sum(each.size for each in levels_of(schema))
        return schema.image[1].shape == self.size and schema.label == label and len(self.shares) == classes


class ImageGenerator(ABC):
    """A sampler of images, each with a label where there are labels."""

    @property
    @abstractmethod
    def outline(self) -> Outline:
        """What its images are."""

    @abstractmethod
    def pixels(self, count: int, codes: Codes | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        """`count` images with these labels, as (count, height, width, channels)."""

    @property
    def label(self) -> str | None:
        """The column of the label."""
        return self.outline.columns.label if self.outline.shares else None

    def fits(self, schema: Schema) -> bool:
        """Whether it makes images of the schema's size and classes."""
        return self.outline.fits(schema)

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` images; every label gets its share."""
        outline = self.outline
        if not outline.shares:
            return Records(count, {}, {}, {outline.columns.image: self.pixels(count, None, rng)})
        codes = rng.permutation(quota(np.array(outline.shares), count, rng))
        return self.with_labels(codes.astype(np.uint16), rng)

    def with_labels(self, codes: Codes, rng: np.random.Generator) -> Records:
        """Images that have these labels."""
        if self.label is None:
            raise ValueError("these images have no labels")
        pixels = self.pixels(len(codes), codes, rng)
        return Records(len(codes), {self.label: codes}, {}, {self.outline.columns.image: pixels})

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, "ImageGenerator | OfClasses"]:
        """The probability of some classes, and the sampler of their images; `inside` as in `Conditional`.

        A class that a release found empty is drawn if it is asked for by name: whoever asks knows why.
        """
        if self.label is None:
            raise ValueError("these images have no labels")
        shares = np.array(self.outline.shares)
        classes = np.flatnonzero(inside[self.label] > 0).astype(np.uint16)
        if not len(classes):
            return 0.0, self
        drawn = np.bincount(quota(shares, _TRIED, np.random.default_rng(0)), minlength=len(shares))
        weights = (1 + drawn[classes]).astype(np.float64)
        return float(weights.sum() / (_TRIED + len(shares))), OfClasses(self, classes, weights / weights.sum())


@dataclass(frozen=True, eq=False)
class OfClasses:
    """Images of some classes alone."""

    images: ImageGenerator
    classes: Codes
    weights: Floats

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` images of the classes, each by its weight."""
        if len(self.classes) == 1:
            chosen = rng.permutation(np.zeros(count, dtype=np.int64))
        else:
            chosen = rng.choice(len(self.classes), count, p=self.weights)
        return self.images.with_labels(self.classes[chosen], rng)
