"""Condition: what the rows of a sample must have in common, such as `{"sex": "F", "age": (30, 40)}`.

A generator draws levels, and the decoder draws a number inside its bin. So a condition has two sides: the share of
every level that meets it, by which the generator's distribution is conditioned, and the parts of a bin that meet it,
from which the number is then drawn. Both are exact: they follow the decoder's rule for the inside of a bin.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import UsageError
from pointillist.schema.given_syntax import select
from pointillist.schema.kinds.bounded import on_grid
from pointillist.schema.level_values import beside_specials, numbers
from pointillist.schema.levels import Levels
from pointillist.schema.selection import Selection

Floats = NDArray[np.float64]
Codes = Mapping[str, NDArray[np.uint16]]
_REDRAWS = 20
"""How often a number is drawn again that rounding carried out of its range."""
_MOST_CLASSES = 1000


@dataclass(frozen=True, eq=False)
class Pieces:
    """Parts of a column's bins, as positions from 0 to 1 inside their bin, in order."""

    bins: NDArray[np.int64]
    start: Floats
    end: Floats

    @cached_property
    def _ends(self) -> Floats:
        """The pieces laid end to end: where each begins, and where the last ends."""
        return np.concatenate([[0.0], np.cumsum(self.end - self.start)])

    def shares(self, count: int) -> Floats:
        """How much of each of `count` bins the pieces cover."""
        return np.minimum(np.bincount(self.bins, weights=self.end - self.start, minlength=count), 1.0)

    def draw(self, bins: NDArray[Any], generator: np.random.Generator) -> Floats:
        """A position for every bin number, even over the bin's pieces; any position where it has none."""
        first, last = np.searchsorted(self.bins, bins, side="left"), np.searchsorted(self.bins, bins, side="right")
        spread = generator.random(len(bins))
        if len(self.bins) == 0:
            return spread
        low, high = self._ends[first], self._ends[last]
        point = low + spread * (high - low)
        piece = np.searchsorted(self._ends, point, side="right") - 1
        piece = np.clip(piece, first, np.maximum(last - 1, first)).clip(0, len(self.bins) - 1)
        inside = np.clip(self.start[piece] + (point - self._ends[piece]), self.start[piece], self.end[piece])
        return np.where(last > first, inside, spread)


@dataclass(frozen=True, eq=False)
class Cut:
    """A selection of a column's values, in terms of its levels."""

    levels: Levels
    selection: Selection

    @cached_property
    def ranges(self) -> tuple[tuple[float, float], ...]:
        """The selected ranges of a numeric column, as numbers."""
        number = self.levels.column.number_of
        return tuple((number(low), number(high)) for low, high in self.selection.ranges)

    @cached_property
    def shares(self) -> Floats:
        """The probability that a row of each level has a selected value."""
        levels, found = self.levels, np.zeros(self.levels.size)
        if levels.numeric:
            found[: levels.regular] = self.pieces.shares(levels.regular)
            found[levels.regular : levels.other] = self._in_ranges(np.array(levels.specials))
        else:
            places = {value: place for place, value in enumerate(levels.categories)}
            for value in self.selection.values:
                found[places.get(value, levels.other)] = 1.0  # what is no category is the label of unlisted values
            if levels.column.unlisted_is_missing:
                found[levels.other] = float(self.selection.missing)  # such a value is written as a gap
        if levels.has_missing:
            found[levels.missing] = float(self.selection.missing)
        return found

    @property
    def divides(self) -> bool:
        """Whether some bin is neither all in nor all out, so that its numbers must be drawn with care."""
        return self.levels.numeric and bool(((self.shares > 0) & (self.shares < 1)).any())

    @cached_property
    def pieces(self) -> Pieces:
        """The parts of the bins from which selected values are decoded."""
        listed = self.levels.column.listed
        if len(listed):  # a level is one number, and all in or all out
            bins = np.flatnonzero(self._in_ranges(listed))
            return Pieces(bins, np.zeros(len(bins)), np.ones(len(bins)))
        parts = [_covered(self.levels, *_undecoded(self.levels, low, high)) for low, high in self.ranges]
        bins, start, end = _joined(parts)
        for low, high, becomes in _moved(self.levels):
            at, away_from, away_to = _covered(self.levels, low, high)
            outside_from, outside_to = np.ones((2, self.levels.regular))
            outside_from[at], outside_to[at] = away_from, away_to
            before = bins, start, np.minimum(end, outside_from[bins])
            after = bins, np.maximum(start, outside_to[bins]), end
            whole = ~np.isin(bins, at)
            kept = [(b[~whole], s[~whole], e[~whole]) for b, s, e in (before, after)]
            if self._in_ranges(np.array([becomes]))[0]:
                kept.append((at, away_from, away_to))
            bins, start, end = _joined([(bins[whole], start[whole], end[whole]), *kept])
        return Pieces(bins, start, end)

    def holds(self, codes: NDArray[np.uint16], values: Floats | None = None) -> NDArray[np.bool_]:
        """Which rows have a selected value; of a numeric column `values` are its numbers."""
        if values is None:
            return self.shares[codes] > 0
        found = self._in_ranges(values)
        if self.levels.has_missing:
            found = np.where(codes == self.levels.missing, self.selection.missing, found)
        return found

    def numbers(self, codes: NDArray[np.uint16], generator: np.random.Generator) -> Floats:
        """Selected numbers for levels that have some."""
        found = numbers(self.levels, codes, self.pieces.draw(codes, generator))
        for _ in range(_REDRAWS):
            stray = np.flatnonzero(~self.holds(codes, found))
            if len(stray) == 0:
                break
            found[stray] = numbers(self.levels, codes[stray], self.pieces.draw(codes[stray], generator))
        return found

    def _in_ranges(self, values: Floats) -> NDArray[np.bool_]:
        found = np.zeros(len(values), dtype=bool)
        for low, high in self.ranges:
            found |= (values >= low) & (values <= high)
        return found


