"""`pointillist schema draft`: a first schema, for the owner to review."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Data, Decimal, Delimiter, Overwrite, Quiet, Sql, at_least_one
from pointillist.cli.outputs import free

schema_app = typer.Typer(no_args_is_help=True, help="Draft a schema: what is public about a table.")
app.add_typer(schema_app, name="schema", rich_help_panel=Panel.PREPARE)


@schema_app.command("draft")
def schema_draft(
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="The TOML file to write.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="The data set's name in the ledger; by default the file's.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names the person a row belongs to.")] = None,
    max_rows: Annotated[int, typer.Option(help="With --person: the most rows used of each person.")] = 1,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draft a schema from a table, for you to review.

    Every fact that was read off the data is marked; a release refuses the file until you set reviewed = true.

    Example: pointillist schema draft people.csv -o people.toml
    """
    from pointillist.cli import console
    from pointillist.cli.show.schema import show_draft
    from pointillist.curator.table_drafting import draft
    from pointillist.files import container
    from pointillist.reading.opening import open_source
    from pointillist.schema import Person

    free(output, overwrite, data)
    owner = None if person is None else Person(column=person, max_rows=at_least_one(max_rows, "--max-rows"))
    made = draft(
        open_source(data, delimiter=delimiter, decimal=decimal, query=sql),
        name=name or data.name.split(".")[0],
        person=owner,
    )
    container.write(output, made.to_toml().encode())
    if not quiet:
        show_draft(made, output)
        asked = " and answer the question in it" if made.several_rows else ""
        console.say(
            f"Written to {output}. Review every fact read from the data{asked}, then set reviewed = true in it."
        )
