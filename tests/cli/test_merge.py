"""`pointillist merge`: from keys to a release, over all rounds."""

import json
from pathlib import Path

import pytest
from tests.fixtures.command_line import HEADER, Run, refused, rows, schema_text, spends, write

import pointillist as pt

SMALL = {
    "age": 'kind = "integer"\nmin = 0\nmax = 120\nbins = 4',
    "pay": 'kind = "real"\nmin = 0\nmax = 5000\nbins = 4',
}


@pytest.fixture(autouse=True)
def small(at_work: Path) -> None:
    write("people.toml", schema_text(**SMALL))
    for owner in (1, 2, 3):
        write(f"{owner}.csv", HEADER + rows(40 * owner))


def contribute(run: Run, plan: str, *options: object, keys: bool = False) -> list[object]:
    """Every owner's part of a round."""
    files: list[object] = [f"{owner}.{plan}.part" for owner in (1, 2, 3)]
    for owner, file in enumerate(files, 1):
        key = ["--key", f"{owner}.key"] if keys else []
        outcome = run("contribute", f"{owner}.csv", "--plan", plan, "--owner", owner, "-o", file, "-q", *key, *options)
        assert outcome.code == 0, outcome
    return files


def test_the_whole_way_with_masks(run: Run) -> None:
    run("plan", "people.toml", "--epsilon", 1, "--owners", 3, "--trust", "sum", "-o", "people.plan", "-q")
    for owner in (1, 2, 3):
        run("join", "people.plan", "--owner", owner, "-o", f"{owner}.join", "-q")
    keyed = run("merge", "1.join", "2.join", "3.join", "--plan", "people.plan", "-o", "round1")
    fingerprint = pt.SharedPlan.load("round1").fingerprint
    assert f"for the owners to compare: {fingerprint}" in keyed.shown
    assert fingerprint in run("inspect", "round1").shown
    assert json.loads(run("inspect", "round1", "--json").out)["fingerprint"] == fingerprint
    parts = contribute(run, "round1", "--agreed", fingerprint, keys=True)
    shown = run("merge", *parts, "--plan", "round1", "-o", "round2").shown
    assert "Round 2 of 3 comes next. Its plan is written to round2." in shown
    parts = contribute(run, "round2", keys=True)
    assert json.loads(run("merge", *parts, "--plan", "round2", "-o", "round3", "--json").out)["round"] == 3
    parts = contribute(run, "round3", keys=True)
    refused(run, ["merge", *parts[:2], "--plan", "round3", "-o", "people.release"], 2, "owner 3 sent is missing")
    refused(run, ["merge", *parts, parts[0], "--plan", "round3", "-o", "people.release"], 6, "Every owner counts once")
    shown = run("merge", *parts, "--plan", "round3", "-o", "people.release").shown
    assert "differentially private" in shown
    assert "not its collector" in shown
    assert "Next: pointillist fit people.release" in shown
    assert "3 owners" in run("inspect", "people.release").shown
    assert len(spends()) == 9
    assert sum(each.epsilon for each in spends()) == 3
    assert run("fit", "people.release", "-o", "people.model", "--set", "steps=10", "-q").code == 0


def test_an_owner_who_never_came(run: Run) -> None:
    run("plan", "people.toml", "--epsilon", 1, "--owners", 3, "-o", "people.plan", "-q")
    parts = contribute(run, "people.plan")
    merge: list[object] = ["merge", *parts[:2], "--plan", "people.plan", "-o", "round2"]
    refused(run, merge, 2, "owner 3 sent is missing (2 of 3 are here)", "--without 3")
    assert run(*merge, "--without", 3).code == 0
    assert "Without owner 3" in run("inspect", "round2").shown
    told = json.loads(run(*merge, "--without", 3, "--overwrite", "--json").out)
    assert told["absent"] == [3]


def test_files_that_are_none_of_it(run: Run) -> None:
    run("plan", "people.toml", "--epsilon", 1, "--owners", 3, "-o", "people.plan", "-q")
    merge: list[object] = ["--plan", "people.plan", "-o", "round2"]
    refused(run, ["merge", "none.part", *merge], 6, "none.part: no such file")
    refused(run, ["merge", "1.csv", *merge], 6, "1.csv: not a pointillist file")
    refused(run, ["merge", "people.plan", *merge], 6, "is a plan file, where a part file is needed")
    refused(run, ["merge", "1.csv", "--plan", "1.csv", "-o", "round2"], 6, "1.csv")
    refused(run, ["merge", "1.csv", "--plan", "people.plan", "-o", "people.plan"], 2, "would be written over")
