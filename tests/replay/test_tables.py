"""Record and replay: whole releases of neighbouring tables, by every method, from every kind of source."""

import datetime as dt
from unittest.mock import patch

import pytest
from recording import outcome
from recording.cases import METHODS, Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import play, room
from recording.tables import KEPT, SELECTED, WHOLE, Row
from recording.verdict import verify

import pointillist as pt

COLUMNS = {
    "sex": pt.Categorical(categories=("f", "m")),
    "age": pt.Integer(min=0, max=99, bins=12, special=(-1,)),
    "income": pt.Real(min=1, max=1e6, scale="log", bins=8, special=(0.0,)),
    "member": pt.Boolean(),
    "seen": pt.Datetime(min="2020-01-01", max="2025-12-31", bins=8),
    "note": pt.Ignore(),
}
NAMES = (*COLUMNS, "who", KEPT)
RELATIONS = ("add-remove", "replace-one")
PERSONS = (None, 1, 3)
"""The most rows of a person; none if every row is a person."""


def row(number: int, who: object = None, kept: bool = True) -> Row:
    """An ordinary row."""
    return {
        "sex": "fm"[number % 2],
        "age": (number * 37) % 100,
        "income": float(number % 3 and 10 ** (number % 6)),
        "member": number % 3 == 0,
        "seen": dt.date(2020 + number % 6, 1 + number % 12, 1),
        "note": f"note {number}",
        "who": who if who is not None else f"person {number // 2}",
        KEPT: kept,
    }


ODD: Row = {
    "sex": "unheard of", "age": 4_000_000_000, "income": float("-inf"), "member": None, "seen": dt.date(1492, 10, 12),
    "note": None, "who": "odd", KEPT: True,
}  # fmt: skip
GAPS: Row = dict.fromkeys(COLUMNS) | {"who": "gaps", KEPT: False}


def schema(persons: int | None) -> pt.Schema:
    person = None if persons is None else pt.Person(column="who", max_rows=persons)
    return pt.Schema(name="people", rows=20, columns=COLUMNS, person=person)


def pair(neighbours: str, persons: int | None, number: int) -> Pair:
    """Among eleven rows: one is added or removed, or replaced by another. Of a person, more than are used."""
    rest = tuple(row(i, kept=i % 4 > 0) for i in range(11))
    ones = (row(77, "odd"), ODD, {**ODD, "age": 7}, row(78, "odd"))
    others = (GAPS, row(50, "gaps"), row(51, "gaps"), {**GAPS, "age": -1})
    first, second = (ones[:1], others[:1]) if persons is None else (ones, others)
    if neighbours == "add-remove":
        first, second = ((), second) if number % 2 else (first, ())
    return Pair(rest, first, second, place=number % 12)


@pytest.mark.parametrize("source", WHOLE)
@pytest.mark.parametrize("method", ["mosaic", "merf", "hermite", "landmarks", "reduced-set"])
def test_every_method_from_every_source(method: str, source: str) -> None:
    """Relations take turns: the one a method has with a source, it has not with the next. Now and then by person: where
    people are capped, all sources and methods meet in one place."""
    turn = [*METHODS].index(method) + [*WHOLE].index(source)
    check(method, source, RELATIONS[turn % 2], PERSONS[1 + turn % 2] if turn % 3 == 0 else None, turn)


@pytest.mark.parametrize("persons", PERSONS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_for_every_unit(method: str, persons: int | None) -> None:
    for number, neighbours in enumerate(RELATIONS):
        check(method, "pandas", neighbours, persons, number)


@pytest.mark.parametrize("persons", [None, 3])
@pytest.mark.parametrize("source", SELECTED)
def test_selections_do_not_show_how_many_rows_they_have(source: str, persons: int | None) -> None:
    for number, neighbours in enumerate(RELATIONS):
        check("mosaic", source, neighbours, persons, number)


@pytest.mark.parametrize("method", [*METHODS])
def test_a_row_does_not_change_how_thousands_of_others_are_added_up(method: str) -> None:
    """In long batches the order of additions, and how loops are unrolled, may depend on how many rows there are."""
    rest = tuple(row(number) for number in range(1_500))
    case = Case(schema(None), NAMES, "pyarrow table", method, target="sex")
    with room() as place, patch.object(outcome, "_FEW", 1 << 16):
        verify(case.works(Pair(rest, (), (ODD,), 700)), place, FrozenNoise(), watched=False)


REFUSED: dict[str, tuple[pt.Schema, Row, str]] = {
    "unlisted": (
        pt.Schema(name="strict", columns={"sex": pt.Categorical(categories=("f", "m"), out_of_domain="error")}),
        {"sex": "Zebedee"},
        "Zebedee",
    ),
    "outside": (
        pt.Schema(name="strict", columns={"age": pt.Integer(min=0, max=99, out_of_domain="error")}),
        {"age": 271828},
        "271828",
    ),
    "missing": (pt.Schema(name="strict", columns={"member": pt.Boolean(missing=False)}), {"member": None}, "None"),
    "no number": (pt.Schema(name="strict", columns={"age": pt.Integer(min=0, max=99)}), {"age": "Zebedee"}, "Zebedee"),
    "no person": (
        pt.Schema(name="strict", columns={"sex": COLUMNS["sex"]}, person=pt.Person(column="who", max_rows=1)),
        {"who": 2.5},
        "2.5",
    ),
}


@pytest.mark.parametrize("source", ["csv", "parquet", "pandas", "polars", "duckdb relation", "query on csv"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_shows_no_value_spends_nothing_and_leaves_nothing(name: str, source: str) -> None:
    """A rule that stops at a row tells whoever runs it that there is such a row: docs/explanation/privacy.md
    says so. No more."""
    strict, odd, value = REFUSED[name]
    case = Case(strict, NAMES, source, texts=frozenset(["age"] if name == "no number" else []))
    number = {"who": 1.0} if name == "no person" else {}
    with room() as place:
        found = play(
            case.works(Pair((row(0) | number,), (), (row(1) | odd,))).second, place, FrozenNoise(), watched=False
        )
    if found.outcome.error is None:  # in a file of texts, or a column of them, a person may be called 2.5
        assert name == "no person"
        return
    assert found.outcome.error.startswith("DataError")
    assert value not in found.outcome.error
    assert (found.outcome.ledger, found.outcome.left, found.outcome.printed) == ((), (), "")
    assert found.tape.sums == []


def check(method: str, source: str, neighbours: str, persons: int | None, turn: int) -> None:
    case = Case(schema(persons), NAMES, source, method, neighbours, target="sex")
    with room() as place:
        share = verify(
            case.works(pair(neighbours, persons, turn)), place, FrozenNoise(loudness=turn % 2), watched=turn % 3 == 0
        )
    assert share > 0.01  # or else the pair would show nothing
