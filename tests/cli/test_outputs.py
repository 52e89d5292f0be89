"""What commands write, and what they never write over."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.fixtures.command_line import (
    Made,
    Run,
    read,
    refused,
    refused_free,
    release_args,
    snapshot,
    spends,
    synth_args,
    write,
)


def test_files_replace_earlier_ones_whole_if_asked_to(run: Run, made: Made) -> None:
    write("made.csv", "x" * 1_000_000)
    assert run("sample", "people.model", "-o", "made.csv", "-n", 5, "--quiet", "--overwrite").code == 0
    assert read("made.csv").num_rows == 5


@pytest.mark.parametrize("command", ["draft", "release", "fit", "sample", "synth"])
def test_files_that_are_there_are_not_replaced_unasked(run: Run, table: Path, made: Made, command: str) -> None:
    """A release is paid for, and a schema may have been edited by hand."""
    write("kept.csv", "precious")
    spent = len(spends())
    refused(run, WRITERS[command]("kept.csv"), 2, "kept.csv", "is there already", "--overwrite")
    assert Path("kept.csv").read_text() == "precious"
    assert len(spends()) == spent


@pytest.mark.parametrize("name", ["made.xlsx", "made.csv.zip"])
def test_an_unknown_output_ending_is_refused(run: Run, table: Path, made: Made, name: str) -> None:
    words = (name, "ending is not known", ".csv.gz", ".parquet")
    refused_free(run, ["sample", "people.model", "-o", name], 2, *words)
    refused_free(run, synth_args("-o", name), 2, *words)


WRITERS: dict[str, Callable[[str], list[object]]] = {
    "draft": lambda path: ["schema", "draft", "people.csv", "-o", path],
    "release": lambda path: release_args("-o", path),
    "fit": lambda path: ["fit", "people.release", "-o", path],
    "sample": lambda path: ["sample", "people.model", "-o", path],
    "synth": lambda path: synth_args("-o", path),
    "synth-release": lambda path: synth_args("--release", path),
}


@pytest.mark.parametrize("command", WRITERS)
def test_an_output_folder_that_is_not_there_is_named(run: Run, table: Path, made: Made, command: str) -> None:
    path = "nowhere/made.csv"
    refused_free(run, WRITERS[command](path), 6, path, "cannot be written", "folder does not exist")


@pytest.mark.parametrize("command", WRITERS)
def test_an_output_that_is_a_folder_is_refused(run: Run, table: Path, made: Made, command: str) -> None:
    Path("folder.csv").mkdir()
    refused_free(run, WRITERS[command]("folder.csv"), 6, "folder.csv", "is a folder", "Name a file")


@pytest.mark.parametrize(
    "args",
    [
        ["schema", "draft", "people.csv", "-o", "people.csv"],
        release_args("-o", "people.csv"),
        release_args("-o", "people.toml"),
        ["fit", "people.release", "-o", "people.release"],
        synth_args("-o", "people.csv"),
        synth_args("--release", "made.csv"),
    ],
    ids=["draft-data", "release-data", "release-schema", "fit-release", "synth-data", "synth-release"],
)
def test_no_command_writes_over_what_it_reads_or_keeps(run: Run, table: Path, made: Made, args: list[object]) -> None:
    files = snapshot()
    outcome = run(*args)
    assert outcome.code == 2, outcome
    assert snapshot() == files
    assert spends() == []
