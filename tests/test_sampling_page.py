"""The examples of docs/how-to/sampling.md run as they are written."""

import re
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import pointillist as pt
from pointillist.cli import main
from pointillist.demo.people import SCHEMA

PAGE = (Path(__file__).parent.parent / "docs" / "how-to" / "sampling.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    return [text for named, text in fenced if named == kind]


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, random_model: Callable[..., pt.Model]) -> None:
    """A model of the demo's schema where the page expects it."""
    monkeypatch.chdir(tmp_path)
    Path("demo").mkdir()
    random_model(SCHEMA).save("demo/people.model")


@pytest.mark.usefixtures("demo")
def test_python() -> None:
    found = blocks("python")
    assert len(found) == 3
    space: dict[str, pt.Model] = {}
    for block in found:
        exec(block, space)
    assert len(space["strict"].schema.constraints) == 3


@pytest.mark.usefixtures("demo")
def test_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line for block in blocks("") for line in block.splitlines() if line]
    assert len(commands) == 2
    for command in commands:
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 0, command


def test_the_schema_takes_the_constraints() -> None:
    (block,) = blocks("toml")
    schema = pt.Schema.parse({**SCHEMA.to_json(), **tomllib.loads(block)})
    assert [str(each) for each in schema.constraints] == [
        "occupation = homemaker and hours_per_week = 1.. is impossible",
        "birth_date <= last_visit",
    ]
