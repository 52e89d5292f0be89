"""Record and replay: choosing one of several public tables."""

from collections.abc import Callable

import pyarrow as pa
import pytest
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import Room, Work, room
from recording.tables import KEPT, Row, inserted
from recording.verdict import Leak, Works, verify

import pointillist as pt
from pointillist.curator import choosing
from pointillist.progress import Progress

COLUMNS = {"a": pt.Categorical(categories=("x", "y")), "b": pt.Integer(min=0, max=9, bins=5)}
CANDIDATES = [
    pa.table({"a": a, "b": b})
    for a, b in ((["x"] * 3, [1, 2, 3]), (["y", "x"], [9, 0]), (["y"], [5]), ([None, "z"], [0, 99]))
]


def rows(*values: tuple[object, object], who: str) -> tuple[Row, ...]:
    return tuple({"a": a, "b": b, "who": who, KEPT: True} for a, b in values)


REST = tuple(row for n in range(6) for row in rows(("xy"[n % 2], n), ("y", 9 - n), who=f"p{n}"))
ONE = rows(("y", 9), ("x", None), ("q", -1e300), who="one")
OTHER = rows((None, None), ("x", 0), who="other")


def works(pair: Pair, persons: int | None, neighbours: str, features: str) -> Works:
    person = None if persons is None else pt.Person(column="who", max_rows=persons)
    case = Case(pt.Schema(name="few", columns=COLUMNS, person=person), ("a", "b", "who", KEPT), "csv")

    def work(chosen: tuple[Row, ...]) -> Work:
        def opened(place: Room) -> Callable[[Progress], pt.Choice]:
            table = case.written(chosen, place)
            return lambda progress: pt.choose(
                table, case.schema, CANDIDATES, epsilon=1.0, neighbours=neighbours, features=features,
                ledger=place.ledger, threads=1,
            )  # fmt: skip

        return opened

    return Works(
        work(inserted(pair.rest, pair.first, pair.place)),
        work(inserted(pair.rest, pair.second, pair.place)),
        work(pair.first) if pair.first else None,
        work(pair.second) if pair.second else None,
    )


@pytest.mark.parametrize("persons", [None, 1, 3])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("features", ["columns", "pairs", "rows"])
def test_scores_of_neighbours_are_within_their_sensitivity(features: str, neighbours: str, persons: int | None) -> None:
    first, second = (ONE, OTHER) if persons else (ONE[:1], OTHER[:1])
    pair = Pair(REST, first, second if neighbours == "replace-one" else (), place=3)
    with room() as place:
        assert verify(works(pair, persons, neighbours, features), place, FrozenNoise()) > 0


def test_half_the_sensitivity_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row where there was none moves the score of a table that is nothing like it by all that a score can move."""
    alone = works(Pair((), (), ONE[:1]), None, "add-remove", "rows")
    with room() as place:
        assert verify(alone, place, FrozenNoise()) > 0.999
        honest = choosing.integer_sensitivity
        monkeypatch.setattr(choosing, "integer_sensitivity", lambda squared: honest(squared) // 2)
        with pytest.raises(Leak, match=r"differ by (2\.0000|1\.9999)"):
            verify(alone, place, FrozenNoise())
