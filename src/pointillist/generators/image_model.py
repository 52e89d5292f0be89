"""Image model: a painter fitted to a release, ready to make labelled images. Public."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.files.images import Pictures
from pointillist.generators.base import Painter
from pointillist.model import Model
from pointillist.schema import Schema
from pointillist.schema.levels import levels_of

MOST_BYTES = 1 << 32
"""The most pixels that are sampled at a time: they are held in memory."""


@dataclass(frozen=True, eq=False, repr=False)
class ImageModel(Model):
    """Samples images of the schema's size. Sampling costs no privacy, however often it is done."""

    generator: Painter  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<ImageModel of {self.schema.name!r}: {self.generator.describe()}, ε = {self.guarantee.epsilon:g}>"

    @property
    def default_count(self) -> int:
        """About as many images as the private set has."""
        return min(self._most, max(1, round(self.rows)))

    def _fits(self) -> bool:
        assert self.schema.image is not None
        return self.generator.suits(self.schema.image[1].shape, len(class_names(self.schema)))

    @property
    def _most(self) -> int:
        assert self.schema.image is not None
        return MOST_BYTES // int(np.prod(self.schema.image[1].shape))

    def sample(
        self,
        count: int | None = None,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
        frame: str | None = None,
    ) -> Pictures:
        """`count` images (by default as many as the private set has, roughly).

        `given` may ask for a class, or a list of classes, such as `{"label": "cat"}`. `balance` may name the label: every
        class gets the same number of images. The same seed gives the same images.
        """
        if frame is not None:
            raise UsageError("images come as Pictures, not in a frame: leave frame out.")
        count = self.default_count if count is None else count
        if not 0 <= count <= self._most:
            raise UsageError(f"the number of images must lie between 0 and {self._most:,} at a time, not {count:,}.")
        generator = np.random.default_rng(seed)
        codes = self._codes(count, given or {}, balance, generator)
        pixels, codes = self.generator.paint(count, generator, codes)
        return Pictures(pixels, codes, class_names(self.schema))

    def sample_table(
        self,
        count: int,
        *,
        given: Mapping[str, Any] | None = None,
        balance: str | None = None,
        seed: int | None = None,
    ) -> pa.Table:
        raise UsageError("this is a model of images: use sample(), which gives Pictures.")

    def _codes(
        self, count: int, given: Mapping[str, Any], balance: str | None, generator: np.random.Generator
    ) -> NDArray[np.uint16] | None:
        """Which labels are wanted; none: as the model has them."""
        label = self.schema.label
        unknown = [name for name in (*given, balance) if name is not None and name != label]
        if unknown:
            known = "There is no label." if label is None else f"The label is {label!r}."
            raise UsageError(f"{unknown[0]!r} is not the images' label. {known}")
        if not given and balance is None:
            return None
        names = [str(name) for name in class_names(self.schema)]
        wanted = names[: self.levels[0].regular]
        if given:
            value = given[str(label)]
            asked = [str(each) for each in (value if isinstance(value, list | tuple | set) else [value])]
            absent = [each for each in asked if each not in names]
            if absent:
                raise UsageError(f"given: {absent[0]!r} is not a class of {label!r}. Classes: {', '.join(names)}.")
            if not asked:
                raise UsageError(f"given: no class of {label!r} is asked for. Classes: {', '.join(names)}.")
            wanted = [name for name in names if name in asked]  # in one order, whatever the caller's is
        if balance is None and len(wanted) > 1:
            shares = self.generator.paint(4096, np.random.default_rng(0))[1]
            assert shares is not None
            weights = np.array([1 + np.count_nonzero(shares == names.index(each)) for each in wanted], dtype=float)
            chosen = generator.choice(len(wanted), count, p=weights / weights.sum())
        else:
            chosen = generator.permutation(np.arange(count) % len(wanted))
        return np.array([names.index(each) for each in wanted], dtype=np.uint16)[chosen]


def class_names(schema: Schema) -> tuple[str | int, ...]:
    """The label's levels by name; none for images without labels."""
    if schema.label is None:
        return ()
    (levels,) = levels_of(schema)
    named = tuple(levels.categories)
    rest = tuple(levels.label(level) for level in range(levels.regular, levels.size))
    other = getattr(levels.column, "other_label", "other")
    return named + tuple(other if text == "other" else text for text in rest)
