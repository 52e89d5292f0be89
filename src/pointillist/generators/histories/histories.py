"""Histories: a mixture over the records of persons, from which persons are drawn first, and then their rows in order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.base import Drawn
from pointillist.generators.histories.steps import Steps
from pointillist.generators.mixture.mixture import Mixture
from pointillist.records import Records
from pointillist.schema import Schema
from pointillist.schema.history import COUNT, History
from pointillist.schema.level_values import numbers

Floats = NDArray[np.float64]

_TOGETHER = 20_000
"""So many persons' rows are drawn at a time."""


@dataclass(frozen=True, eq=False)
class Histories:
    """A sampler of whole persons."""

    kind: ClassVar[str] = "histories"

    history: History
    mixture: Mixture
    """Of records, by which the rows of a person follow each other."""
    people: Mixture
    """The same, of the persons that are asked for."""

    @classmethod
    def of(cls, history: History, mixture: Mixture) -> Self:
        return cls(history, mixture, mixture)

    def describe(self) -> str:
        return f"persons with their rows, from {self.mixture.describe()}"

    @cached_property
    def mean_rows(self) -> float:
        """How many rows a person has on average."""
        tiles, levels = self.people.tiles[COUNT], self.history.counts[0]
        shares = (self.people.weights @ self.people.tables[COUNT])[tiles.table] * self.people.within[COUNT]
        middle = numbers(levels, np.arange(levels.size, dtype=np.uint16), np.full(levels.size, 0.5))
        return float(shares @ middle / shares.sum())

    def rows_of(self, people: Records, rng: np.random.Generator) -> Drawn:
        """All rows of persons, of whom the records have what all of a person's share."""
        steps = Steps(self.history, self.mixture)
        parts = [
            steps.draw(people.part(slice(start, start + _TOGETHER)), rng, start)
            for start in range(0, max(people.rows, 1), _TOGETHER)
        ]
        return Drawn.joined(parts)

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` rows of persons who are drawn by themselves; of the last one, perhaps not all."""
        found: list[Records] = []
        while (rows := sum(each.rows for each in found)) < count or not found:
            persons = int(np.ceil((count - rows) / self.mean_rows)) + 1
            found.append(self.rows_of(self.people.sample(persons, rng), rng).records)
        return Records.joined(found).part(slice(0, count))

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, Self]:
        """The probability that a person meets a condition on her facts, and the sampler of those who do."""
        share, people = self.people.given(inside)
        return share, replace(self, people=people)

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """The mixture as JSON values and arrays; the rest is the schema's."""
        return self.mixture.to_facts()

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`."""
        history = History.of(schema)
        return cls.of(history, Mixture.from_facts(facts, arrays, history.flat))

    def fits(self, schema: Schema) -> bool:
        return schema.person is not None and self.mixture.fits(History.of(schema).flat)