_Parts = tuple[NDArray[np.int64], Floats, Floats]


def _undecoded(levels: Levels, low: float, high: float) -> tuple[float, float]:
    """From where to where a number must be drawn so that it lies in a range once it is made whole, or rounded."""
    digits = levels.column.digits
    start, end = low, high
    if digits is not None:
        start, end = on_grid(low, high, digits)
        half = 0.5 * 10.0**-digits
        start, end = (start, end + 1) if levels.whole else (start - half, end + half)
    # What is rounded to beyond a bound is moved to the bound.
    return (levels.edges[0] if low <= levels.bounds[0] else start), (
        levels.edges[-1] if high >= levels.bounds[1] else end
    )


def _moved(levels: Levels) -> list[tuple[float, float, float]]:
    """Where numbers are drawn that would become a special value, and which number they become instead."""
    found = []
    for special in levels.specials:
        if not levels.edges[0] <= special <= levels.bounds[1]:
            continue
        if levels.whole:
            place = int(np.searchsorted(levels.edges, special, side="right")) - 1
            low, high = levels.edges[place : place + 2]
            becomes = beside_specials(np.array([special]), low, high, levels.specials)[0]
            found.append((special, special + 1, float(becomes)))
        elif (digits := levels.column.digits) is not None and on_grid(special, special, digits)[0] == special:
            step = 10.0**-digits
            becomes = np.clip(np.round(special + step, digits), *levels.bounds)
            found.append((special - step / 2, special + step / 2, float(becomes)))
    return found


def _covered(levels: Levels, start: float, end: float) -> _Parts:
    """The parts of the bins between two numbers, by the decoder's rule for the inside of a bin."""
    curve = levels.column.curve
    if levels.column.scale == "log":
        start, end = np.maximum([start, end], np.finfo(float).tiny)
    low, high, ends = curve.bend(levels.edges[:-1]), curve.bend(levels.edges[1:]), curve.bend(np.array([start, end]))
    first, last = (np.clip((each - low) / (high - low), 0, 1) for each in ends)
    if len(levels.values):  # a bin of one number is all in or all out
        first, last = np.round(first), np.round(last)
    bins = np.flatnonzero(last > first)
    return bins, first[bins], last[bins]


def _joined(parts: list[_Parts]) -> _Parts:
    """Parts in order, without those that are empty."""
    if not parts:
        return np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)
    bins, start, end = (np.concatenate(each) for each in zip(*parts, strict=True))
    kept = np.flatnonzero(end > start)
    order = kept[np.lexsort((start[kept], bins[kept]))]
    return bins[order], start[order], end[order]


@dataclass(frozen=True, eq=False)
class Condition:
    """Cuts of some columns, all of which must hold."""

    cuts: Mapping[str, Cut]

    @classmethod
    def of(cls, levels: tuple[Levels, ...], given: Mapping[str, Any]) -> Self:
        """Understand what a caller asks for; what makes no sense for a column is refused."""
        if not isinstance(given, Mapping):
            raise UsageError(f'given must map columns to values, such as {{"sex": "F"}}, not {type(given).__name__}.')
        known = {each.name: each for each in levels}
        for name in given:
            if name not in known:
                raise UsageError(f"given: {name!r} is not a column of the model. Columns: {', '.join(known)}.")
        try:
            chosen = {name: select(name, known[name].column, written) for name, written in given.items()}
        except ValueError as error:
            raise UsageError(f"given: {error}.") from None
        return cls({name: Cut(known[name], selection) for name, selection in chosen.items()})

    def __str__(self) -> str:
        return ", ".join(f"{name} = {cut.selection}" for name, cut in self.cuts.items())

    @cached_property
    def shares(self) -> dict[str, Floats]:
        """For each column the probability that a row of each level meets the condition."""
        return {name: cut.shares for name, cut in self.cuts.items()}

    def met(self, codes: Codes, count: int) -> NDArray[np.bool_]:
        """Which of `count` rows have levels that can meet the condition."""
        found = np.ones(count, dtype=bool)
        for name, shares in self.shares.items():
            found &= shares[codes[name]] > 0
        return found

    def numbers(self, codes: Codes, generator: np.random.Generator) -> dict[str, Floats]:
        """Numbers that meet the condition, for the columns whose bins it divides."""
        return {name: cut.numbers(codes[name], generator) for name, cut in self.cuts.items() if cut.divides}

    def by_class(self, levels: Levels) -> list[Self]:
        """This condition split by the classes of a column: its values, without what is missing."""
        cut = self.cuts.get(levels.name)
        classes = [each for each in _classes(levels) if cut is None or cut.selection.includes(each)]
        return [type(self)({**self.cuts, levels.name: Cut(levels, each)}) for each in classes]


def _classes(levels: Levels) -> list[Selection]:
    """Every value of a column but missing ones."""
    values = levels.column.every_value(_MOST_CLASSES)
    if not values or (not levels.numeric and levels.regular > _MOST_CLASSES):
        raise UsageError(
            f"balance: column {levels.name!r} is {levels.column.kind} and has no classes to balance. Name a categorical, "
            f"ordinal, boolean or integer column with at most {_MOST_CLASSES:,} values."
        )
    return [levels.column.parse(value) for value in values]
