"""Cases: a whole release, or choice, of a pair of neighbouring tables in a kind of source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pointillist as pt
from pointillist.methods.base import Method
from pointillist.progress import Progress
from recording.outcome import Room, Work
from recording.tables import SOURCES, Row, Table, inserted
from recording.verdict import Works

METHODS: dict[str, Callable[[], Method]] = {
    "mosaic": lambda: pt.Mosaic(most_tiles=6),
    "merf": lambda: pt.Merf(features=12),
    "merf, own scales": lambda: pt.Merf(features=12, length_scales="marginals"),
    "hermite": lambda: pt.Hermite(order=5, product_order=3),
    "landmarks": lambda: pt.Landmarks(number=8, candidates=64),
    "reduced-set": lambda: pt.ReducedSet(features=12),
}
"""Every method for rows of tables, with few features, made afresh for each run: what it keeps must not be another's."""
OF_PERSONS: dict[str, Callable[[], Method]] = {"chronicle": lambda: pt.Chronicle(most_tiles=6)}
"""Methods for persons with histories."""


@dataclass(frozen=True)
class Pair:
    """Neighbours: rows that both have, the first's person among them and the second's."""

    rest: tuple[Row, ...]
    first: tuple[Row, ...]
    second: tuple[Row, ...]
    place: int = 0


@dataclass(frozen=True)
class Case:
    """What is done to both."""

    schema: pt.Schema
    columns: tuple[str, ...]
    """The tables' columns, in order."""
    source: str
    method: str = "mosaic"
    neighbours: str = "add-remove"
    epsilon: float = 1.0
    target: str | None = None
    texts: frozenset[str] = frozenset()
    mixed: frozenset[str] = frozenset()

    def plan(self) -> pt.Plan:
        return pt.plan(self.schema, **self._options())

    def works(self, pair: Pair) -> Works:
        def work(rows: tuple[Row, ...]) -> Work:
            return lambda place: self._release(rows, place)

        return Works(
            work(inserted(pair.rest, pair.first, pair.place)),
            work(inserted(pair.rest, pair.second, pair.place)),
            work(pair.first) if pair.first else None,
            work(pair.second) if pair.second else None,
        )

    def written(self, rows: tuple[Row, ...], place: Room) -> Any:
        """The rows as this case's kind of source."""
        return SOURCES[self.source](Table(self.columns, self.texts, self.mixed, rows), place.data)

    def _options(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "target": self.target,
            "neighbours": self.neighbours,
            "method": {**METHODS, **OF_PERSONS}[self.method](),
        }

    def _release(self, rows: tuple[Row, ...], place: Room) -> Callable[[Progress], pt.Release]:
        table = self.written(rows, place)
        return lambda progress: pt.release(
            table,
            self.schema,
            **self._options(),
            ledger=place.ledger,
            output=place.output,
            progress=progress,
            threads=1 + len(rows) % 2,
        )
