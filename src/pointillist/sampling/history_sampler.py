"""History sampler: whole persons of a generator of histories, under a condition on their facts and under constraints."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pointillist.errors import UsageError
from pointillist.generators.base import OfPersons
from pointillist.sampling.condition import Condition
from pointillist.sampling.constrained_sampler import ConstrainedSampler, conditioned
from pointillist.sampling.constraints import Rules
from pointillist.sampling.exchanges import draw_records
from pointillist.sampling.sample import Sample
from pointillist.schema.constraints import Constraint
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

_SMOOTH = 2_000
"""At least so many persons are drawn at a time: the more there are, the more evenly values are dealt out to them."""
_MOST_PERSONS = 20_000_000


@dataclass(frozen=True, eq=False)
class HistorySampler:
    """A sampler of persons with their rows."""

    levels: tuple[Levels, ...]
    generator: OfPersons
    condition: Condition
    rules: Rules

    @classmethod
    def of(cls, levels: tuple[Levels, ...], generator: OfPersons, constraints: Sequence[Constraint]) -> Self:
        return cls(levels, generator, Condition({}), Rules.of(constraints, levels))

    def under(self, condition: Condition, rng: np.random.Generator) -> Self:
        """The sampler of persons who also meet a condition; it is Unreachable if there are none."""
        facts = {each.name for each in self.levels if each.column.of == "person"}
        other = [name for name in condition.cuts if name not in facts]
        if other:
            raise UsageError(
                f"given: {other[0]!r} belongs to rows, and a condition on histories is one on persons. Columns of persons: "
                f"{', '.join(sorted(facts)) or 'none; set of = person in the schema'}."
            )
        if not condition.cuts:
            return self
        found = conditioned(self.generator, condition, rng)
        assert isinstance(found, OfPersons)
        return replace(self, generator=found, condition=condition)

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """`count` rows: whole persons, but for the last, whose rows end where there are enough."""
        parts: list[Sample] = []
        rows = persons = 0
        while rows < count or not parts:
            more = int(np.ceil(1.02 * (count - rows) / self.generator.mean_rows)) + 1
            part = self.sample_persons(min(more, _MOST_PERSONS), rng)
            owners = np.zeros(0, dtype=np.int64) if part.persons is None else part.persons + persons
            parts.append(replace(part, persons=owners))
            persons, rows = persons + more, rows + len(part)
        return Sample.joined(parts).part(np.arange(count))

    def sample_persons(self, count: int, rng: np.random.Generator) -> Sample:
        """All rows of `count` persons, hers one after the other and in their order."""
        people = draw_records(self.generator.people, max(count, _SMOOTH), rng).part(slice(0, count))
        drawn = self.generator.rows_of(people, rng)
        settled = dict(drawn.numbers)
        heads = np.flatnonzero(np.diff(drawn.persons, prepend=-1))
        lengths = np.diff(heads, append=len(drawn.persons))
        for each in self.levels:
            if each.column.of == "person" and each.numeric:  # a person's number is drawn once
                codes, cut = drawn.records.codes[each.name][heads], self.condition.cuts.get(each.name)
                own = cut.numbers(codes, rng) if cut is not None else numbers(each, codes, rng.random(len(codes)))
                settled[each.name] = np.repeat(own, lengths)
        return self._possible(Sample(drawn.records, settled, drawn.persons), rng)

    def _possible(self, sample: Sample, rng: np.random.Generator) -> Sample:
        """Rows that keep to the rules: mended where all that a rule speaks of is the row's own, and else left out."""
        if not self.rules.constraints:
            return sample
        fixed = {each.name for each in self.levels if each.column.of == "person"} | set(sample.numbers)
        own = [each for each in self.rules.constraints if fixed.isdisjoint(each.names)]
        if own:
            rows = ConstrainedSampler(self.levels, self.generator.people, Condition({}), Rules.of(own, self.levels))
            mended, _ = rows.mended(sample.records, rng)
            sample = Sample(mended.records, {**sample.numbers, **mended.numbers}, sample.persons)
        settled = sample.settled(self.levels, rng)
        return settled.part(~self.rules.broken(settled.records.codes, settled.numbers))
