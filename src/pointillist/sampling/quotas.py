"""Source: the rows of a generator under a condition and under the constraints of the schema."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.generators.base import Conditional, Sampler
from pointillist.generators.mixture.mixture import Mixture
from pointillist.sampling.condition import Codes, Condition
from pointillist.sampling.constraints import Bools, Floats, Rules
from pointillist.sampling.decoding import decode_table, numbers
from pointillist.sampling.drawing import draw_levels
from pointillist.sampling.raking import MOST_REPEATS, Tilt, margins_of
from pointillist.sampling.rejection import Rejection
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
class Candidates:
    """Rows to choose from, with the numbers that decide about them."""

    codes: Codes
    numbers: Mapping[str, Floats]

    def __len__(self) -> int:
        return len(next(iter(self.codes.values())))

    def take(self, rows: NDArray[np.intp] | Bools) -> "Candidates":
        return Candidates({k: v[rows] for k, v in self.codes.items()}, {k: v[rows] for k, v in self.numbers.items()})

    @classmethod
    def joined(cls, parts: list["Candidates"]) -> Self:
        return cls(
            {name: np.concatenate([part.codes[name] for part in parts]) for name in parts[0].codes},
            {name: np.concatenate([part.numbers[name] for part in parts]) for name in parts[0].numbers},
        )


@dataclass(frozen=True, eq=False)
class Source:
    """Where rows come from."""

    levels: tuple[Levels, ...]
    sampler: Sampler
    condition: Condition
    rules: Rules
    tilt: Tilt | None = None

    @classmethod
    def of(
        cls,
        levels: tuple[Levels, ...],
        sampler: Sampler,
        condition: Condition,
        rules: Rules,
        tilt: Tilt | None,
        generator: np.random.Generator,
    ) -> Self:
        """The source of rows that meet a condition; it is Unreachable if there are none."""
        if condition.cuts:
            sampler = _conditioned(sampler, condition, generator)
        source = cls(levels, sampler, condition, rules, tilt)
        if condition.cuts and rules.constraints:
            for _ in source._possible(generator, 1):
                pass  # raises if there are none
        return source

    def table(self, count: int, generator: np.random.Generator) -> pa.Table:
        """`count` rows."""
        if not self.rules.constraints:
            codes = self._codes(count, generator)
            return decode_table(self.levels, codes, generator, self.condition.numbers(codes, generator))
        sizes = [min(_BLOCK, count - start) for start in range(0, max(count, 1), _BLOCK)]
        return pa.concat_tables([self._block(size, generator) for size in sizes])

    def fit_tilt(self, generator: np.random.Generator) -> Tilt:
        """Learn how to make up for rows that are impossible."""
        wanted = self.sampler.sample(_POOL, generator)
        candidates, broken = self._mended(wanted, generator)
        if np.mean(~broken) < _POSSIBLE:
            raise self._contradiction(candidates, broken)
        columns, pairs = margins_of(self.levels, self.rules, wanted)
        return Tilt.fit(columns, pairs, wanted, candidates.take(~broken).codes)

    def _codes(self, count: int, generator: np.random.Generator) -> dict[str, NDArray[np.uint16]]:
        """Level numbers of rows that meet the condition."""
        codes = self.sampler.sample(count, generator)
        stray = np.flatnonzero(~self.condition.met(codes, count))
        if len(stray):  # once in many millions, rounding carries a draw into a level without probability
            for name, values in self._codes(len(stray), generator).items():
                codes[name][stray] = values
        return codes

    def _block(self, count: int, generator: np.random.Generator) -> pa.Table:
        assert self.tilt is not None
        needed = int(np.ceil(count * self.tilt.reach))
        possible = Candidates.joined(list(self._possible(generator, needed)))
        chosen = possible.take(_chosen(self.tilt.weights(possible.codes), count, generator))
        return decode_table(self.levels, dict(chosen.codes), generator, chosen.numbers)

    def _possible(self, generator: np.random.Generator, needed: int) -> Iterator[Candidates]:
        """Possible rows in parts, until there are as many as are needed."""
        rate = 1.0 if self.tilt is None else self.tilt.kept
        found = drawn = 0
        while found < needed or not drawn:
            size = int(np.clip(1.05 * (needed - found) / rate, 50, 2 * _BLOCK))
            candidates, broken = self._mended(self._codes(size, generator), generator)
            drawn += size
            found += size - int(broken.sum())
            rate = max(found, 1) / drawn
            if drawn >= _TRIED and rate < _POSSIBLE:
                raise self._contradiction(candidates, broken)
            yield candidates.take(~broken)

    def _mended(self, codes: Codes, generator: np.random.Generator) -> tuple[Candidates, Bools]:
        """Candidates with their numbers, and which of them break a rule.

        What the model knows of a number is its tile. So where a row breaks a rule, its numbers are drawn again inside
        their tiles: a stay that begins and ends in the same week is possible, whatever days were drawn first.
        """
        codes = {name: values.copy() if name in self.rules.numeric else values for name, values in codes.items()}
        drawn = self.condition.numbers(codes, generator)
        for name in self.rules.numeric:
            if name not in drawn:
                drawn[name] = self._numbers(name, codes[name], generator)
        broken = self.rules.broken(codes, drawn)
        for _ in range(_REDRAWS if self.rules.numeric else 0):
            rows = np.flatnonzero(broken)
            if len(rows) == 0:
                break
            again = {name: values[rows] for name, values in codes.items() if name in self.rules.columns}
            values = {}
            for name in self.rules.numeric:
                again[name] = self._levels_again(name, again[name], generator)
                values[name] = self._numbers(name, again[name], generator)
            still = self.rules.broken(again, values)
            mended = rows[~still]
            for name in self.rules.numeric:
                codes[name][mended] = again[name][~still]
                drawn[name][mended] = values[name][~still]
            broken[mended] = False
        return Candidates(codes, drawn), broken

    def _numbers(self, name: str, codes: NDArray[np.uint16], generator: np.random.Generator) -> Floats:
        cut = self.condition.cuts.get(name)
        if cut is not None and cut.divides:
            return cut.numbers(codes, generator)
        return numbers(self.rules.levels[name], codes, generator.random(len(codes)))

    def _levels_again(self, name: str, codes: NDArray[np.uint16], generator: np.random.Generator) -> NDArray[np.uint16]:
        """Other levels of the same tiles, where the generator has tiles."""
        if not isinstance(self.sampler, Mixture):
            return codes
        tiles = self.sampler.tiles[name]
        return draw_levels(tiles, self.sampler.within[name], tiles.table[codes], generator)

    def _contradiction(self, candidates: Candidates, broken: Bools) -> Unreachable:
        counts = [
            int(self.rules.broken_by(place, candidates.codes, candidates.numbers).sum())
            for place in range(len(self.rules.constraints))
        ]
        worst = self.rules.constraints[int(np.argmax(counts))]
        given = f" under the condition ({self.condition})" if self.condition.cuts else ""
        return Unreachable(
            f"the constraints of the schema rule out almost every row that the model makes{given}: {int(broken.sum()):,} of "
            f"{len(broken):,} drawn. Most break: {worst}. Check that constraint{', or the condition' if given else ''}."
        )


def _conditioned(sampler: Sampler, condition: Condition, generator: np.random.Generator) -> Sampler:
    """The sampler of rows that meet the condition: in closed form where there is one, else by trial."""
    if not isinstance(sampler, Conditional):
        trial = Rejection(sampler, condition.shares)
        if trial.probability(generator) == 0:
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


def _chosen(weights: Floats, count: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Row numbers by their weights, with systematic sampling: each as often as its weight says, to within one."""
    expected = weights * (count / weights.sum())
    for _ in range(10):
        over = expected > MOST_REPEATS
        if not over.any() or over.all():
            break
        expected = np.minimum(expected, MOST_REPEATS)
        expected[~over] *= (count - expected[over].sum()) / expected[~over].sum()
    ends = np.cumsum(expected)
    points = (np.arange(count) + generator.random()) * (ends[-1] / max(count, 1))
    return generator.permutation(np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1))


def balanced(sources: Sequence[Source], count: int, generator: np.random.Generator) -> pa.Table:
    """`count` rows, from every source the same number to within one, in random order."""
    share, rest = divmod(count, len(sources))
    more = generator.permutation(len(sources)) < rest
    parts = [source.table(share + int(one), generator) for source, one in zip(sources, more, strict=True)]
    return pa.concat_tables(parts).take(generator.permutation(count))
