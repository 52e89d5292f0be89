"""`pointillist plan`: the file that several owners follow."""

import json
from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, refused_free, schema_text, spends, write

import pointillist as pt

PLAN: list[object] = ["plan", "people.toml", "--epsilon", 1, "--owners", 3, "-o", "people.plan"]


@pytest.fixture(autouse=True)
def small(at_work: Path) -> Path:
    return write("people.toml", schema_text())


def test_a_plan_touches_no_data_and_spends_nothing(run: Run) -> None:
    shown = run(*PLAN).shown
    made = pt.SharedPlan.load("people.plan")
    assert (made.owners.count, made.owners.trust, made.owners.colluding) == (3, "nobody", 0)
    assert "Promise: ε = 1" in shown
    assert "It is made by 3 owners who pool no rows and trust nobody" in shown
    assert "Next: every owner: pointillist contribute DATA --plan people.plan" in shown
    assert spends() == []


def test_masks_ask_owners_to_join(run: Run) -> None:
    shown = run(*PLAN, "--trust", "sum", "--colluding", 0, "--set", "most_tiles=8").shown
    made = pt.SharedPlan.load("people.plan")
    assert (made.owners.trust, made.owners.colluding) == ("sum", 0)
    assert made.plan.options["most_tiles"] == 8
    assert "Next: every owner: pointillist join people.plan" in shown


def test_facts_for_a_program(run: Run) -> None:
    told = json.loads(run(*PLAN, "--json").out)
    assert told["plan"] == "people.plan"
    assert (told["round"], told["of"], told["needs_keys"]) == (1, 3, False)
    assert told["guarantee"]["owners"] == {"count": 3, "trust": "nobody", "colluding": 0}
    assert run(*PLAN, "--overwrite", "--quiet").out == ""


REFUSED: list[tuple[list[object], int, str]] = [
    (["--owners", 1], 2, "owners must be a whole number from 2"),
    (["--trust", "friends"], 2, "Choose nobody or sum"),
    (["--colluding", 1], 2, "colluding must be"),
    (["--epsilon", 0], 5, "epsilon must be"),
    (["--target", "shoes"], 3, "shoes"),
    (["--method", "magic"], 2, "not known for tables"),
    (["-o", "people.toml"], 2, "would be written over"),
    (["-o", "none/people.plan"], 6, "folder does not exist"),
]


def test_plans_that_are_refused(run: Run) -> None:
    for options, code, word in REFUSED:
        refused_free(run, [*PLAN, *options], code, word)


def test_facts_from_one_owners_data_are_shown_before_they_go_to_all(run: Run) -> None:
    write("people.toml", schema_text(age='kind = "integer"\nmin = 0\nmax = 97\nread_from_data = ["max"]'))
    refused_free(run, PLAN, 3, "read from the data", "--yes")
    assert run(*PLAN, "--yes").code == 0


def test_a_draft_is_refused(run: Run) -> None:
    write("people.toml", schema_text(top="reviewed = false"))
    refused_free(run, PLAN, 3, "reviewed")
