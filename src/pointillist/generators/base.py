"""What a generator is: a sampler over the levels of all columns that can be written to a file and read back."""

from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Generator(Protocol):
    """A fitted sampler. Public: it was made from a release alone."""

    kind: ClassVar[str]
    """Its name in model files."""

    def describe(self) -> str:
        """What it is, in a few words."""
        ...

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows."""
        ...

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        ...

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The inverse of `to_facts`."""
        ...
