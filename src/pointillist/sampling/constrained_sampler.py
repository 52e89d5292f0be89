"""Constrained sampler: the records of a generator under a condition and under the constraints of the schema."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.generators.base import Conditional, Sampler, Tiled
from pointillist.records import Records
from pointillist.sampling.condition import Condition
from pointillist.sampling.constraints import Bools, Floats, Rules
from pointillist.sampling.exchanges import draw_records
from pointillist.sampling.raking import MOST_REPEATS, Raking, margins_of
from pointillist.sampling.rejection import Rejection
from pointillist.sampling.sample import Sample
from pointillist.schema.constraints import Constraint
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

_LEAST = 1e-9
"""Below this, relative to what its columns have one by one, a combination has no probability."""
_POOL = 50_000
"""Rows from which it is learned how to make up for impossible ones."""
_BLOCK = 100_000
"""The most rows that are chosen at a time, so that what is at hand for them fits in memory."""
_REDRAWS = 6
"""How often the place of a number inside its tile is drawn again before its row is given up."""
_POSSIBLE = 0.005
"""Below this share of possible rows, a model and its constraints contradict each other."""
_TRIED = 20_000
"""So many rows are drawn before it is said that they do."""


class Unreachable(UsageError):
    """The model makes no such row."""


@dataclass(frozen=True, eq=False)
class ConstrainedSampler:
    """A sampler that keeps to a condition and to rules."""

    levels: tuple[Levels, ...]
    sampler: Sampler
    condition: Condition
    rules: Rules
    raking: Raking | None = None
    """How to make up for rows that are impossible; none where there are no rules."""

    @classmethod
    def of(cls, levels: tuple[Levels, ...], sampler: Sampler, constraints: Sequence[Constraint]) -> Self:
        """A sampler under the constraints of a schema, without a condition; always the same for the same generator."""
        found = cls(levels, sampler, Condition({}), Rules.of(constraints, levels))
        return replace(found, raking=found.fit_raking(np.random.default_rng(0))) if constraints else found

    def under(self, condition: Condition, rng: np.random.Generator) -> Self:
        """The sampler of records that also meet a condition; it is Unreachable if there are none."""
        if not condition.cuts:
            return self
        found = replace(self, sampler=conditioned(self.sampler, condition, rng), condition=condition)
        if self.rules.constraints:
            for _ in found._possible(rng, 1):
                pass  # raises if there are none
        return found

    def sample(self, count: int, rng: np.random.Generator) -> Sample:
        """`count` records. Where there are rules, the numbers of all columns are settled."""
        if not self.rules.constraints:
            records = self._records(count, rng)
            return Sample(records, self.condition.numbers(records.codes, rng))
        sizes = [min(_BLOCK, count - start) for start in range(0, max(count, 1), _BLOCK)]
        return Sample.joined([self._block(size, rng) for size in sizes])

    def fit_raking(self, rng: np.random.Generator) -> Raking:
        """Learn how to make up for rows that are impossible."""
        wanted = draw_records(self.sampler, _POOL, rng)
        candidates, broken = self.mended(wanted, rng)
        if np.mean(~broken) < _POSSIBLE:
            raise self._contradiction(candidates, broken)
        columns, pairs = margins_of(self.levels, self.rules, wanted.codes)
        return Raking.fit(columns, pairs, wanted.codes, candidates.part(~broken).records.codes)

    def _records(self, count: int, rng: np.random.Generator) -> Records:
        """Records that meet the condition."""
        records = draw_records(self.sampler, count, rng)
        stray = np.flatnonzero(~self.condition.met(records.codes, count))
        if len(stray):  # once in many millions, rounding carries a draw into a level without probability
            for name, values in self._records(len(stray), rng).codes.items():
                records.codes[name][stray] = values
        return records

    def _block(self, count: int, rng: np.random.Generator) -> Sample:
        assert self.raking is not None
        needed = int(np.ceil(count * self.raking.reach))
        possible = Sample.joined(list(self._possible(rng, needed)))
        weights = self.raking.weights(possible.records.codes)
        return possible.part(draw_by_weight(weights, count, rng)).settled(self.levels, rng)

    def _possible(self, rng: np.random.Generator, needed: int) -> Iterator[Sample]:
        """Possible rows in parts, until there are as many as are needed."""
        rate = 1.0 if self.raking is None else self.raking.kept
        found = drawn = 0
        while found < needed or not drawn:
            size = int(np.clip(1.05 * (needed - found) / rate, 50, 2 * _BLOCK))
            candidates, broken = self.mended(self._records(size, rng), rng)
            drawn += size
            found += size - int(broken.sum())
            rate = max(found, 1) / drawn
            if drawn >= _TRIED and rate < _POSSIBLE:
                raise self._contradiction(candidates, broken)
            yield candidates.part(~broken)

    def mended(self, records: Records, rng: np.random.Generator) -> tuple[Sample, Bools]:
        """Records with the numbers that decide about them, and which of them break a rule.

        What the model knows of a number is its tile. So where a row breaks a rule, its numbers are drawn again inside
        their tiles: a stay that begins and ends in the same week is possible, whatever days were drawn first. Two numbers
        that are still in the wrong order change places, and gaps are put where they belong.
        """
        numeric, touched = self.rules.numeric, self.rules.columns
        codes = {name: values.copy() if name in touched else values for name, values in records.codes.items()}
        self.rules.mend_gaps(codes, self.condition.cuts, rng)
        drawn = self.condition.numbers(codes, rng)
        for name in numeric:
            if name not in drawn:
                drawn[name] = self._numbers(name, codes[name], rng)
        broken = self.rules.broken(codes, drawn)
        for _ in range(_REDRAWS if numeric else 0):
            rows = np.flatnonzero(broken)
            if len(rows) == 0:
                break
            again = {name: values[rows] for name, values in codes.items() if name in self.rules.columns}
            values = {}
            for name in numeric:
                again[name] = self._levels_again(name, again[name], rng)
                values[name] = self._numbers(name, again[name], rng)
            still = self.rules.broken(again, values)
            mended = rows[~still]
            for name in numeric:
                codes[name][mended] = again[name][~still]
                drawn[name][mended] = values[name][~still]
            broken[mended] = False
        if broken.any():
            self.rules.swap(codes, drawn, self.condition.cuts)
            broken = self.rules.broken(codes, drawn)
        return Sample(replace(records, codes=codes), drawn), broken

    def _numbers(self, name: str, codes: NDArray[np.uint16], rng: np.random.Generator) -> Floats:
        cut = self.condition.cuts.get(name)
        if cut is not None and cut.divides:
            return cut.numbers(codes, rng)
        return numbers(self.rules.levels[name], codes, rng.random(len(codes)))

    def _levels_again(self, name: str, codes: NDArray[np.uint16], rng: np.random.Generator) -> NDArray[np.uint16]:
        """Other levels of the same tiles, where the generator has tiles."""
        return self.sampler.redrawn(name, codes, rng) if isinstance(self.sampler, Tiled) else codes

    def _contradiction(self, candidates: Sample, broken: Bools) -> Unreachable:
        codes = candidates.records.codes
        counts = [
            int(self.rules.broken_by(place, codes, candidates.numbers).sum())
            for place in range(len(self.rules.constraints))
        ]
        worst = self.rules.constraints[int(np.argmax(counts))]
        given = f" under the condition ({self.condition})" if self.condition.cuts else ""
        return Unreachable(
            f"the constraints of the schema rule out almost every row that the model makes{given}: {int(broken.sum()):,} of "
            f"{len(broken):,} drawn. Most break: {worst}. Check that constraint{', or the condition' if given else ''}."
        )


def conditioned(sampler: Sampler, condition: Condition, rng: np.random.Generator) -> Sampler:
    """The sampler of rows that meet the condition: in closed form where there is one, else by trial."""
    if not isinstance(sampler, Conditional):
        trial = Rejection(sampler, condition.shares)
        if trial.probability(rng) == 0:
            raise Unreachable(
                f"the model gives {condition} no probability that a trial can find. Loosen the condition."
            )
        return trial
    apart = 1.0
    for name, shares in condition.shares.items():
        alone = sampler.given({name: shares})[0]
        if alone == 0:
            raise Unreachable(
                f"the model gives {name} = {condition.cuts[name].selection} no probability. Loosen the condition."
            )
        apart *= alone
    together, conditioned = sampler.given(condition.shares)
    if together <= _LEAST * apart:
        raise Unreachable(f"the model gives the combination {condition} no probability. Loosen the condition.")
    return conditioned


def draw_by_weight(weights: Floats, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Row numbers by their weights, with systematic sampling: each as often as its weight says, to within one."""
    expected = weights * (count / weights.sum())
    for _ in range(10):
        over = expected > MOST_REPEATS
        if not over.any() or over.all():
            break
        expected = np.minimum(expected, MOST_REPEATS)
        expected[~over] *= (count - expected[over].sum()) / expected[~over].sum()
    ends = np.cumsum(expected)
    points = (np.arange(count) + rng.random()) * (ends[-1] / max(count, 1))
    return rng.permutation(np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1))
