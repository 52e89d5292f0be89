"""`pointillist fit`."""

import json
from pathlib import Path

import pytest
import torch
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


def test_a_log_and_a_device(run: Run, made: Made) -> None:
    usual = ("fit", "people.release", "-o", "net.model", "--overwrite", "--quiet")
    args = [*usual, "--generator", "network", "--steps", 100]
    assert run(*args, "--device", "cpu", "--log", "fit.jsonl").code == 0
    lines = [json.loads(line) for line in Path("fit.jsonl").read_text().splitlines()]
    assert lines[0]["step"] == 50
    assert lines[-1]["step"] == 100 or lines[-1]["chi2"] <= lines[-1]["chi2_expected"]
    unknown = run(*args, "--device", "gpu")
    assert unknown.code == 2
    assert "Devices: auto, cpu, cuda, mps" in unknown.shown
    refused = run("fit", "people.release", "-o", "other.model", "--log", "none.jsonl")
    assert refused.code == 2
    assert "only networks write a log" in refused.shown
    assert not Path("other.model").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a card")
def test_a_card_that_is_not_here_spends_nothing(run: Run, table: Path) -> None:
    for arguments in (["--generator", "network"], []):
        usual = ("synth", "people.csv", "--schema", "people.toml", "--epsilon", 1, "-o", "s.csv")
        outcome = run(*usual, *arguments, "--device", "cuda")
        assert outcome.code == 2
        assert "cuda is not available here" in outcome.shown
        assert "Use --device cpu" in outcome.shown
        assert not Path("s.release").exists()
