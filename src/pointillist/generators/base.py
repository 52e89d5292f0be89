"""What a generator is: a sampler over the levels of all columns that can be written to a file and read back."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pointillist.schema.levels import Levels


class Sampler(Protocol):
    """What rows come from."""

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        ...


class Generator(Sampler, Protocol):
    """A fitted sampler. Public: it was made from a release alone."""

    def fits(self, levels: Sequence[Levels]) -> bool:
        """Whether it makes rows of just these columns, with no level that they do not have."""
        ...

    kind: ClassVar[str]
    """Its name in model files."""

    def describe(self) -> str:
        """What it is, in a few words."""
        ...

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        ...

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        ...


class Painter(Protocol):
    """A fitted sampler of images. Public: it was made from a release alone."""

    def suits(self, shape: tuple[int, int, int], classes: int) -> bool:
        """Whether it makes images of this height, width and channels, of so many classes (0: without labels)."""
        ...

    kind: ClassVar[str]
    """Its name in model files."""

    def paint(
        self, count: int, generator: np.random.Generator, codes: NDArray[np.uint16] | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint16] | None]:
        """`count` images as (count, height, width, channels), and their labels' levels.

        `codes` says which labels; by default every label gets its share. Without labels there are no levels.
        """
        ...

    def describe(self) -> str:
        """What it is, in a few words."""
        ...

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        ...

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        ...


@runtime_checkable
class Conditional(Sampler, Protocol):
    """A sampler that knows its own conditional distributions."""

    def given(self, inside: Mapping[str, NDArray[np.float64]]) -> tuple[float, Self]:
        """The probability of a condition, and the generator of the rows that meet it.

        `inside` holds, for some columns, the probability that a row of each level meets the condition.
        """
        ...
