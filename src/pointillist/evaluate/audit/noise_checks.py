"""Noise checks: is what was added to the exact sums what was promised, in every cell, independent, and fresh in every run?

A sum over all cells hides one cell without noise, and a variance cell by cell hides one draw that is used for many. So
what is left of the published values after the exact sums are taken away is looked at from all sides.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import special

from pointillist.evaluate.arrays import Floats
from pointillist.release import Release

_MOST_COMPARED = 5_000
"""Cells that are compared each with each; of more, so many in equal steps."""
_CONTRASTS = 5
"""Sums with signs that are taken of every table: the plain sum, and others with signs that are fixed at random."""
_CHUNK = 512
_NOTHING = 1e-9
"""A variance below this part of the promised one is no noise at all."""


@dataclass(frozen=True)
class Fault:
    """Noise that is not as promised."""

    words: str
    bare: bool
    """Whether something is published that has no noise at all, or noise that can be subtracted."""


@dataclass
class Noise:
    """The noise of all releases, in units of the promised deviation."""

    drawn: list[list[Floats]] = field(default_factory=list)
    """By release, for each table that was measured."""
    names: list[str] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    bare: int = 0
    """Values that are equal to the exact ones."""
    bare_expected: float = 0.0
    squares: dict[int, float] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)

    def add(self, release: Release, exact: Sequence[Any]) -> None:
        """Keep the noise of one release; `exact` holds the exact sums by round, in units of the noise."""
        parts: list[Floats] = []
        names: list[str] = []
        rounds: list[int] = []
        for number, (measurement, sums) in enumerate(zip(release.measurements, exact, strict=True)):
            left = measurement.values / measurement.sigma - sums
            self.bare += int((left == 0).sum())
            self.bare_expected += len(left) / (measurement.sigma * math.sqrt(2 * math.pi))
            self.squares[number] = self.squares.get(number, 0.0) + float(left @ left)
            self.counts[number] = self.counts.get(number, 0) + len(left)
            tables = [block.map for block in measurement.blocks()]
            parts += np.split(left, np.cumsum([block.dimension for block in tables])[:-1])
            names += [" × ".join(sorted(block.code_columns | block.unit_columns)) for block in tables]
            rounds += [number] * len(tables)
        self.drawn.append(parts)
        if len(self.drawn) == 1 or len(names) < len(self.names):
            self.names, self.rounds = names, rounds

    def faults(self, alpha: float) -> tuple[Fault, ...]:
        """Everything that is wrong with the noise. Where nothing is, one is found all the same with chance alpha."""
        if len(self.drawn) < 3:
            return ()
        tests = (self._bare, self._cells, self._tables, self._sums, self._alike, self._stale)
        return tuple(fault for test in tests for fault in test(alpha / len(tests)))

    def _bare(self, alpha: float) -> Iterator[Fault]:
        """Values that are exact: on a grid this fine noise of 0 is a rare accident."""
        if self.bare and float(special.pdtrc(self.bare - 1, self.bare_expected)) < alpha:
            yield Fault(f"{self.bare} values are published without any noise", bare=True)

    def _cells(self, alpha: float) -> Iterator[Fault]:
        """The variance of each cell over all releases, against chi-squared. Too much noise is no fault."""
        spreads = {
            (number, end): np.var(cells, axis=0, ddof=1)
            for number in range(len(self.names))
            for end, cells in self._aligned(number).items()
        }
        tested = sum(map(len, spreads.values()))
        freedom = len(self.drawn) - 1
        short = {
            place: float(each.min())
            for place, each in spreads.items()
            if float(special.gammainc(freedom / 2, freedom * each.min() / 2)) < alpha / tested
        }
        if short:
            number, _ = min(short, key=short.__getitem__)
            ratio = math.sqrt(min(short.values()))
            words = f"a cell of {self._name(number)} has {ratio:.3g} times the promised noise"
            yield Fault(words, bare=ratio**2 < _NOTHING)

    def _tables(self, alpha: float) -> Iterator[Fault]:
        """The same for each table as a whole."""
        for number in range(len(self.names)):
            squares, count = (sum(part(run[number]) for run in self.drawn) for part in (_energy, len))
            if float(special.gammainc(count / 2, squares / 2)) < alpha / len(self.names):
                ratio = math.sqrt(squares / count)
                words = f"{self._name(number)} has {ratio:.3g} times the promised noise"
                yield Fault(words, bare=ratio**2 < _NOTHING)
                return

    def _sums(self, alpha: float) -> Iterator[Fault]:
        """Sums with signs vary as much as the cells do, if these are independent, however large the noise is."""
        last = len(self.names)
        spans = [(number, number + 1) for number in range(last)]
        spans += [(self.rounds.index(each), last - self.rounds[::-1].index(each)) for each in set(self.rounds)]
        spans.append((0, last))
        widest = max(sum(map(len, run)) for run in self.drawn)
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (_CONTRASTS, widest))
        signs[0] = 1.0
        for first, end in spans:
            summed, rest, freedom = np.zeros(_CONTRASTS), np.zeros(_CONTRASTS), 0
            for run in self.drawn:
                cells = np.concatenate(run[first:end])
                along = (signs[:, : len(cells)] @ cells) ** 2 / len(cells)
                summed, rest = summed + along, rest + _energy(cells) - along
                freedom += len(cells) - 1
            if freedom == 0 or not (summed + rest).all():  # single cells, or no noise at all
                continue
            part = summed / (summed + rest)
            shape = len(self.drawn) / 2, freedom / 2
            chance = 2 * np.minimum(special.betainc(*shape, part), special.betaincc(*shape, part))
            if chance.min() < alpha / (_CONTRASTS * len(spans)):
                where = self._name(first) if end == first + 1 else "a whole round"
                alike = bool((rest < _NOTHING * summed).any() or (summed < _NOTHING * rest).any())
                yield Fault(f"the noise in {where} is not independent from cell to cell", bare=alike)
                return

    def _alike(self, alpha: float) -> Iterator[Fault]:
        """No two cells have noise that goes together."""
        chance, closeness = _closest(self._matrix().T)
        if chance < alpha:
            words = f"the noise of two cells goes together (correlation {closeness:.3g})"
            yield Fault(words, bare=closeness > 1 - _NOTHING)

    def _stale(self, alpha: float) -> Iterator[Fault]:
        """No two releases have noise that goes together, not even of two tables."""
        chance, closeness = _closest(self._matrix())
        if chance < alpha:
            words = (
                f"the noise of two releases is not independent (correlation {closeness:.3g}), so it can be subtracted"
            )
            yield Fault(words, bare=closeness > 1 - _NOTHING)

    def _aligned(self, number: int) -> dict[str, Floats]:
        """A table's noise, one row for each release. Where tables differ in size: their first cells, and their last."""
        parts = [run[number] for run in self.drawn]
        sizes = {len(part) for part in parts}
        least = min(sizes)
        first = {"first": np.array([part[:least] for part in parts])}
        return first if len(sizes) == 1 else first | {"last": np.array([part[-least:] for part in parts])}

    def _matrix(self) -> Floats:
        """One row for each release, one column for each cell that all have."""
        whole = np.concatenate([self._aligned(number)["first"] for number in range(len(self.names))], axis=1)
        if whole.shape[1] <= _MOST_COMPARED:
            return whole
        return whole[:, np.linspace(0, whole.shape[1] - 1, _MOST_COMPARED).astype(int)]

    def _name(self, number: int) -> str:
        return f"table {self.names[number]} of round {self.rounds[number] + 1}"


def _energy(values: Floats) -> float:
    return float(values @ values)


def _closest(rows: Floats) -> tuple[float, float]:
    """The largest correlation of any two rows, and the chance that it is so large if all are independent normals."""
    count, length = rows.shape
    if count < 2 or length < 3:
        return 1.0, 0.0
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms > 0, norms, 1.0)
    largest = 0.0
    for start in range(0, count, _CHUNK):
        chunk = np.abs(unit[start : start + _CHUNK] @ unit[start:].T)
        np.fill_diagonal(chunk, 0.0)
        largest = max(largest, float(chunk.max()))
    largest = min(1.0, largest)
    chance = float(special.betaincc(0.5, (length - 1) / 2, largest**2)) * count * (count - 1) / 2
    return min(1.0, chance), largest
