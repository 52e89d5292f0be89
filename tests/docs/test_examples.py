"""Examples: the Python and the commands on every page run, as they are written and in their order.

A page has one folder and one namespace. The folder holds what `make demo` leaves in `demo/`, smaller. Output on a page is
not compared: noise has no seed. A block that cannot run has its reason above it: <!-- no run: it asks the network -->.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import pointillist as pt
from pointillist.cli import main
from pointillist.demo.people import SCHEMA, TARGET, simulate
from pointillist.files.table_output import write_table

ROOT = Path(__file__).parents[2]
FENCE = re.compile(
    r"^(?P<before><!-- no run: .+ -->\n\n?)?```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """What runs on a page, and where it stands."""

    kind: str
    text: str
    line: int


def blocks(text: str) -> list[Block]:
    return [
        Block(found["kind"], found["text"], text[: found.start("text")].count("\n"))
        for found in FENCE.finditer(text)
        if found["kind"] in ("python", "sh", "console") and not found["before"]
    ]


def commands(block: Block) -> list[str]:
    """The commands of a block; in a console's, what follows a prompt. A backslash goes on in the next line."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.kind == "console":
        lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    return [line for line in lines if shlex.split(line, comments=True)]


def run(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command of ours in this process, which saves loading the libraries; any other in a shell."""
    words = shlex.split(command, comments=True)
    if words[0] != "pointillist":
        subprocess.run(["bash", "-c", command], check=True)
        return
    monkeypatch.setattr(sys, "argv", words)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0, command


def pages() -> list[str]:
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in found if blocks(path.read_text(encoding="utf-8"))]


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `make demo` leaves behind, of fewer people and a smaller model."""
    folder = tmp_path_factory.mktemp("demo")
    people = simulate(1_000)
    write_table(people, folder / "people.csv", SCHEMA)
    (folder / "people.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    ledger = pt.Ledger(folder / "ledger.sqlite")
    made = pt.release(people, SCHEMA, epsilon=8.0, target=TARGET, ledger=ledger, output=folder / "people.release")
    model = pt.fit(made, method=pt.Mosaic(components=20, steps=60))
    model.save(folder / "people.model")
    write_table(model.sample_table(500, seed=7), folder / "synthetic.csv", SCHEMA)
    return folder


@pytest.mark.parametrize("page", pages())
def test_a_page_runs(page: str, demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "page"
    shutil.copytree(demo, folder / "demo")
    monkeypatch.chdir(folder)
    space: dict[str, Any] = {}
    for block in blocks((ROOT / page).read_text(encoding="utf-8")):
        if block.kind == "python":
            exec(compile("\n" * block.line + block.text, str(ROOT / page), "exec"), space)
        else:
            for command in commands(block):
                run(command, monkeypatch)


def test_a_block_that_does_not_run_says_why() -> None:
    text = "<!-- no run: it asks the network -->\n```sh\nfetch\n```\n\n```sh\nmake\n```\n\n"
    text += "```console\n$ ls \\\n  -l\nout\n```\n"
    assert [each.text for each in blocks(text)] == ["make\n", "$ ls \\\n  -l\nout\n"]
    assert commands(blocks(text)[1]) == ["ls    -l"]
