"""`pointillist demo`."""

from pathlib import Path

import pytest
from tests.fixtures.command_line import Outcome, Run, write

from pointillist.demo import steps
from pointillist.privacy.ledger import Ledger


@pytest.fixture
def small_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo on few people, to be quick."""
    whole = steps.simulate
    monkeypatch.setattr(steps, "simulate", lambda rows=400, seed=1: whole(400, seed))


@pytest.mark.usefixtures("small_registry")
def test_demo_leaves_its_files_and_says_how_good_it_is(run: Run) -> None:
    outcome = run("demo", "show")
    assert outcome.code == 0
    names = {"people.csv", "people.toml", "people.release", "people.model", "synthetic.csv", "ledger.sqlite"}
    names |= {"card.html", "report.html", ".pointillist-demo"}
    assert {path.name for path in Path("show").iterdir()} == names
    for words in ("Synthetic against real", "chronic", "report.html", "owner's eyes", "show/people.csv"):
        assert words in outcome.shown
    assert not Ledger().path.exists()  # the demo keeps a ledger of its own
    (account,) = Ledger("show/ledger.sqlite").accounts()
    assert len(account.spends) == 1
    assert run("inspect", "show/people.release").code == 0


def test_demo_never_replaces_what_it_did_not_make(run: Run) -> None:
    Path("mine").mkdir()
    write("mine/people.csv", "mine")
    outcome = run("demo", "mine")
    assert outcome.code == 2
    assert "mine: is not empty, and not from a demo" in outcome.shown
    assert Path("mine/people.csv").read_text() == "mine"


@pytest.mark.usefixtures("small_registry")
def test_demo_can_be_run_again_and_quietly(run: Run) -> None:
    assert run("demo", "--quiet") == Outcome(0, "", "")
    write("demo/ledger.sqlite", b"left over")
    assert run("demo", "--quiet") == Outcome(0, "", "")
    assert len(Ledger("demo/ledger.sqlite").accounts()[0].spends) == 1
