"""Rejection: rows that meet a condition, from a generator that knows no conditional distributions: draw until enough do."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.generators.base import Sampler

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

    def probability(self, generator: np.random.Generator) -> float:
        """How likely a row meets the condition, by trial; 0 if none of very many does."""
        met = drawn = 0
        while not met and drawn < _FIRST:
            met += len(self._met(_CHUNK, generator)[1])
            drawn += _CHUNK
        return met / drawn

    def sample(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of `count` rows that meet the condition."""
        parts: list[dict[str, NDArray[np.uint16]]] = []
        found = drawn = 0
        while found < count or not parts:
            if drawn > _FIRST + _TRIES * count:
                raise UsageError(
                    f"the model hardly ever makes a row that meets the condition: {found:,} of {drawn:,} drawn. "
                    "Loosen the condition, ask for fewer rows, or fit a mixture, which needs no trials."
                )
            rate = (found + 1) / (drawn + 1)
            chunk = int(min(max(1.2 * (count - found) / rate, 100), 5 * _CHUNK))
            codes, met = self._met(chunk, generator)
            parts.append({name: values[met] for name, values in codes.items()})
            found, drawn = found + len(met), drawn + chunk
        return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}

    def _met(
        self, count: int, generator: np.random.Generator
    ) -> tuple[dict[str, NDArray[np.uint16]], NDArray[np.intp]]:
        """Some rows, and which of them meet the condition."""
        codes = self.sampler.sample(count, generator)
        chance = np.ones(count)
        for name, shares in self.inside.items():
            chance *= shares[codes[name]]
        return codes, np.flatnonzero(generator.random(count) < chance)
