"""Versions to try: every lower bound to the letter, but for what stays as the constraints have it."""

from pathlib import Path

import pytest
from tools.versions import Which, bounds, constraints, pins

PROJECT = """
[project]
dependencies = ["numpy>=2.0", "Jinja2 >= 3.1"]
[project.optional-dependencies]
network = ["torch>=2.4"]
test = ["thing[frames,network]", "mypy>=1.14", "pytest>=8.3"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "constraints.txt").write_text("# versions\nnumpy==2.4.6\ntorch==2.13.0\n")
    return tmp_path


def test_the_oldest_are_the_bounds(root: Path) -> None:
    assert bounds(root) == {"numpy": "2.0", "jinja2": "3.1", "torch": "2.4", "pytest": "8.3"}
    assert constraints(Which.OLDEST, ["torch"], root).split() == [
        "jinja2==3.1", "numpy==2.0", "pytest==8.3", "torch==2.13.0",
    ]  # fmt: skip


def test_the_newest_are_whatever_there_is(root: Path) -> None:
    assert constraints(Which.NEWEST, [], root) == ""
    assert constraints(Which.NEWEST, ["torch"], root) == "torch==2.13.0\n"


def test_every_dependency_has_a_bound_and_a_pin() -> None:
    assert {"numpy", "pyarrow", "torch", "pandas"} <= set(bounds()) & set(pins())
