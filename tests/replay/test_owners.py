"""Record and replay: one owner's parts over all rounds, of neighbouring tables, with and without masks."""

import itertools
import math
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from recording.frozen import FrozenNoise, Tape
from tests.fixtures.owners import TABLES, Trio

import pointillist as pt

ODD = pa.table({"sex": ["neither"], "ward": ["nowhere"], "ill": [True]})
NEIGHBOURS = {
    "add-remove": (pa.concat_tables([TABLES[0], ODD]), TABLES[0]),
    "replace-one": (pa.concat_tables([TABLES[0], ODD]), pa.concat_tables([TABLES[0], TABLES[1].slice(0, 1)])),
}


def walk(trio: Trio, plan: pt.SharedPlan, table: pa.Table, noise: FrozenNoise, ledger: Path) -> tuple[Tape, list[Any]]:
    """All rounds of owner 1, with the others' parts as they come; what is seen of owner 1."""
    seen: list[Any] = []
    with noise.playing() as tape:
        state: pt.SharedPlan | pt.Release = plan
        while isinstance(state, pt.SharedPlan):
            steps: list[str] = []
            file = trio.part(
                state, 1, table=table, ledger=ledger, progress=lambda step, fraction, steps=steps: steps.append(step)
            )
            seen.append((file.read_bytes(), dict.fromkeys(steps)))
            others = [trio.part(state, owner) for owner in (2, 3)]
            state = pt.merge([file, *others], state)
    with closing(sqlite3.connect(ledger)) as book:
        lines = "\n".join(book.iterdump())
    seen.append(re.sub(r"\d{4}-\d\d-\d\dT[\d:+.]+", "then", lines))
    return tape, seen


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
@pytest.mark.parametrize("trust", ["nobody", "sum"])
def test_nothing_but_the_sums_of_one_owner_differs(trust: str, neighbours: str, tmp_path: Path) -> None:
    trio = Trio(tmp_path)
    plan = trio.plan(trust, neighbours=neighbours)
    keys = {file: file.read_bytes() for file in tmp_path.glob("*.key")}
    noise, found = FrozenNoise(), []
    for number, table in enumerate(NEIGHBOURS[neighbours]):
        for file, content in keys.items():  # as they were: the same masks, and the first run's rounds forgotten
            file.write_bytes(content)
        for file in tmp_path.glob("[23].sqlite"):
            file.unlink()
        found.append(walk(trio, plan, table, noise, tmp_path / f"own{number}.sqlite"))
    (first, seen), (second, again) = found
    assert seen == again
    assert first.scales == second.scales
    guarantee, owners, spent = plan.plan.guarantee, plan.owners, 0.0
    for number, place in enumerate(range(0, len(first.sums), 3)):  # of three owners, the first
        apart = first.sums[place] - second.sums[place]
        squared = sum(int(each) ** 2 for each in apart)
        counted = first.scales[place] * math.sqrt(owners.shares)
        assert math.sqrt(squared) <= counted * guarantee.mu * math.sqrt(plan.plan.rounds[number].share)
        spent += squared / counted**2
        for other in (1, 2):
            assert np.array_equal(first.sums[place + other], second.sums[place + other])
    assert 0 < spent <= guarantee.mu**2
    assert len(list(itertools.chain(first.sums))) == 9
