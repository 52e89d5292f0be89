"""Sample: records that were drawn, with those numbers of theirs that are settled already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.records import Records
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """A generator draws levels. Which number of its bin a value is, is drawn when a rule asks for it, or at the end."""

    records: Records
    numbers: Mapping[str, Floats]
    """By numeric column. A column that is not here is not settled yet."""
    persons: NDArray[np.int64] | None = None
    """For each record whose it is, from 0, where persons were drawn with all of their records."""

    def __len__(self) -> int:
        return self.records.rows

    def part(self, rows: NDArray[Any]) -> "Sample":
        """Some of the records: by number, perhaps several times, or by mask."""
        persons = None if self.persons is None else self.persons[rows]
        return Sample(self.records.part(rows), {name: values[rows] for name, values in self.numbers.items()}, persons)

    @staticmethod
    def joined(parts: Sequence["Sample"]) -> "Sample":
        """Samples one after the other; there is at least one."""
        names = parts[0].numbers
        joined = {name: np.concatenate([part.numbers[name] for part in parts]) for name in names}
        owned = [part.persons for part in parts if part.persons is not None]
        return Sample(
            Records.joined([part.records for part in parts]), joined, np.concatenate(owned) if owned else None
        )

    def settled(self, levels: Sequence[Levels], rng: np.random.Generator) -> "Sample":
        """The same with a number for every value of every numeric column."""
        found = dict(self.numbers)
        for each in levels:
            if each.numeric and each.name not in found:
                codes = self.records.codes[each.name]
                found[each.name] = numbers(each, codes, rng.random(len(codes)))
        return Sample(self.records, found, self.persons)
