"""Leaks planted by hand: record and replay finds each of them, and nothing where nothing is planted."""

import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from recording import cases
from recording.cases import Case, Pair
from recording.frozen import FrozenNoise
from recording.outcome import room
from recording.tables import KEPT, Row
from recording.verdict import Leak, verify

import pointillist as pt
from pointillist.curator import capping, job, releasing
from pointillist.features import Concat, FeatureMap
from pointillist.plan import Plan
from pointillist.privacy.ledger import Ledger
from pointillist.reading import databases, frames
from pointillist.release import Measurement
from pointillist.schema.levels import levels_of

Plant = Callable[[pytest.MonkeyPatch], None]

COLUMNS = {"a": pt.Categorical(categories=("x", "y")), "b": pt.Real(min=0, max=8, bins=4), "c": pt.Boolean()}


def row(number: int, who: str | None = None, **other: Any) -> Row:
    return {
        "a": "xy"[number % 2],
        "b": number % 8,
        "c": number % 3 == 0,
        "who": who or f"p{number}",
        KEPT: True,
    } | other


REST = tuple(row(number) for number in range(7))
ADDED = Pair(REST, (), (row(1, b=1e9),), 3)
REPLACED = Pair(REST, (row(3, a="y", b=7, c=False, kept=True),), (row(2, a="x", b=0, c=True, kept=False),), 3)
PERSON = Pair(REST, (), tuple(row(1, "many") for _ in range(9)), 3)


def passing(then: Callable[[Any, int, Any], None]) -> Plant:
    """Do something with the exact sums, their number of rows and the way to report after every pass."""

    def plant(patches: pytest.MonkeyPatch) -> None:
        honest = releasing.embed

        def embed(*arguments: Any) -> tuple[Any, int]:
            sums, rows = honest(*arguments)
            then(sums, rows, arguments[-1])
            return sums, rows

        patches.setattr(releasing, "embed", embed)

    return plant


class Peeking(pt.Mosaic):
    """A method that has got hold of the exact sums."""

    seen: int = 0

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        honest = super().feature_map(plan, measured)
        return Concat(honest.parts[::-1]) if measured and Peeking.seen % 2 else honest


class Wandering(Peeking):
    """One that does the same in the end, but looks twice."""

    def feature_map(self, plan: Plan, measured: Sequence[Measurement]) -> FeatureMap:
        if Peeking.seen % 2:
            levels_of(plan.request.schema)
        return pt.Mosaic.feature_map(self, plan, measured)


def peeking(method: type[pt.Mosaic]) -> Plant:
    def plant(patches: pytest.MonkeyPatch) -> None:
        patches.setattr(Peeking, "seen", 0)
        passing(lambda sums, rows, report: patches.setattr(Peeking, "seen", rows))(patches)
        patches.setitem(cases.METHODS, "mosaic", method)

    return plant


