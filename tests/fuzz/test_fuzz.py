"""Hostile inputs end by success or by an error of the product's own, never otherwise.

The same engine runs more of them: python -m benchmarks.fuzz.
"""

from pathlib import Path
from random import Random

import pytest
from benchmarks.fuzz import engine
from benchmarks.fuzz.__main__ import table
from benchmarks.fuzz.kinds import KINDS
from benchmarks.fuzz.mutation import damaged, garbled


def test_two_hundred_hostile_inputs() -> None:
    tally = engine.run(200, seed=15)
    assert tally.failures == []
    assert set(tally.counts) == set(KINDS)
    for kind, counts in tally.counts.items():  # a suite that never gets past the door tests the door only
        assert counts["refused"] > 0, kind
        assert counts["accepted"] > 0, kind
    assert f"{200:8,}" in table(tally)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_is_the_same_for_the_same_seed(kind: str, tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        KINDS[kind].attempt(3, 5, tmp_path / name)
        paths = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        found.append([(path.relative_to(tmp_path / name), path.read_bytes()) for path in paths])
    if kind in ("release", "model", "command"):  # made from a release, whose noise has no seed
        found = [[path for path, _ in each] for each in found]
    assert found[0] == found[1]


def test_damage_is_damage() -> None:
    rng = Random(1)
    assert sum(damaged(b"0123456789" * 10, rng) != b"0123456789" * 10 for _ in range(100)) > 60
    assert sum(garbled("0123456789" * 10, rng) != "0123456789" * 10 for _ in range(100)) > 60


DEATHS = {
    "segfault": ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    "endless": ("while True: pass", "killed by SIGPROF"),
    "memory": ("x = bytearray(50 << 30)", "MemoryError"),
    "error": ("1 / 0", "ZeroDivisionError"),
    "exit": ("import os; os._exit(3)", "the process ended with 3"),
}


def test_every_death_is_seen_and_the_next_input_is_tried(tmp_path: Path) -> None:
    """A worker with kinds that do what the product never may."""
    codes = {name: code for name, (code, _) in DEATHS.items()} | {"good": "pass"}
    worker = engine.Worker(
        f"""
from benchmarks.fuzz import worker
from benchmarks.fuzz.kind import Kind
kinds = {{n: Kind(n, lambda rng, folder, code=code: lambda: exec(code)) for n, code in {codes!r}.items()}}
worker.main(kinds, lambda: None, seconds=1.0)
"""
    )
    with worker:
        for death, (_, why) in DEATHS.items():
            ended, found = worker.ask(death, 0, 0, tmp_path)
            assert (ended, why in found) == ("failed", True), (death, found)
            assert worker.ask("good", 0, 0, tmp_path) == ("accepted", "")
