"""A full disk: nothing is left behind, and nothing is spent that brought no release."""

from pathlib import Path

from tests.fixtures.command_line import (
    Made,
    Run,
    largest_file,
    outside,
    refused_free,
    release_args,
    snapshot,
    spends,
    synth_args,
)

from pointillist.privacy.ledger import State


def test_release_on_a_full_disk_is_refused_before_anything_is_spent(table: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))"
    files = snapshot()
    outcome = outside(*release_args(), before=limit)
    assert outcome.code == 6
    for words in ("people.release", "cannot be written", "File too large", "needs 0.", "Free some space"):
        assert words in outcome.shown
    assert snapshot() == files
    assert spends() == []


def test_sample_on_a_full_disk_leaves_nothing(run: Run, made: Made) -> None:
    with largest_file(100_000):
        refused_free(run, ["sample", "people.model", "-o", "made.csv", "-n", 20_000], 6, "made.csv", "Free some space")


def test_draft_on_a_full_disk_leaves_nothing(run: Run, table: Path) -> None:
    with largest_file(500):
        refused_free(run, ["schema", "draft", table, "-o", "draft.toml"], 6, "draft.toml", "Free some space")


def test_fit_on_a_full_disk_says_how_much_it_needs(run: Run, made: Made) -> None:
    with largest_file(1000):
        outcome = refused_free(run, ["fit", "people.release", "-o", "new.model"], 6, "new.model", "Free some space")
    assert "0.0 MB" not in outcome.shown


def test_synth_keeps_the_release_if_the_table_does_not_fit(run: Run, table: Path) -> None:
    with largest_file(600_000):
        outcome = run(*synth_args("-n", 60_000))
    assert outcome.code == 6
    for words in ("made.csv", "Free some space", "The release is safe in made.release", "pointillist fit made.release"):
        assert words in outcome.shown
    assert {path.name for path in Path().iterdir()} == {"people.csv", "people.toml", "made.release"}
    assert [spend.state for spend in spends()] == [State.DONE]
    assert run("fit", "made.release", "-o", "people.model", "--quiet").code == 0
