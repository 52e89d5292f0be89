"""Record and replay: what the command line prints, writes and leaves behind."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

import pytest
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import Outcome, Room, play, room
from recording.tables import KEPT, Row, inserted
from recording.verdict import differences

import pointillist as pt
from pointillist.cli import console, main
from pointillist.progress import Progress

COLUMNS = {"a": pt.Categorical(categories=("x", "y")), "b": pt.Integer(min=0, max=9, bins=5), "c": pt.Boolean()}


def row(number: int, who: str | None = None) -> Row:
    return {"a": "xy"[number % 2], "b": number % 10, "c": number % 3 == 0, "who": who or f"p{number}", KEPT: True}


REST = tuple(row(number) for number in range(9))
ODD: Row = {"a": "unheard of", "b": -5e5, "c": None, "who": "odd", KEPT: False}
PAIRS = {
    "add-remove": Pair(REST, (), (ODD,), 4),
    "replace-one": Pair(REST, (row(77),), (ODD,), 4),
    "empty": Pair((), (), (ODD,)),
    "several rows": Pair(REST, (), (ODD, row(3, "odd"), row(3, "odd")), 2),
}


@pytest.mark.parametrize(
    "words", [(), ("--json",), ("--quiet",), ("--sql", f"SELECT * FROM source WHERE {KEPT} = 'true'")]
)
@pytest.mark.parametrize("name", PAIRS)
def test_the_same_is_printed_and_left(name: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    person = pt.Person(column="who", max_rows=2) if name == "several rows" else None
    schema = pt.Schema(name="few", columns=COLUMNS, person=person)
    neighbours = "replace-one" if name == "replace-one" else "add-remove"
    case = Case(schema, (*COLUMNS, "who", KEPT), "csv")
    pair, noise, found = PAIRS[name], FrozenNoise(), []
    monkeypatch.setenv("COLUMNS", "100")
    with room() as place:
        for own in (pair.first, pair.second):
            table = inserted(pair.rest, own, pair.place)
            found.append(play(_command(case, table, neighbours, words), place, noise, watched=False).outcome)
    first, second = (_without_bars(each) for each in found)
    assert first.made == b"0"
    assert first.file is not None
    assert differences(first, second) == []
    assert ("guarantee" in first.printed or "Plan" in first.printed) == ("--quiet" not in words)


def _command(
    case: Case, table: tuple[Row, ...], neighbours: str, words: tuple[str, ...]
) -> Callable[[Room], Callable[[Progress], int]]:
    def work(place: Room) -> Callable[[Progress], int]:
        path = case.written(table, place)
        toml = place.data / "schema.toml"
        toml.write_text(case.schema.to_toml())
        line = ["release", path, "--schema", toml, "--epsilon", 1, "--neighbours", neighbours, "--target", "a"]
        line += ["-o", place.output, "--ledger", place.ledger, *words]

        def call(progress: Progress) -> int:
            # The consoles hold on to the streams that were there when the library was loaded.
            with (
                patch.object(sys, "argv", ["pointillist", *map(str, line)]),
                patch.object(console.out, "_file", sys.stdout),
                patch.object(console.err, "_file", sys.stderr),
                patch.dict(os.environ, {"TMPDIR": str(place.scratch)}),
                pytest.raises(SystemExit) as ended,
            ):
                main()
            return int(ended.value.code or 0)

        return call

    return work


def _without_bars(outcome: Outcome) -> Outcome:
    """Progress bars count seconds; the number of rows read may show in them."""
    lines = outcome.printed.splitlines()
    return replace(outcome, printed="\n".join(line for line in lines if "━" not in line and "0:00:00" not in line))
