"""Facts that depend on the rows are found, however seldom they do."""

import datetime as dt
import hashlib
import itertools
import json
import math
import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

import pointillist as pt
from pointillist.evaluate.audit import Finding, Pipeline, audit
from pointillist.evaluate.audit.finding import ALARM
from pointillist.evaluate.audit.stated_facts import leaves, tells

Change = Callable[[pt.Release, Any], pt.Release]


def facts(schema: pt.Schema, change: Change, **options: Any) -> Finding:
    """What is found of releases that are changed after they were made."""

    def changed(table: Any, schema: pt.Schema, **settings: Any) -> pt.Release:
        return change(pt.release(table, schema, **settings), table)

    settings = {"epsilon": 1.0, "runs": 12, "attacks": ("white-box",), **options}
    return audit(None, schema, pipeline=Pipeline(release=changed), **settings).findings[0]


def digest(table: Any) -> str:
    return hashlib.sha256(repr(table.to_pylist()).encode()).hexdigest()


def test_an_honest_release_states_nothing_about_its_rows(slim: pt.Schema) -> None:
    """An alarm is false once in a million."""
    found = facts(slim, lambda release, table: release, runs=20)
    assert not found.violated
    assert found.sentence.startswith("Consistent: nothing to tell neighbours apart by. All 100 releases state the same")


def test_an_exact_row_count_in_most_runs_is_caught(slim: pt.Schema) -> None:
    """Nine of ten releases state it, in turn, and 24 of 40 would be enough."""
    calls = itertools.count()
    found = facts(
        slim,
        lambda release, table: replace(release, rows=table.num_rows if next(calls) % 10 else None),
        runs=40,
        epsilon=8.0,
    )
    assert found.violated
    assert "rows, in" in found.sentence
    assert 1.0 < found.epsilon < math.inf
    assert found.confidence == 0.95


def test_a_table_that_is_refused_in_most_runs_is_caught(slim: pt.Schema) -> None:
    """99 of 100 releases of nobody are refused, and 24 of 30 would be enough: fewer are once in ten million audits."""

    def fussy(release: pt.Release, table: Any) -> pt.Release:
        if table.num_rows == 0 and random.random() < 0.99:
            raise ValueError("no rows")
        return release

    found = facts(slim, fussy, runs=30)
    assert found.violated
    assert "refused" in found.sentence


def test_a_pair_that_is_always_refused_is_left_out(slim: pt.Schema) -> None:
    def large(table: Any, schema: pt.Schema, **settings: Any) -> pt.Release:
        if table.num_rows < 2:
            raise ValueError("too few rows")
        return pt.release(table, schema, **settings)

    found = audit(None, slim, epsilon=1.0, runs=10, attacks=("white-box",), pipeline=Pipeline(release=large))
    assert found.passed
    assert "1 of 3 pairs of neighbours were refused" in found.findings[1].sentence
    assert found.findings[1].measures["pairs_refused"] == 1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_an_id_that_is_a_hash_of_the_table_is_caught(slim: pt.Schema, neighbours: str) -> None:
    found = facts(slim, lambda release, table: replace(release, id=digest(table)), neighbours=neighbours)
    assert found.violated
    assert "ids repeat" in found.sentence


def test_an_id_with_a_part_that_depends_on_the_table_is_caught(slim: pt.Schema) -> None:
    """No two ids are alike, and their first four letters still tell the tables apart."""
    found = facts(slim, lambda release, table: replace(release, id=digest(table)[:4] + str(uuid.uuid4())), runs=25)
    assert found.violated
    assert "id." in found.sentence


@pytest.mark.parametrize(
    "created",
    [
        digest,
        lambda table: f"2020-01-01T00:00:{table.num_rows:02}+00:00",
        lambda table: dt.datetime.now(dt.UTC).replace(microsecond=table.num_rows + 1).isoformat(),
    ],
)
def test_a_time_that_is_not_the_time_is_caught(slim: pt.Schema, created: Callable[[Any], str]) -> None:
    found = facts(slim, lambda release, table: replace(release, created=created(table)))
    assert found.violated
    assert "the stated time" in found.sentence


def test_values_have_their_places() -> None:
    assert list(leaves({"a": [1, {"b": None}], "c": {}})) == [("a.0", "1"), ("a.1.b", "null"), ("c", "{}")]


def counted(*stated: tuple[Any, int]) -> Counter[str]:
    return Counter({json.dumps(facts): times for facts, times in stated})


def test_what_varies_in_the_same_way_on_both_sides_tells_nothing() -> None:
    seeds = [counted(*(({"seed": number + start, "rows": 3}, 1) for number in range(50))) for start in (0, 100)]
    assert tells(*seeds, ALARM) == []
    coins = counted(({"a": 1}, 30), ({"a": 2}, 20)), counted(({"a": 1}, 22), ({"a": 2}, 28))
    assert tells(*coins, ALARM) == []


def test_what_hides_behind_something_that_varies_is_found() -> None:
    sides = [counted(*(({"seed": n + start, "rows": start}, 1) for n in range(50))) for start in (0, 100)]
    assert [tell.place for tell in tells(*sides, ALARM)] == ["rows"]


def test_causes_come_before_effects() -> None:
    one, other = counted(({"plan": 1, "schema": {"max": 5}}, 10)), counted(({"plan": 2, "schema": {"max": 6}}, 10))
    assert [str(tell) for tell in tells(one, other, ALARM)] == ["schema.max", "plan"]
    assert all(tell.bound(1e-5, 0.05) == math.inf for tell in tells(one, other, ALARM))
