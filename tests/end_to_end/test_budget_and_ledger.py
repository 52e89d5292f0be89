"""Budgets that promise nothing, caps, and ledgers that cannot be used."""

import contextlib
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fixtures.command_line import (
    PERSON,
    Run,
    outside,
    refused,
    refused_free,
    release_args,
    schema_text,
    spends,
    synth_args,
    write,
)

from pointillist.curator import releasing
from pointillist.privacy.ledger import Ledger
from pointillist.release import Release


@pytest.mark.parametrize("command", ["release", "plan", "synth", "cap"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("epsilon", v) for v in ("0", "-1", "nan", "inf", "-inf")]
    + [("delta", v) for v in ("0", "1", "2", "-0.1", "nan")],
)
def test_a_budget_that_promises_nothing_is_refused(
    run: Run, table: Path, command: str, option: str, value: str
) -> None:
    args: list[object] = {
        "release": release_args(),
        "plan": release_args("--plan"),
        "synth": synth_args(),
        "cap": ["ledger", "cap", "people", "--epsilon", 1],
    }[command]
    rule = "epsilon must be a number above 0" if option == "epsilon" else "delta must lie between 0 and 1"
    refused_free(run, [*args, f"--{option}", value], 5, rule, str(float(value)))
    assert not Ledger().path.exists()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-9", "1e-9"), ("1", "1e-300"), ("1e-300", "1e-5"), ("1e9", "1e-5"), ("1e308", "0.5")]
)
def test_a_budget_that_no_noise_can_keep_is_refused(run: Run, table: Path, epsilon: str, delta: str) -> None:
    outcome = refused_free(run, release_args("--epsilon", epsilon, "--delta", delta), 5, "Error: ")
    assert re.search(r"Choose|choices", outcome.shown)


def test_a_release_over_the_cap_is_refused(run: Run, table: Path) -> None:
    assert run("ledger", "cap", "people", "--epsilon", 1.5, "--quiet").code == 0
    words = ("'people'", "over its cap of ε = 1.5", "smaller epsilon", "pointillist ledger cap people")
    refused_free(run, release_args("--epsilon", 2), 5, *words, "spent so far: ε = 0")
    refused_free(run, synth_args("--epsilon", 2), 5, *words)
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    refused(run, release_args("--epsilon", 1.4), 5, *words, "spent so far: ε = 1")
    assert len(spends()) == 1
    assert run("ledger", "cap", "people", "--epsilon", 3, "--quiet").code == 0
    assert run(*release_args("--quiet")).code == 0
    assert len(spends()) == 2


def test_a_cap_equal_to_the_budget_admits_it(run: Run, table: Path) -> None:
    assert run("ledger", "cap", "people", "--epsilon", 1, "--quiet").code == 0
    assert run(*release_args("--quiet")).code == 0
    assert len(spends()) == 1


def test_the_default_cap_holds_where_none_was_set(run: Run, table: Path) -> None:
    refused_free(run, release_args("--epsilon", 11), 5, "over its cap of ε = 10")


def test_two_kinds_of_neighbours_do_not_share_an_account(run: Run, table: Path) -> None:
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    words = ("'people'", "add-remove", "replace-one", "Use --neighbours add-remove")
    refused(run, release_args("--neighbours", "replace-one"), 5, *words)
    assert len(spends()) == 1


def test_two_privacy_units_do_not_share_an_account(run: Run, table: Path) -> None:
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    write("people.toml", schema_text(top=PERSON))
    refused(run, release_args(), 5, "'people'", "another privacy unit", "person settings")
    assert len(spends()) == 1


@pytest.mark.parametrize(
    "args",
    [release_args(), synth_args(), ["ledger"], ["ledger", "--json"], ["ledger", "cap", "people", "--epsilon", 1]],
    ids=["release", "synth", "ledger", "json", "cap"],
)
@pytest.mark.parametrize("damage", ["garbage", "folder"])
def test_a_ledger_that_cannot_be_used_is_refused(run: Run, table: Path, args: list[object], damage: str) -> None:
    ledger = Ledger().path
    ledger.parent.mkdir()
    if damage == "garbage":
        write(ledger, "this is no ledger " * 500)
    else:
        ledger.mkdir()
    words = "cannot be used" if damage == "garbage" else "is a folder"
    assert "nother" not in refused(run, args, 5, str(ledger), f"the ledger {words}").err
    assert ledger.is_dir() or ledger.read_text() == "this is no ledger " * 500


def test_a_database_that_is_no_ledger_is_refused(run: Run, table: Path) -> None:
    ledger = Ledger().path
    ledger.parent.mkdir()
    with contextlib.closing(sqlite3.connect(ledger)) as db:
        db.execute("CREATE TABLE account (dataset TEXT, colour TEXT)")
        db.commit()
    refused(run, release_args(), 5, str(ledger), "the ledger is another program's database", "backup")


@pytest.mark.parametrize("name", [":memory:", "file:ledger.sqlite"])
@pytest.mark.parametrize("args", [release_args, lambda *a: ["ledger", *a]], ids=["release", "ledger"])
def test_a_ledger_that_is_no_file_is_refused(
    run: Run, table: Path, args: Callable[..., list[object]], name: str
) -> None:
    refused_free(run, args("--ledger", name), 2, name, "name a plain file")


def test_a_ledger_that_is_a_loop_is_refused(run: Run, table: Path) -> None:
    Path("loop").symlink_to("loop")
    refused_free(run, release_args("--ledger", "loop"), 5, "loop: the ledger cannot be used")


FULL = """
import resource
from pointillist.files import container as artefact
whole = artefact.Pending.commit
def commit(self, content):
    whole(self, content)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
artefact.Pending.commit = commit
"""


def test_a_disk_that_fills_up_behind_the_release(table: Path) -> None:
    outcome = outside(*release_args(), before=FULL)
    assert outcome.code == 5
    for words in ("safe in people.release", "ε = 1, δ = 1e-5 was spent on 'people', and counts", "cannot be used"):
        assert words in outcome.shown
    assert "rollback" not in outcome.shown
    assert [spend.release for spend in spends()] == [Release.load("people.release").id]


def test_a_ledger_that_breaks_after_the_spend_is_not_called_unspent(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise was drawn and a release written: whatever the message says, it may not say that nothing was spent."""
    whole, ledger = releasing.add_noise, Ledger().path

    def spoil(*args: Any, **options: Any) -> Any:
        write(ledger, "this is no ledger " * 500)
        return whole(*args, **options)

    monkeypatch.setattr(releasing, "add_noise", spoil)
    outcome = run(*release_args())
    assert outcome.code == 5
    assert str(ledger) in outcome.shown
    assert "Nothing was spent" not in outcome.shown
