"""Record and replay: drafts by budget of neighbouring tables, under noise that falls once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise, Integers, Tape
from recording.outcome import Room, Run, Work, play, room
from recording.tables import KEPT, Row, inserted
from recording.verdict import differences

import pointillist as pt
from pointillist.curator import budget_drafting, releasing
from pointillist.progress import Progress

COLUMNS = ("a", "b", "day", "who", KEPT)
Named = list[tuple[list[Any], Integers]]


class FrozenDraft(FrozenNoise):
    """Noise that falls once on lists of known length, and values that are named once: the first run names all of its own."""

    def __init__(self) -> None:
        super().__init__(loudness=0.0)
        self.exact: list[Named] = []
        self._named: Named = []

    @contextmanager
    def playing(self) -> Iterator[Tape]:
        seen: Named = []

        def named(plan: Any, counts: Any, weight: int, numbers: bool) -> tuple[list[Any], Any]:
            seen.append(counts.values(numbers=numbers, least=1))
            if not self.exact:
                self._named.append(seen[-1])
            values, often = self._named[len(seen) - 1]
            return values, often.astype(float)

        with (
            super().playing() as tape,
            patch.object(budget_drafting, "named", named),
            patch.object(budget_drafting, "add_noise", releasing.add_noise),  # by now the harness's own
        ):
            yield tape
        self.exact.append(seen)


def rows(*values: tuple[Any, Any, Any], who: str) -> tuple[Row, ...]:
    return tuple({"a": a, "b": b, "day": day, "who": who, KEPT: True} for a, b, day in values)


REST = tuple(
    row for n in range(150) for row in rows(("xy"[n % 2], n, "2020-01-31"), ("y", 9, "2021-01-31"), who=f"p{n}")
)
ONE = rows(("only mine", 123_456, "1901-01-01"), ("x", None, None), ("y", 3, "2020-01-31"), who="one")
OTHER = rows((None, None, None), ("x", -4, "2020-01-31"), who="other")


def drafting(case: Case, neighbours: str, chosen: tuple[Row, ...]) -> Work:
    def opened(place: Room) -> Callable[[Progress], pt.Schema]:
        table = case.written(chosen, place)
        return lambda progress: pt.draft(
            table,
            name="few",
            person=case.schema.person,
            one_row_per_person=case.schema.person is None,
            epsilon=9.0,
            neighbours=neighbours,
            ledger=place.ledger,
        )

    return opened


@pytest.mark.parametrize(
    ("source", "neighbours", "persons"),
    [
        ("csv", "add-remove", None),
        ("csv", "replace-one", 2),
        ("parquet", "replace-one", None),
        ("pandas", "add-remove", 2),
        ("relation, filtered", "replace-one", 2),
    ],
)
def test_neighbours_differ_in_their_sums_alone(source: str, neighbours: str, persons: int | None) -> None:
    person = None if persons is None else pt.Person(column="who", max_rows=persons)
    case = Case(pt.Schema(name="few", columns={"a": pt.Boolean()}, person=person), COLUMNS, source)
    first, second = (ONE, OTHER) if persons else (ONE[:1], OTHER[:1])
    pair = Pair(REST, first, second if neighbours == "replace-one" else (), place=3)
    noise = FrozenDraft()
    with room() as place:
        runs = [
            play(drafting(case, neighbours, inserted(pair.rest, own, pair.place)), place, noise, watched=False)
            for own in (pair.first, pair.second)
        ]
    verify(runs, noise, neighbours, persons)


def verify(runs: list[Run], noise: FrozenDraft, neighbours: str, persons: int | None) -> None:
    """All that is let out is the same, and exact sums and values differ by what one unit can move, in integers."""
    one, other = runs
    assert one.outcome.error is None
    assert one.outcome.made is not None
    assert differences(one.outcome, other.outcome) == []
    sides = 2 if neighbours == "replace-one" else 1
    bound = sides * (persons or 1) ** 2 * 4**26
    apart = [(sums - theirs).astype(object) for sums, theirs in zip(one.tape.sums, other.tape.sums, strict=True)]
    assert 0 < int((apart[0] ** 2).sum()) <= bound  # the first round
    assert sum(int((each**2).sum()) for each in apart[1:]) <= bound  # bins
    first, second = noise.exact
    for (keys, often), (others, theirs) in zip(first, second, strict=True):
        counts, rest = dict(zip(keys, often, strict=True)), dict(zip(others, theirs, strict=True))
        moved = [abs(int(counts.get(key, 0)) - int(rest.get(key, 0))) for key in counts.keys() | rest.keys()]
        assert sum(each > 0 for each in moved) <= sides * (persons or 1)
        assert max(moved) <= (persons or 1)
