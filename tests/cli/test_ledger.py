"""`pointillist ledger`."""

import json
from pathlib import Path

import pytest
from tests.fixtures.command_line import Run, release_args

from pointillist.privacy.ledger import Ledger


def test_ledger_shows_what_was_spent(run: Run, table: Path) -> None:
    empty = run("ledger")
    assert empty.code == 0
    assert "Nothing has been spent yet." in empty.shown
    assert not Ledger().path.exists()
    assert json.loads(run("ledger", "--json").out) == []
    assert run(*release_args("--quiet")).code == 0
    shown = run("ledger")
    assert shown.code == 0
    for words in ("people (add-remove, unit one row)", "mosaic", "done", "spent together: ε = 1 of 10 at δ = 1e-5"):
        assert words in shown.shown
    (account,) = json.loads(run("ledger", "--json").out)
    assert account["dataset"] == "people"
    assert account["cap"] == {"epsilon": 10.0, "delta": 1e-5}
    assert account["spent"] == pytest.approx(1.0)
    assert [spend["state"] for spend in account["spends"]] == ["done"]


def test_ledger_as_json_is_json_even_if_no_epsilon_is_large_enough(run: Run, table: Path) -> None:
    assert run(*release_args("--quiet")).code == 0
    assert run("ledger", "cap", "people", "--epsilon", 3, "--delta", "1e-300", "--quiet").code == 0

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    (account,) = json.loads(run("ledger", "--json").out, parse_constant=refuse)
    assert len(account["spends"]) == 1


def test_ledger_cap_sets_the_most_that_may_be_spent(run: Run) -> None:
    outcome = run("ledger", "cap", "people", "--epsilon", 3, "--delta", "1e-6")
    assert outcome.code == 0
    assert "The cap of people is now ε = 3 at δ = 1e-6." in outcome.shown
    (account,) = json.loads(run("ledger", "--json").out)
    assert account["cap"] == {"epsilon": 3.0, "delta": 1e-6}
    assert account["spends"] == []


def test_ledger_commands_work_on_the_ledger_they_are_given(run: Run) -> None:
    assert run("ledger", "--ledger", "mine.sqlite", "cap", "people", "--epsilon", 3, "--quiet").code == 0
    (account,) = json.loads(run("ledger", "--ledger", "mine.sqlite", "--json").out)
    assert account["cap"]["epsilon"] == 3.0
    assert not Ledger().path.exists()
