"""The quick tests with the oldest or the newest versions of what the project depends on, in an environment of their own.

    python -m tools.versions oldest --keep torch
    python -m tools.versions newest

The oldest are the lower bounds of pyproject.toml, to the letter: `numpy>=2.0` is tried as `numpy==2.0`. What comes with
them (click with typer, say) is the newest that they allow. `--keep` names packages that stay as constraints.txt has them,
because their old versions are not to be had everywhere. `--dry-run` only prints the constraints.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ROOT = Path(__file__).parents[1]
_BOUND = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^]]*\])?\s*>=\s*([0-9][0-9.]*)$")
_LEFT_OUT = ("ruff", "mypy", "import-linter", "mkdocs-material", "mkdocstrings")
"""They check the code and make the site; no test of behaviour needs them."""


class Which(StrEnum):
    """Which versions."""

    OLDEST = "oldest"
    NEWEST = "newest"


def bounds(root: Path = ROOT) -> dict[str, str]:
    """The lower bound of every dependency, also of the optional ones."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [*project["dependencies"], *(each for group in project["optional-dependencies"].values() for each in group)]
    found = [match for each in named if (match := _BOUND.match(each))]
    return {match[1].lower(): match[2] for match in found if match[1].lower() not in _LEFT_OUT}


def pins(root: Path = ROOT) -> dict[str, str]:
    """What constraints.txt has."""
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {name.lower(): version for line in lines if not line.startswith("#") for name, version in [line.split("==")]}


def constraints(which: Which, keep: Iterable[str], root: Path = ROOT) -> str:
    """Constraints for pip."""
    known = pins(root)
    kept = {name: known[name] for name in keep}
    wanted = {**bounds(root), **kept} if which is Which.OLDEST else kept
    return "".join(f"{name}=={version}\n" for name, version in sorted(wanted.items()))


def main(
    which: Annotated[Which, typer.Argument(help="Which versions.")],
    keep: Annotated[list[str] | None, typer.Option(help="A package that stays as constraints.txt has it.")] = None,
    tests: Annotated[str, typer.Option(help="Arguments of pytest.")] = "-m 'not slow' -n 2",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the constraints.")] = False,
) -> None:
    """Make the environment anew, install the project into it, and run the quick tests."""
    text = constraints(which, keep or ())
    typer.echo(text, nl=False)
    if dry_run:
        return
    folder = ROOT / f".venv-{which}"
    venv.create(folder, clear=True, with_pip=True)
    python = str(folder / "bin" / "python")
    (folder / "constraints.txt").write_text(text, encoding="utf-8")
    install = [
        python,
        "-m",
        "pip",
        "install",
        "-q",
        "--disable-pip-version-check",
        "-c",
        str(folder / "constraints.txt"),
    ]
    subprocess.run([*install, "-e", ".[test]"], cwd=ROOT, check=True)
    subprocess.run([python, "-m", "pip", "list", "--disable-pip-version-check"], cwd=ROOT, check=True)
    threads = {name: os.environ.get(name, "1") for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    words = [python, "-m", "pytest", *shlex.split(tests)]
    sys.exit(subprocess.run(words, cwd=ROOT, check=False, env={**os.environ, **threads}).returncode)


if __name__ == "__main__":
    typer.run(main)
