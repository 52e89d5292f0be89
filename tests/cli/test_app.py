"""The program itself: its help, and how a process of it ends."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fixtures.command_line import (
    WORD,
    Made,
    Run,
    line,
    outside,
    refused_free,
    release_args,
    snapshot,
    spends,
    write,
)

from pointillist.privacy.ledger import State

COMMANDS = [
    ["demo"],
    ["studio"],
    ["methods"],
    ["schema", "draft"],
    ["extractor", "train"],
    ["release"],
    ["synth"],
    ["plan"],
    ["join"],
    ["contribute"],
    ["merge"],
    ["fit"],
    ["sample"],
    ["query"],
    ["errors"],
    ["evaluate"],
    ["card"],
    ["sign"],
    ["verify"],
    ["audit"],
    ["inspect"],
    ["ledger"],
    ["ledger", "cap"],
]
"""Every command, in the order of the work."""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_every_command_has_an_example(run: Run, command: list[str], option: str) -> None:
    outcome = run(*command, option)
    assert outcome.code == 0
    assert f"Example: pointillist {' '.join(command)}" in outcome.shown


def test_help_lists_the_commands_in_the_order_of_the_work(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    listed = re.findall(r"^│ ([a-z]+)  ", outcome.out, re.MULTILINE)
    assert listed == list(dict.fromkeys(command for command, *_ in COMMANDS))
    assert re.findall(r"^╭─ ([A-Z]\w+)", outcome.out, re.MULTILINE) == [
        "Options", "Try", "Prepare", "Publish", "Publish", "Make", "Ask", "Judge", "Keep",
    ]  # fmt: skip
    assert (
        "Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 budget or ledger, 6 release or model file"
        in outcome.shown
    )


def test_help_and_mistakes_name_the_command_whatever_it_was_started_by() -> None:
    script = "import sys; sys.argv[0] = '/opt/thing.py'; from pointillist.cli import main; main()"
    for args in (["--help"], ["fit"]):
        ended = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, check=False)
        assert "Usage: pointillist" in ended.stdout + ended.stderr


@pytest.mark.parametrize("args", [[], ["schema"]], ids=["nothing", "schema"])
def test_a_command_that_is_not_complete_shows_help(run: Run, args: list[object]) -> None:
    refused_free(run, args, 2, "Usage: pointillist", "--help")


def test_an_unknown_command_is_refused(run: Run) -> None:
    refused_free(run, ["paint"], 2, "No such command 'paint'")


def test_the_installed_command_works(table: Path) -> None:
    command = shutil.which("pointillist", path=str(Path(sys.executable).parent))
    assert command is not None
    ended = subprocess.run(
        [command, *map(str, release_args("--json"))], capture_output=True, text=True, check=False, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["release"] == "people.release"
    assert len(spends()) == 1


def test_a_mistake_ends_a_process_with_its_code(table: Path) -> None:
    write(table, line(f"1,2,3,cook,yes,{WORD}"))
    files = snapshot()
    outcome = outside(*release_args("--quiet"))
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err.startswith("Error: people.csv: some line has more or fewer values")
    assert snapshot() == files
    assert spends() == []


def test_a_fault_of_ours_ends_a_process_without_a_traceback(table: Path) -> None:
    broken = (
        "import pointillist.curator.releasing as releasing\n"
        "def fail(*args, **options): raise ValueError('SECRETVALUE')\n"
        "releasing.add_noise = fail\n"
    )
    files = snapshot()
    outcome = outside(*release_args("--quiet"), before=broken)
    assert (outcome.code, outcome.out) == (70, "")
    assert "a fault in pointillist (ValueError" in outcome.err
    assert snapshot() == files
    assert [spend.state for spend in spends()] == [State.OPEN]


def test_a_reader_that_goes_away_is_no_fault(made: Made) -> None:
    script = "from pointillist.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "inspect", "people.release", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        errors = process.stderr.read().decode()
    assert process.wait(timeout=120) == 1
    assert errors == ""