def smaller(factor: int) -> Plant:
    """A sensitivity that is too small by a factor, squared."""

    def plant(patches: pytest.MonkeyPatch) -> None:
        planning = sys.modules[Plan.__module__]  # the package's `plan` is the function
        honest = planning.squared_sensitivity
        patches.setattr(planning, "squared_sensitivity", lambda *a, **k: honest(*a, **k) // factor)

    return plant


def less_noise(patches: pytest.MonkeyPatch) -> None:
    honest = Plan.sigma
    patches.setattr(Plan, "sigma", lambda self, number: honest(self, number) * 0.999)


def no_cap(patches: pytest.MonkeyPatch) -> None:
    honest = capping.capped
    patches.setattr(job, "capped", lambda b, e, person, o: honest(b, e, person.model_copy(update={"max_rows": 99}), o))


def own_bounds(patches: pytest.MonkeyPatch) -> None:
    """Numbers are divided by the largest of them, as if the schema had been read off the rows."""
    honest = frames.Frame._batch

    def batch(self: Any, part: Any, columns: list[str], schema: Any) -> pa.RecordBatch:
        found = honest(self, part, columns, schema)
        place = found.schema.names.index("b")
        scaled = pc.multiply(found["b"].cast(pa.float64()), 8 / (pc.max(found["b"]).as_py() or 1))
        return found.set_column(place, "b", scaled)

    patches.setattr(frames.Frame, "_batch", batch)


def counted_frame(patches: pytest.MonkeyPatch) -> None:
    honest = frames.Frame.__init__

    def start(self: Any, frame: Any) -> None:
        honest(self, frame)
        self.frame = f"pyarrow of {len(self.table)}"

    patches.setattr(frames.Frame, "__init__", start)


def counted_purpose(patches: pytest.MonkeyPatch) -> None:
    rows: list[int] = []
    passing(lambda sums, count, report: rows.append(count))(patches)
    honest = Ledger.record
    patches.setattr(
        Ledger,
        "record",
        lambda self, *spend, **rest: honest(self, *spend, **{**rest, "purpose": f"{rows[-1]}"}),
    )


def refusing(sums: Any, rows: int, report: Any) -> None:
    if rows % 2:
        raise pt.PointillistError("an odd number of rows")


PLANTS: dict[str, tuple[Plant, str, str, Pair, int | None, str]] = {
    "tiles follow the exact sums": (peeking(Peeking), "pyarrow table", "add-remove", ADDED, None, "measurements"),
    "calls follow the exact sums": (peeking(Wandering), "pyarrow table", "add-remove", ADDED, None, "calls"),
    "a selection says that it is whole": (
        lambda patches: patches.setattr(databases.Relation, "whole", True, raising=False),
        "relation, filtered", "replace-one", REPLACED, None, "rows = 8",
    ),
    "half the sensitivity": (smaller(4), "csv", "add-remove", ADDED, None, r"cost 4\.0"),
    "replaced rows taken for added ones": (smaller(2), "csv", "replace-one", REPLACED, None, r"cost 1\.[5-9]"),
    "a thousandth less noise": (less_noise, "csv", "add-remove", ADDED, None, r"cost 1\.002"),
    "people are not capped": (no_cap, "csv", "add-remove", PERSON, 3, r"cost 9\.0"),
    "bounds read off the rows": (own_bounds, "pyarrow table", "add-remove", ADDED, None, "others moved too"),
    "a fact beside the values": (counted_frame, "pandas", "add-remove", ADDED, None, "frame = pyarrow of"),
    "a purpose with a number of rows": (counted_purpose, "csv", "add-remove", ADDED, None, "ledger"),
    "a step with a number of rows": (
        passing(lambda sums, rows, report: report.func(f"{rows} rows", 1.0)), "csv", "add-remove", ADDED, None, "steps"
    ),
    "a line with a number of rows": (
        passing(lambda sums, rows, report: print(f"{rows} rows")), "csv", "add-remove", ADDED, None, "printed"
    ),
    "a warning with a number of rows": (
        passing(lambda sums, rows, report: warnings.warn(f"{rows} rows", stacklevel=2)),
        "csv", "add-remove", ADDED, None, "warned",
    ),
    "a file with a number of rows": (
        passing(lambda sums, rows, report: Path(tempfile.gettempdir(), f"{rows}").touch()),
        "csv", "add-remove", ADDED, None, "left",
    ),
    "a refusal that depends on others' rows": (passing(refusing), "csv", "add-remove", ADDED, None, "refused"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_leak_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, source, neighbours, pair, persons, told = PLANTS[name]
    person = None if persons is None else pt.Person(column="who", max_rows=persons)
    case = Case(
        pt.Schema(name="planted", columns=COLUMNS, person=person), (*COLUMNS, "who", KEPT), source, "mosaic", neighbours
    )
    with room() as place:
        verify(case.works(pair), place, FrozenNoise())
        plant(monkeypatch)
        with pytest.raises(Leak, match=told):
            verify(case.works(pair), place, FrozenNoise())
