"""Record and replay of histories: a whole person is added, removed or replaced, however many rows she has."""

import pytest
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import room
from recording.tables import Row
from recording.verdict import verify
from test_tables import COLUMNS, GAPS, NAMES, ODD, RELATIONS, row

import pointillist as pt


def schema(order: str | None, most: int) -> pt.Schema:
    facts = {name: column.model_copy(update={"of": "person"}) for name, column in COLUMNS.items() if name == "sex"}
    person = pt.Person(column="who", max_rows=most, order=order, persons=6)
    return pt.Schema(name="people", rows=20, columns={**COLUMNS, **facts}, person=person)


def persons(neighbours: str) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """One with more rows than are used, ties and odd values; one with gaps everywhere, also in the order."""
    ones = (row(77, "odd"), ODD, {**ODD, "age": 7}, row(78, "odd"), row(78, "odd"), row(80, "odd"))
    others = (GAPS, row(50, "gaps"), {**GAPS, "age": -1})
    return (ones, ()) if neighbours == "add-remove" else (ones, others)


@pytest.mark.parametrize("source", ["csv", "pandas", "parquet"])
@pytest.mark.parametrize("neighbours", RELATIONS)
def test_a_person_moves_the_sums_by_no_more_than_one_weight(neighbours: str, source: str) -> None:
    order = {"csv": "seen", "pandas": None, "parquet": "income"}[source]
    rest = tuple(row(number, f"person {number // 3}") for number in range(12))
    case = Case(schema(order, 4), NAMES, source, "chronicle", neighbours)
    with room() as place:
        share = verify(
            case.works(Pair(rest, *persons(neighbours), place=3)), place, FrozenNoise(loudness=1), watched=True
        )
    assert share > 0.01
