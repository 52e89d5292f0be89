"""Options that commands share: what they refuse, and quiet."""

from pathlib import Path

import pytest
from tests.fixtures.command_line import COLUMNS, Made, Outcome, Run, refused_free, release_args, synth_args, write

from pointillist.privacy.ledger import Ledger


@pytest.mark.parametrize(
    "args",
    [
        ["schema", "draft", "people.csv", "-o", "draft.toml"],
        release_args(),
        release_args("--plan"),
        ["fit", "people.release", "-o", "new.model"],
        ["sample", "people.model", "-o", "new.csv"],
        synth_args(),
        ["ledger", "cap", "people", "--epsilon", "3"],
    ],
    ids=["draft", "release", "plan", "fit", "sample", "synth", "cap"],
)
def test_quiet_commands_print_nothing(run: Run, table: Path, made: Made, args: list[object]) -> None:
    replace = [] if args[0] in ("ledger", "demo") else ["--overwrite"]
    assert run(*args, *replace, "--quiet") == Outcome(0, "", "")
    assert run(*args, *replace, "-q") == Outcome(0, "", "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "magic"], ("method 'magic' is not known", "mosaic")),
        (["--neighbours", "both"], ("neighbours 'both' is not known", "add-remove or replace-one")),
        (["--delimiter", ""], ("delimiter must be one character",)),
        (["--delimiter", "ab"], ("delimiter must be one character",)),
        (["--epsilon", "much"], ("--epsilon", "valid number")),
        (["--colour", "red"], ("No such option", "--colour")),
    ],
    ids=["method", "neighbours", "no-delimiter", "long-delimiter", "epsilon", "option"],
)
def test_wrong_options_are_refused(run: Run, table: Path, options: list[object], words: tuple[str, ...]) -> None:
    refused_free(run, release_args(*options), 2, *words)
    refused_free(run, synth_args(*options), 2, *words)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("delimiter", ["§", "\0"], ids=["not-ascii", "zero"])
def test_a_delimiter_that_no_reader_takes_is_refused(run: Run, delimiter: str) -> None:
    write("one.csv", "age\n1\n2\n")
    write("one.toml", f'name = "one"\n[columns.age]\n{COLUMNS["age"]}\n')
    refused_free(run, release_args("--delimiter", delimiter, data="one.csv", schema="one.toml"), 2, "delimiter")


@pytest.mark.parametrize("missing", ["--schema", "--epsilon", "-o"])
def test_an_option_that_is_needed_is_named(run: Run, table: Path, missing: str) -> None:
    args = release_args()
    del args[args.index(missing) : args.index(missing) + 2]
    refused_free(run, args, 2, missing)


@pytest.mark.parametrize("command", ["fit", "sample", "synth"])
def test_a_negative_seed_is_refused_before_anything_is_spent(run: Run, table: Path, made: Made, command: str) -> None:
    args: list[object] = {
        "fit": ["fit", "people.release", "-o", "new.model"],
        "sample": ["sample", "people.model", "-o", "made.csv"],
        "synth": synth_args(),
    }[command]
    refused_free(run, [*args, "--seed", -1], 2, "seed")
