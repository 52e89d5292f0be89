"""How often intervals hold the private figure: error bars of synthetic data, and the receiver's."""

import tempfile
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.intervals import real
from benchmarks.intervals.__main__ import CONFIDENCE, SAMPLED, ask, release_one
from benchmarks.intervals.real_questions import real_questions
from benchmarks.intervals.real_tables import real_tables
from benchmarks.receiver import coverage as receiver
from pointillist.inference.uncertainty import uncertainty

from .claim import Band, Claim, Folder

RELEASES = 16
ROWS = 4_000
REAL = ("bfi", "diamonds", "flights")
Row = dict[str, Any]
_STORED = f"for {RELEASES} of the stored releases, less 4 standard deviations"


@cache
def _bars() -> tuple[Row, ...]:
    """Every question of the coverage bench at ε = 1."""
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(RELEASES):
            table, made = release_one(ROWS, 1.0, seed, Path(folder))
            found += ask(table, uncertainty(made, refits=10, confidence=CONFIDENCE, rows=SAMPLED, seed=seed))
    return tuple(found)


@cache
def _receiver(kind: str) -> tuple[Row, ...]:
    population = receiver.simulate(receiver.POPULATION // 4, 2_000_000)
    truth = {each.name: each.answer(population) for each in receiver.QUESTIONS}
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(RELEASES):
            found += receiver.ask(kind, 1.0, seed, ROWS, Path(folder) / f"{seed}.sqlite", truth)
    return tuple(row for row in found if not row["population"])


def _held(rows: Sequence[Row]) -> float:
    return sum(row["low"] <= row["truth"] <= row["high"] for row in rows) / len(rows)


def bars(bases: tuple[str, ...], _: Folder) -> float:
    return _held([row for row in _bars() if row["basis"] in bases])


def received(kind: str, _: Folder) -> float:
    return _held([row for row in _receiver(kind) if row["basis"] != "not measured"])


@cache
def _real(data: Folder) -> tuple[Row, ...]:
    """Some of the real tables that nothing was settled on, at ε = 1."""
    assert data is not None
    found: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for table in real_tables(data, "report", REAL):
            found += real.ask(real_questions(table), real.received(table, 1.0, Path(folder)))
    return tuple(found)


def on_real_tables(data: Folder) -> float:
    given = [row for row in _real(data) if row["low"] is not None]
    return sum(map(real.held, given)) / len(given)


def answered(data: Folder) -> float:
    return sum(row["low"] is not None for row in _real(data)) / len(_real(data))


CLAIMS = (
    *(
        Claim(
            f"error bars from {basis}: part of 95 % intervals that hold the private figure",
            "docs/explanation/intervals.md, How often they hold",
            band,
            partial(bars, bases),
        )
        for basis, bases, band in (
            ("measured", ("measured", "bounded"), Band(f"0.974 ± 0.015 {_STORED}", 0.914, 1.0)),
            ("refits", ("refits",), Band(f"0.973 ± 0.018 {_STORED}", 0.902, 1.0)),
        )
    ),
    *(
        Claim(
            f"receiver's intervals, {receiver.KINDS[kind]}: part that hold the private figure",
            "docs/explanation/intervals.md, How often they hold",
            band,
            partial(received, kind),
        )
        for kind, band in (
            ("public", Band(f"0.980 ± 0.012 {_STORED}", 0.930, 1.0)),
            ("mosaic", Band(f"0.971 ± 0.014 {_STORED}", 0.913, 1.0)),
        )
    ),
    *(
        Claim(
            f"receiver's intervals on real tables ({', '.join(REAL)}, ε = 1): {what}",
            "docs/explanation/intervals.md, How often they hold",
            band,
            measure,
            tuple(f"tables/{name}.parquet" for name in REAL),
        )
        for what, band, measure in (
            (
                "part that hold",
                Band("0.968 ± 0.017 for the stored releases, less 4 standard deviations", 0.90),
                on_real_tables,
            ),
            ("part of questions with one", Band("0.85 for the stored releases, and room for 0.1", 0.75), answered),
        )
    ),
)
