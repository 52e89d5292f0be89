"""Kind: a sort of hostile input, and what the product is asked to do with it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

Attempt = Callable[[], None]
"""Hands an input to the product. It ends by itself, or in one of the product's errors."""


class Refused(Exception):
    """The product said no, in another way than by an error of its own: by how a command ended."""


@dataclass(frozen=True)
class Kind:
    """One sort of input."""

    name: str
    make: Callable[[Random, Path], Attempt]
    """Makes an input, of files in the folder where there are any, and says what to do with it."""
    weight: int = 1
    """How many of these there are beside the others."""

    def attempt(self, seed: int, number: int, folder: Path) -> Attempt:
        """Input `number` of a run: the same for the same seed, whatever else is run."""
        return self.make(Random(f"{self.name}/{seed}/{number}"), folder)
