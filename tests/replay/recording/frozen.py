"""Frozen noise: the first run's noisy values are kept, and every later run gets those and no others.

What a run does after the noise is then a function of one and the same public outcome. Whatever still differs between
two runs came from the rows by another way: it is a leak.
"""

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from pointillist.curator import choosing, contributing, releasing

Integers = NDArray[np.int64]


@dataclass
class Tape:
    """What one run handed to the noise. Secret."""

    sums: list[Integers] = field(default_factory=list)
    """The exact sums, or the exact scores of candidates, in their order."""
    scales: list[float] = field(default_factory=list)
    """The noise that each of them was to get."""


@dataclass
class FrozenNoise:
    """Noise that falls once."""

    loudness: float = 1.0
    """How much of the noise the first run gets. At 0 it sees its exact sums: whatever can follow them, will."""
    kept: list[Any] = field(default_factory=list)

    @contextmanager
    def playing(self) -> Iterator[Tape]:
        """Put the frozen noise in the place of the real one, and keep what it is handed."""
        tape, numbers = Tape(), itertools.count()

        def add_noise(sums: Integers, sigma: float) -> Integers:
            tape.sums.append(sums.copy())
            tape.scales.append(sigma)
            number = next(numbers)
            if number == len(self.kept):
                drawn = np.random.default_rng(number).normal(0.0, self.loudness * sigma, sums.size)
                self.kept.append(sums + np.rint(drawn).astype(np.int64))
            return np.array(self.kept[number])

        def draw(scores: Integers, scale: float) -> int:
            tape.sums.append(np.array(scores))
            tape.scales.append(scale)
            number = next(numbers)
            if number == len(self.kept):
                self.kept.append(int(np.argmin(scores)))
            return int(self.kept[number])

        noise = [patch.object(room, "add_noise", add_noise) for room in (releasing, contributing)]
        with noise[0], noise[1], patch.object(choosing, "draw", draw):
            yield tape
