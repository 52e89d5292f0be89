"""Rejection: rows that meet a condition, from a generator that knows no conditional distributions: draw until enough do."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.generators.base import Sampler
from pointillist.records import Records

Floats = NDArray[np.float64]
_CHUNK = 20_000
_FIRST = 200_000
"""So many rows are drawn before a condition that none of them met counts as impossible."""
_TRIES = 2_000
"""The most rows that are drawn for each row that is wanted, beside the first."""


@dataclass(frozen=True, eq=False)
class Rejection:
    """A sampler over the levels of all columns."""

    sampler: Sampler
    inside: Mapping[str, Floats]
    """For some columns the probability that a row of each level meets the condition."""

    def probability(self, rng: np.random.Generator) -> float:
        """How likely a record meets the condition, by trial; 0 if none of very many does."""
        met = drawn = 0
        while not met and drawn < _FIRST:
            met += self._met(_CHUNK, rng).rows
            drawn += _CHUNK
        return met / drawn

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` records that meet the condition."""
        parts: list[Records] = []
        found = drawn = 0
        while found < count or not parts:
            if drawn > _FIRST + _TRIES * count:
                raise UsageError(
                    f"the model hardly ever makes a row that meets the condition: {found:,} of {drawn:,} drawn. "
                    "Loosen the condition, ask for fewer rows, or fit a mixture, which needs no trials."
                )
            rate = (found + 1) / (drawn + 1)
            chunk = int(min(max(1.2 * (count - found) / rate, 100), 5 * _CHUNK))
            parts.append(self._met(chunk, rng))
            found, drawn = found + parts[-1].rows, drawn + chunk
        return Records.joined(parts).part(slice(count))

    def _met(self, count: int, rng: np.random.Generator) -> Records:
        """Those of `count` records that meet the condition."""
        records = self.sampler.sample(count, rng)
        chance = np.ones(count)
        for name, shares in self.inside.items():
            chance *= shares[records.codes[name]]
        return records.part(rng.random(count) < chance)
