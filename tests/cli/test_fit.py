"""`pointillist fit`."""

from pathlib import Path

from tests.fixtures.command_line import Made, Run


def test_fit_is_the_same_for_the_same_seed(run: Run, made: Made) -> None:
    outcome = run("fit", "people.release", "-o", "again.model")
    assert outcome.code == 0
    assert "Next: pointillist sample again.model" in outcome.shown
    assert Path("again.model").read_bytes() == made.model
    assert run("fit", "people.release", "-o", "other.model", "--seed", 5, "--quiet").code == 0
    assert Path("other.model").read_bytes() != made.model


def test_fit_takes_another_generator_and_a_checkpoint(run: Run, made: Made) -> None:
    """A network for a mosaic release; a file that is no checkpoint is refused and kept, and nothing is written."""
    args = ["fit", "people.release", "--generator", "network", "--quiet"]
    assert run(*args, "--checkpoint", "state", "-o", "net.model").code == 0
    assert run("sample", "net.model", "-n", 5, "-o", "net.csv", "--quiet").code == 0
    before = Path("people.release").read_bytes()
    outcome = run(*args, "--checkpoint", "people.release", "-o", "other.model")
    assert outcome.code == 6
    assert "people.release" in outcome.err
    assert Path("people.release").read_bytes() == before
    assert not Path("other.model").exists()


def test_an_unknown_generator_is_refused_before_anything_is_spent(run: Run, table: Path) -> None:
    outcome = run(
        "synth", "people.csv", "--schema", "people.toml", "--epsilon", 1, "-o", "s.csv", "--generator", "nonsense"
    )
    assert outcome.code == 2
    assert "Known generators: mixture, network" in outcome.err
    assert not Path("s.release").exists()
