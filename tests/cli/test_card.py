"""`pointillist card`."""

from pathlib import Path

from tests.fixtures.command_line import Run

import pointillist as pt
from pointillist.pages.card_file import CardFile


def test_card(run: Run, judged: pt.Schema) -> None:
    outcome = run("card", "people.release", "-o", "card.md")
    assert outcome.code == 0
    assert "may be shared" in outcome.shown
    assert Path("card.md").read_text().startswith("# people: data card")
    assert run("card", "people.release", "-o", "card.md").code == 2
    assert run("card", "people.toml", "-o", "card.html").code == 6
    assert run("card", "people.release", "-o", "card.pdf").code == 2


def test_the_account_is_that_of_the_ledger_which_is_named(run: Run, judged: pt.Schema) -> None:
    """With and without --account; the user's own ledger knows nothing of this release."""
    made = ("release", "real.csv", "--schema", "people.toml", "--epsilon", "1", "--ledger", "named.sqlite")
    assert run(*made, "-o", "named.release").code == 0
    for number, options in enumerate((("--account", "--ledger", "named.sqlite"), ("--ledger", "named.sqlite"))):
        assert run("card", "named.release", *options, "-o", f"{number}.json").code == 0
        account = CardFile.load(f"{number}.json").facts["account"]
        assert [each["this"] for each in account["entries"]] == [True]
    refused = run("card", "named.release", "--account", "-o", "own.json")
    assert refused.code != 0
    assert "no spend for this release" in refused.shown
