"""`pointillist sample`: synthetic rows or images from a model."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import (
    Balance,
    Given,
    Output,
    OutputDecimal,
    OutputDelimiter,
    Overwrite,
    Persons,
    Quiet,
    Rows,
    SafeCsv,
    Seed,
    at_least_one,
    workers,
)
from pointillist.cli.outputs import require_own
from pointillist.errors import UsageError

if TYPE_CHECKING:
    from typing import TypeGuard

    from pointillist.cli.options import Place
    from pointillist.model import Model
    from pointillist.schema import Schema
    from pointillist.schema.csv_form import CsvForm

AtATime = Annotated[
    int | None,
    typer.Option(
        "--threads",
        help="How many parts of a folder are drawn at a time, each of which is in memory; by default one for four cores.",
        show_default=False,
    ),
]


@app.command(rich_help_panel=Panel.MAKE)
def sample(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)],
    output: Output,
    rows: Rows = None,
    persons: Persons = None,
    given: Given = None,
    balance: Balance = None,
    seed: Seed = None,
    threads: AtATime = None,
    delimiter: OutputDelimiter = None,
    decimal: OutputDecimal = None,
    safe_csv: SafeCsv = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Sample synthetic rows or images from a model. Costs no privacy, however often it is done.

    Example: pointillist sample people.model -n 50000 -o synthetic.parquet

    Example: pointillist sample people.model -n 100000000 -o synthetic/

    Example: pointillist sample visits.model --persons 500 --given sex=F -o some.csv

    Example: pointillist sample people.model -n 1000 --given sex=F --given age=30..40 --balance income -o some.csv
    """
    from pointillist.cli import console
    from pointillist.files.table_output import write_table
    from pointillist.model import Model

    fitted = Model.load(model)
    form = _csv_form(fitted.schema, delimiter, decimal)
    free_for_rows(output, fitted.schema, overwrite, model)
    columns = {name: column for name, column in fitted.schema.measured.items() if column.has_levels}
    condition = _conditions(given or [], columns)
    if persons is not None:
        if rows is not None or balance is not None:
            raise UsageError("--persons stands in the place of -n / --rows, and takes no --balance. Leave one out.")
        table = fitted.sample_persons(at_least_one(persons, "--persons"), given=condition, seed=seed)
        write_table(table, output, fitted.schema, form=form, safe_csv=safe_csv, overwrite=overwrite)
        if not quiet:
            console.say(f"{table.num_rows:,} synthetic rows of {persons:,} persons written to {output}.")
        return
    count = wanted_rows(rows, fitted, output)
    asked: dict[str, Any] = {"given": condition, "balance": balance, "seed": seed}
    how: dict[str, Any] = {"threads": workers(threads), "safe_csv": safe_csv, "form": form}
    said = write_rows(fitted, count, output, overwrite, **how, **asked)
    if not quiet:
        console.say(said)


def _csv_form(schema: "Schema", delimiter: str | None, decimal: str | None) -> "CsvForm | None":
    """How a CSV file is to be written, where options say more than the schema."""
    from pydantic import ValidationError

    from pointillist.schema.csv_form import CsvForm

    stated = {name: each for name, each in (("delimiter", delimiter), ("decimal", decimal)) if each is not None}
    try:
        return CsvForm(**{**(schema.csv.model_dump() if schema.csv else {}), **stated}) if stated else None
    except ValidationError:
        raise UsageError(
            "--delimiter must be one character, such as ; or a bar, and --decimal a point or a comma."
        ) from None


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


def wanted_rows(rows: int | None, model: "Model", output: "Place") -> int:
    """How many rows to sample."""
    require_rows(rows, model.schema, output)
    if rows is not None:
        return rows
    return max(1, round(model.rows)) if _in_parts(output, model.schema) else model.default_count


def require_rows(rows: int | None, schema: "Schema", output: "Place") -> None:
    """Refuse a number of rows that cannot be written there."""
    from pointillist.sampling.table_decoder import MOST_ROWS

    if rows is not None and at_least_one(rows, "-n / --rows") > MOST_ROWS and not _in_parts(output, schema):
        raise UsageError(
            f"-n / --rows must be at most {MOST_ROWS:,} for one file. Write more to a folder: an -o without an ending."
        )


def _in_parts(output: "Place", schema: "Schema") -> "TypeGuard[Path]":
    """Whether rows go to a folder, part by part."""
    from pointillist.files.table_folder import is_folder

    return schema.image is None and isinstance(output, Path) and is_folder(output)


def free_for_rows(output: "Place", schema: "Schema", overwrite: bool, *inputs: "Place | None") -> None:
    """Refuse what `free` refuses, and an ending that synthetic rows cannot be written by; images may go to a folder."""
    from pointillist.files import image_files, table_folder
    from pointillist.files import table_output as tables

    require_own(output, overwrite, *inputs)
    if _in_parts(output, schema):
        table_folder.check_folder(output, overwrite=overwrite)
    elif schema.image is None:
        tables.check_path(output, overwrite=overwrite)
    elif isinstance(output, Path):
        image_files.check(output, overwrite=overwrite)
    else:
        raise UsageError(f"{output}: images are written to this machine. Name a folder, .npz or .parquet.")


def write_rows(
    model: "Model",
    count: int,
    output: "Place",
    overwrite: bool,
    *,
    threads: int | None = None,
    form: "CsvForm | None" = None,
    safe_csv: bool = False,
    **options: Any,
) -> str:
    """Sample rows or images and write them; what to say about it."""
    from pointillist.files import image_files, table_folder
    from pointillist.files import table_output as tables

    if _in_parts(output, model.schema):
        parts = model.sample_parts(count, threads=threads, **options)
        table_folder.write_folder(parts, output, overwrite=overwrite)
        return f"{count:,} synthetic rows written to {output}, in parts."
    if model.schema.image is None:
        rows = model.sample_table(count, **options)
        tables.write_table(rows, output, model.schema, form=form, safe_csv=safe_csv, overwrite=overwrite)
        return f"{count:,} synthetic rows written to {output}."
    image_files.write(model.sample(count, **options), Path(str(output)), overwrite=overwrite)
    return f"{count:,} synthetic images written to {output}."
