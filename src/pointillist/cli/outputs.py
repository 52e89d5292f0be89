"""Outputs: what commands write. Whether a file may be written, and facts for a program to read."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pointillist.errors import UsageError
from pointillist.files.jsonable import finite
from pointillist.files.paths import checked
from pointillist.visible import visible

if TYPE_CHECKING:
    from pointillist.cli.options import Place


def print_json(facts: Any) -> None:
    """Facts for a program to read."""
    typer.echo(visible(json.dumps(finite(facts), ensure_ascii=False, indent=2, allow_nan=False)))


def free(output: Path, overwrite: bool, *inputs: "Place | None") -> None:
    """Refuse to write over what the command reads or keeps, and over any file unless asked to."""
    from pointillist.files.container import reserve

    require_own(output, overwrite, *inputs)
    with reserve(output, 0):  # refuses what cannot be written
        pass


def require_own(output: "Place", overwrite: bool, *inputs: "Place | None") -> None:
    """The same, where writing itself is checked elsewhere."""
    if isinstance(output, Path):
        checked(output, UsageError)
    if any(other is not None and _same(output, other) for other in inputs):
        raise UsageError(f"{output}: is read or kept by this command, and would be written over. Name another output.")
    if isinstance(output, Path) and output.is_file() and not overwrite:
        raise UsageError(f"{output}: is there already. Name another output, or pass --overwrite.")


def _same(one: "Place", other: "Place") -> bool:
    """Whether two paths lead to one file. What can be no path leads nowhere; whoever reads it says so."""
    if not isinstance(one, Path):
        return not isinstance(other, Path) and one.place == other.place
    if not isinstance(other, Path):
        return False
    try:
        return os.path.realpath(one) == os.path.realpath(
            other
        )  # follows a loop of links no further, where pathlib raises
    except ValueError:
        return False
