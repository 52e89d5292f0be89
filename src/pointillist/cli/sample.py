"""`pointillist sample`: synthetic rows or images from a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Balance, Given, Output, Overwrite, Quiet, Rows, SafeCsv, Seed, at_least_one
from pointillist.cli.outputs import require_own
from pointillist.errors import UsageError

if TYPE_CHECKING:
    from pointillist.model import Model
    from pointillist.schema import Schema


@app.command(rich_help_panel=Panel.MAKE)
def sample(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)],
    output: Output,
    rows: Rows = None,
    given: Given = None,
    balance: Balance = None,
    seed: Seed = None,
    safe_csv: SafeCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Sample synthetic rows or images from a model. Costs no privacy, however often it is done.

    Example: pointillist sample people.model -n 50000 -o synthetic.parquet

    Example: pointillist sample people.model -n 1000 --given sex=F --given age=30..40 --balance income -o some.csv
    """
    from pointillist.cli import console
    from pointillist.model import Model

    fitted = Model.load(model)
    free_for_rows(output, fitted.schema, overwrite, model)
    count = wanted_rows(rows, fitted.default_count)
    columns = {name: column for name, column in fitted.schema.measured.items() if column.has_levels}
    condition = _conditions(given or [], columns)
    said = write_rows(fitted, count, output, overwrite, given=condition, balance=balance, seed=seed, safe_csv=safe_csv)
    if not quiet:
        console.say(said)


def _conditions(given: list[str], measured: Mapping[str, Any]) -> dict[str, Any]:
    """What --given asks for, by column; several values of one column are alternatives."""
    from pointillist.schema.given_syntax import from_text

    found: dict[str, list[Any]] = {}
    for text in given:
        fits = [name for name in measured if text.startswith(f"{name}=")]  # a name may hold a "=", too
        if not fits:
            raise UsageError(
                f"--given {text!r} is not of the form COLUMN=VALUE with a column of the model. "
                f"Columns: {', '.join(measured)}."
            )
        name = max(fits, key=len)
        try:
            found.setdefault(name, []).append(from_text(name, measured[name], text[len(name) + 1 :]))
        except ValueError as error:
            raise UsageError(f"--given: {error}.") from None
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def wanted_rows(rows: int | None, default: int) -> int:
    """How many rows to sample."""
    from pointillist.sampling.table_decoder import MOST_ROWS

    if rows is not None and rows > MOST_ROWS:
        raise UsageError(f"-n / --rows must be at most {MOST_ROWS:,}. Sample in parts, each with another seed.")
    return default if rows is None else at_least_one(rows, "-n / --rows")


def free_for_rows(output: Path, schema: "Schema", overwrite: bool, *inputs: Path | None) -> None:
    """Refuse what `free` refuses, and an ending that synthetic rows cannot be written by; images may go to a folder."""
    from pointillist.files import image_files
    from pointillist.files import table_output as tables

    require_own(output, overwrite, *inputs)
    if schema.image is None:
        tables.check_path(output)
    else:
        image_files.check(output, overwrite=overwrite)


def write_rows(
    model: "Model", count: int, output: Path, overwrite: bool, *, safe_csv: bool = False, **options: Any
) -> str:
    """Sample rows or images and write them; what to say about it."""
    from pointillist.files import image_files
    from pointillist.files import table_output as tables

    if model.schema.image is None:
        tables.write_table(model.sample_table(count, **options), output, model.schema, safe_csv=safe_csv)
        return f"{count:,} synthetic rows written to {output}."
    image_files.write(model.sample(count, **options), output, overwrite=overwrite)
    return f"{count:,} synthetic images written to {output}."
