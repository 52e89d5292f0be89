"""Steps: the rows of persons, each drawn by what its person is and by the row before it.

A mixture of records says how likely each of its components is, given what is known of a row already: the person's own
facts, how many rows she has, what they usually are, the row before, and when this one comes. The component that is drawn
then says what else the row has. Ordered columns of rows with the same component exchange values to follow their trends.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pointillist.generators.base import Drawn
from pointillist.generators.drawing import draw, draw_levels
from pointillist.generators.mixture.mixture import Mixture
from pointillist.records import Records
from pointillist.schema.history import COUNT, PLACE, History, level_of
from pointillist.schema.level_values import numbers
from pointillist.schema.levels import Levels

Floats = NDArray[np.float64]
Codes = NDArray[np.uint16]
Integers = NDArray[np.int64]

_LEAST = 1e-12
"""What a component that cannot make a value is taken to make it with: noise should not rule a row out."""


@dataclass(frozen=True, eq=False)
class Clock:
    """Where persons stand in what orders their rows."""

    levels: Levels
    tick: float

    def begin(self, codes: Codes, rng: np.random.Generator) -> Floats:
        """Numbers for first levels; NaN where there is none."""
        found = (
            codes.astype(np.float64) if not self.levels.numeric else numbers(self.levels, codes, rng.random(len(codes)))
        )
        return np.where(codes == self.levels.missing, np.nan, found) if self.levels.has_missing else found

    def move(self, now: Floats, ticks: Floats) -> Floats:
        """So many ticks further on, and no further than the last value there is."""
        return np.minimum(self.rounded(now + ticks * self.tick), self.last)

    def room(self, now: Floats) -> Floats:
        """How many places for rows come after each value: ticks, or values where the schema lists them."""
        if len(self._listed):
            return np.asarray(len(self._listed) - 1.0 - np.searchsorted(self._listed, now), dtype=np.float64)
        return np.floor(np.asarray((self.last - now) / self.tick + 1e-9, dtype=np.float64))

    def latest(self, rows: Integers) -> Floats:
        """The last value after which so many rows find a place, each at its own."""
        if len(self._listed):
            return np.asarray(self._listed[np.maximum(len(self._listed) - 1 - rows, 0)])
        return np.maximum(self.last - rows * self.tick, self.lowest)

    @property
    def lowest(self) -> float:
        return float(self.levels.column.extremes[0] if self.levels.numeric else 0)

    @property
    def last(self) -> float:
        return float(self.levels.column.extremes[1] if self.levels.numeric else self.levels.regular - 1)

    def rounded(self, values: Floats) -> Floats:
        """The nearest that the column can have."""
        if len(self._listed):
            known = np.where(np.isnan(values), self._listed[0], values)
            return np.where(np.isnan(values), np.nan, self._listed[level_of(self.levels, known)])
        digits = self.levels.column.digits if self.levels.numeric else 0
        return values if digits is None else np.round(values, digits)

    def possible(self, values: Floats) -> NDArray[np.bool_]:
        """Which values the column can have, where the schema lists them: surveys are not held every year."""
        return np.isin(values, self._listed) if len(self._listed) else np.ones(values.shape, dtype=np.bool_)

    @property
    def _listed(self) -> Floats:
        return np.asarray(self.levels.column.listed) if self.levels.numeric else np.empty(0)

    def codes(self, now: Floats) -> Codes:
        """The levels of numbers."""
        known = np.minimum(np.where(np.isnan(now), self.lowest, now), self.last)
        found = level_of(self.levels, known) if self.levels.numeric else known.astype(np.uint16)
        return np.where(np.isnan(now), self.levels.missing, found).astype(np.uint16)


class Steps:
    """Draws rows by a mixture of records."""

    def __init__(self, history: History, mixture: Mixture):
        self.history, self.mixture = history, mixture
        self._columns = list(mixture.tiles)
        self._free = np.array([self._columns.index(each.name) for each in history.rows])

    @cached_property
    def _logs(self) -> dict[str, NDArray[np.float32]]:
        """For each column the logarithms of its components' tiles, tile by tile."""
        tables = self.mixture.tables.items()
        return {name: np.ascontiguousarray(np.log(np.maximum(table, _LEAST)).T, np.float32) for name, table in tables}

    def draw(self, people: Records, rng: np.random.Generator, before: int = 0) -> Drawn:
        """The rows of persons; `before` is how many persons came before these."""
        history = self.history
        counts = numbers(history.counts[0], people.codes[COUNT], rng.random(people.rows)).astype(np.int64)
        order, self._now = np.argsort(-counts, kind="stable"), np.zeros(0)
        counts = counts[order]
        people = people.part(order)
        own = np.log(np.maximum(self.mixture.weights, _LEAST)).astype(np.float32) + np.zeros(
            (people.rows, 1), np.float32
        )
        for each in history.of_person:
            own += self._likely(each.name, people.codes[each.name])
        found: list[dict[str, Codes]] = []
        times: list[Floats] = []
        lagged: dict[str, Codes] = {}
        for place in range(1, int(counts.max(initial=0)) + 1):
            active = int(np.searchsorted(-counts, -place, side="right"))  # those with the most rows stand first
            codes = {each.name: people.codes[each.name][:active] for each in history.of_person}
            codes |= {name: values[:active] for name, values in lagged.items()} or self._none(active)
            row = self._row(place, codes, own[:active].copy(), counts[:active] - place, rng)
            times.append(self._now)
            found.append(row)
            lagged = {
                copy.levels.name: copy.table[row[each.name]].astype(np.uint16)
                for each, copy in zip(history.rows, history.before, strict=True)
            }
        return self._joined(people, counts, found, times, order, before)

    def _none(self, count: int) -> dict[str, Codes]:
        """What the row before the first has."""
        return {each.levels.name: np.full(count, each.none, dtype=np.uint16) for each in self.history.before}

    def _likely(self, name: str, codes: Codes) -> NDArray[np.float32]:
        """How likely each component makes these levels, as logarithms; rows x components."""
        return self._logs[name][self.mixture.tiles[name].table[codes]]

    def _row(
        self,
        place: int,
        codes: dict[str, Codes],
        likely: NDArray[np.float32],
        left: Integers,
        rng: np.random.Generator,
    ) -> dict[str, Codes]:
        """The next row of persons of whom `codes` has what is known, and who have so many left after it."""
        for each in self.history.before:
            likely += self._likely(each.levels.name, codes[each.levels.name])
        if self.history.order is not None:
            codes |= self._time(place, codes, likely, left, rng)
        component = _chosen(likely, rng)
        tiles = np.empty((len(component), len(self._columns)), dtype=np.int32)
        for number, name in enumerate(self._columns):
            known = name in codes
            own = (
                self.mixture.tiles[name].table[codes[name]]
                if known
                else draw(self.mixture.tables[name], component, rng)
            )
            tiles[:, number] = own
        trends, places = self.mixture.trends, dict[int, Floats]()
        if trends is not None:
            trends.exchange(tiles, component, rng, self._free)
            places = trends.places(tiles, rng)
        drawn = {
            name: draw_levels(self.mixture.tiles[name], self.mixture.within[name], tiles[:, at], rng, places.get(at))
            for at, name in zip(self._free.tolist(), (each.name for each in self.history.rows), strict=True)
        }
        return drawn | ({} if self.history.order is None else {self.history.order.name: codes[self.history.order.name]})

    def _time(
        self,
        place: int,
        codes: dict[str, Codes],
        likely: NDArray[np.float32],
        left: Integers,
        rng: np.random.Generator,
    ) -> dict[str, Codes]:
        """When the row comes: as its person begins, or so much later than the row before; `likely` is told of it."""
        history, active = self.history, len(likely)
        assert history.order is not None
        assert history.gap is not None
        assert history.first is not None
        clock = Clock(history.order, history.ticks[0])
        found = {PLACE: np.full(active, level_of(history.counts[1], np.array([place]))[0])}
        likely += self._likely(PLACE, found[PLACE])
        if place == 1:
            begun = clock.begin(codes[history.first.name], rng)
            self._now = np.minimum(begun, clock.latest(left))  # each of the rows to come should find a place
            found[history.gap.name] = np.full(active, history.gap.missing, dtype=np.uint16)
        else:
            component = _chosen(likely, rng)
            gaps, ticks = self._gaps(clock, component, self._now[:active], left, rng)
            later = clock.move(self._now[:active], ticks)
            unlinked = (gaps == history.gap.missing) | np.isnan(self._now[:active])
            self._now = np.where(unlinked, self._anew(clock, component, rng), later)
            found[history.gap.name] = gaps
        found[history.order.name] = clock.codes(self._now)
        for name in (history.gap.name, history.order.name):
            likely += self._likely(name, found[name])
        return found

    def _gaps(
        self, clock: Clock, component: Integers, now: Floats, left: Integers, rng: np.random.Generator
    ) -> tuple[Codes, Floats]:
        """Levels of gaps, and gaps in ticks, by how likely they are and how likely a row comes then.

        A gap leaves room for the rows that are left. That there is none is only drawn where rows may lack what orders them.
        """
        gap, name = self.history.gap, clock.levels.name
        assert gap is not None
        every = np.arange(gap.size, dtype=np.uint16)
        ticks = numbers(gap, np.tile(every, len(now)), rng.random(len(now) * gap.size)).reshape(len(now), gap.size)
        own = self._levels(gap.name)[component]
        later = now[:, None] + ticks * clock.tick
        then = clock.codes(later.ravel()).reshape(ticks.shape)
        own = own * np.maximum(np.take_along_axis(self._levels(name)[component], then.astype(np.intp), axis=1), _LEAST)
        fits = (clock.room(later) >= left[:, None]) & clock.possible(later)
        own = np.where(fits | np.isnan(now)[:, None], own, 0.0)
        own[:, gap.missing] = self._levels(gap.name)[component, gap.missing] if clock.levels.has_missing else 0.0
        ends = np.cumsum(own, axis=1)
        stuck = ends[:, -1] <= 0
        chosen = (ends <= rng.random((len(now), 1)) * ends[:, -1:]).sum(axis=1)
        chosen = np.where(stuck, level_of(gap, np.ones(len(now), dtype=np.int64)), np.minimum(chosen, gap.size - 1))
        return chosen.astype(np.uint16), ticks[np.arange(len(now)), chosen]

    def _levels(self, name: str) -> Floats:
        """For each component the probabilities of a column's levels."""
        tiles = self.mixture.tiles[name]
        return np.asarray(self.mixture.tables[name][:, tiles.table] * self.mixture.within[name])

    def _anew(self, clock: Clock, component: Integers, rng: np.random.Generator) -> Floats:
        """What orders rows, for persons of whom no row before says where they stand."""
        name = clock.levels.name
        tiles = self.mixture.tiles[name]
        tile = draw(self.mixture.tables[name], component, rng)
        return clock.begin(draw_levels(tiles, self.mixture.within[name], tile, rng), rng)

    def _joined(
        self,
        people: Records,
        counts: Integers,
        found: list[dict[str, Codes]],
        times: list[Floats],
        order: NDArray[np.intp],
        before: int,
    ) -> Drawn:
        """Rows that were drawn place by place, person by person."""
        total = int(counts.sum())
        sizes = [len(next(iter(row.values()))) for row in found]
        person = np.concatenate([np.arange(size) for size in sizes]) if found else np.zeros(0, dtype=np.int64)
        place = np.repeat(np.arange(len(sizes)), sizes)
        by_person = np.lexsort((place, order[person]))
        owner = person[by_person]
        history = self.history
        codes = {each.name: people.codes[each.name][owner] for each in history.facts}
        rows = [each.name for each in history.rows] + ([] if history.order is None else [history.order.name])
        for name in rows:
            parts = [row[name] for row in found]
            codes[name] = np.concatenate(parts)[by_person] if parts else np.zeros(0, dtype=np.uint16)
        settled = {}
        if history.order is not None and history.order.numeric:
            now = np.concatenate(times)[by_person] if times else np.zeros(0)
            settled[history.order.name] = np.where(np.isnan(now), history.order.bounds[0], now)
        return Drawn(Records(total, codes, {}), settled, before + order[owner])


def _chosen(likely: NDArray[np.float32], rng: np.random.Generator) -> Integers:
    """A component for each row, by their likelihoods, which are logarithms."""
    chances = np.exp(likely - likely.max(axis=1, keepdims=True))
    ends = np.cumsum(chances, axis=1, dtype=np.float64)
    points = rng.random((len(likely), 1)) * ends[:, -1:]
    return np.minimum((ends < points).sum(axis=1), likely.shape[1] - 1).astype(np.int64)
