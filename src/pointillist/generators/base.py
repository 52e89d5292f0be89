"""What a generator is: a sampler of records that can be written to a file and read back; and how one is fitted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.held_tables import HeldTables, Places
from pointillist.progress import Progress
from pointillist.records import Records
from pointillist.release import Release
from pointillist.schema import Schema

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of persons, hers one after the other and in their order."""

    records: Records
    numbers: Mapping[str, Floats]
    """What orders rows, where that is a number: settled already, since rows follow each other by it."""
    persons: NDArray[np.int64]
    """For each row whose it is, from 0."""

    @staticmethod
    def joined(parts: Sequence["Drawn"]) -> "Drawn":
        """Parts one after the other; there is at least one."""
        settled = {name: np.concatenate([each.numbers[name] for each in parts]) for name in parts[0].numbers}
        persons = np.concatenate([each.persons for each in parts])
        return Drawn(Records.joined([each.records for each in parts]), settled, persons)


class Sampler(Protocol):
    """What records come from."""

    def sample(self, count: int, rng: np.random.Generator) -> Records:
        """`count` records: level numbers by column, and pixels of images."""
        ...


class Generator(Sampler, Protocol):
    """A fitted sampler. Public: it was made from a release alone."""

    kind: ClassVar[str]
    """Its name in model files."""

    def fits(self, schema: Schema) -> bool:
        """Whether it makes records of just this schema's columns, with no level that they do not have."""
        ...

    def describe(self) -> str:
        """What it is, in a few words."""
        ...

    def to_facts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Itself as JSON values and arrays."""
        ...

    @classmethod
    def from_facts(cls, facts: dict[str, Any], arrays: dict[str, NDArray[Any]], schema: Schema) -> Self:
        """The inverse of `to_facts`; the schema says what the columns are called. It must still be asked whether it fits."""
        ...


@runtime_checkable
class Conditional(Sampler, Protocol):
    """A sampler that knows its own conditional distributions."""

    def given(self, inside: Mapping[str, Floats]) -> tuple[float, Sampler]:
        """The probability of a condition, and the sampler of the records that meet it.

        `inside` holds, for some columns, the probability that a record of each level meets the condition.
        """
        ...


@runtime_checkable
class Tiled(Sampler, Protocol):
    """A sampler that first draws a tile, a group of levels, for each value, and then a level of the tile."""

    @property
    def held(self) -> HeldTables | None:
        """The tables that its rows are held to while they exchange values; none: rows stay as they are drawn."""
        ...

    def draw_tiles(self, count: int, rng: np.random.Generator) -> Places:
        """Tile numbers, rows x columns."""
        ...

    def with_levels(self, tiles: Places, rng: np.random.Generator) -> Records:
        """Records with a level of each tile, in random order."""
        ...

    def redrawn(self, column: str, codes: NDArray[np.uint16], rng: np.random.Generator) -> NDArray[np.uint16]:
        """Other levels of the same tiles."""
        ...


@runtime_checkable
class LabelFirst(Sampler, Protocol):
    """A sampler that first draws a label, and then the rest of the record by it."""

    @property
    def label(self) -> str | None:
        """The column of the label; none: there is nothing to draw first."""
        ...

    def with_labels(self, codes: NDArray[np.uint16], rng: np.random.Generator) -> Records:
        """Records that have these labels."""
        ...


@runtime_checkable
class OfPersons(Sampler, Protocol):
    """A sampler of whole persons: first what is the same in all of a person's rows, then these, one after the other."""

    @property
    def people(self) -> "Sampler":
        """What persons are drawn from."""
        ...

    @property
    def mean_rows(self) -> float:
        """How many rows a person has on average."""
        ...

    def rows_of(self, people: Records, rng: np.random.Generator) -> "Drawn":
        """All rows of persons, hers one after the other and in their order."""
        ...


@runtime_checkable
class GeneratorSettings(Protocol):
    """A kind of generator with everything about its fit. Public side: it sees a release and nothing else."""

    @classmethod
    def suits(cls, schema: Schema) -> bool:
        """Whether such a generator makes records of such a schema."""
        ...

    def fit(self, release: Release, *, seed: int, progress: Progress, checkpoint: Path | None = None) -> Generator:
        """A generator for the release. With a checkpoint, a fit that was broken off goes on from there."""
        ...
