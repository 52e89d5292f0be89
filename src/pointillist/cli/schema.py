"""`pointillist schema`: a first schema, and what the owner has to look at in it."""

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import (
    Data,
    Decimal,
    Delimiter,
    Delta,
    Encoding,
    LedgerFile,
    Neighbour,
    Overwrite,
    Place,
    Quiet,
    Sql,
    at_least_one,
    place,
)
from pointillist.cli.outputs import free

if TYPE_CHECKING:
    from pointillist.schema import Schema

schema_app = typer.Typer(no_args_is_help=True, help="Draft and review a schema: what is public about a table.")
app.add_typer(schema_app, name="schema", rich_help_panel=Panel.PREPARE)


@schema_app.command("draft")
def schema_draft(
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="The TOML file to write.", show_default=False)],
    name: Annotated[str | None, typer.Option(help="The data set's name in the ledger; by default the file's.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names the person a row belongs to.")] = None,
    max_rows: Annotated[int, typer.Option(help="With --person: the most rows used of each person.")] = 1,
    one_row_per_person: Annotated[
        bool,
        typer.Option("--one-row-per-person", help="Every row is another person; with --epsilon, say so or --person."),
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(
            help="Buy the facts: find them with noise, at this privacy budget. Then nobody has to vouch for them.",
            show_default=False,
        ),
    ] = None,
    delta: Delta = 1e-5,
    neighbours: Neighbour = "add-remove",
    ledger: LedgerFile = None,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
    sql: Sql = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Draft a schema from a table, for you to review.

    Every fact that was read off the data is marked; a release refuses the file until you set reviewed = true. With --epsilon
    facts are found with noise instead, and booked in the ledger: no release asks about them.

    Example: pointillist schema draft people.csv -o people.toml

    Example: pointillist schema draft people.csv --epsilon 0.1 --one-row-per-person -o people.toml
    """
    from pointillist.cli.show.schema import show_draft
    from pointillist.curator.table_drafting import draft
    from pointillist.files import container
    from pointillist.reading.opening import open_source
    from pointillist.schema import Person

    free(output, overwrite, data, ledger)
    owner = None if person is None else Person(column=person, max_rows=at_least_one(max_rows, "--max-rows"))
    made = draft(
        open_source(data, delimiter=delimiter, decimal=decimal, encoding=encoding, query=sql),
        name=name or data.name.split(".")[0],
        person=owner,
        one_row_per_person=one_row_per_person,
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        ledger=ledger,
    )
    container.write(output, made.to_toml().encode())
    if not quiet:
        show_draft(made, output)
    if not quiet and epsilon is None:
        _say_drafted(made, output, data)


def _say_drafted(made: "Schema", output: Path, data: Place) -> None:
    """Where a draft that was read from the data is, and what to do with it."""
    from pointillist.cli import console

    asked = " and answer the question in it" if made.several_rows else ""
    console.say(
        f"Written to {output}. Review every fact read from the data{asked}, then set reviewed = true in it: "
        f"pointillist schema review {output} --data {data} helps."
    )


@schema_app.command("review")
def schema_review(
    schema: Annotated[Path, typer.Argument(help="The draft, a TOML file.", show_default=False)],
    data: Annotated[
        Place | None,
        typer.Option(
            parser=place,
            metavar="DATA",
            help="The table: then it is counted how many rows share each fact.",
            show_default=False,
        ),
    ] = None,
    safer: Annotated[bool, typer.Option("--safer", help="Take what is suggested where few rows share a fact.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Say that anyone may know all that is left.")] = False,
    delimiter: Delimiter = ",",
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> None:
    """Show what a draft read from the data, the most revealing first, and what would say less.

    Rows are counted for your eyes alone. With --safer and --accept the file is written anew, with a note of what was
    decided.

    Example: pointillist schema review people.toml --data people.csv --safer --accept
    """
    from pointillist.cli.show.schema import show_review
    from pointillist.curator.reviewing import review
    from pointillist.curator.reviewing import safer as make_safer
    from pointillist.files import container
    from pointillist.reading.opening import open_source
    from pointillist.schema import Schema

    facts = Schema.load(schema)
    source = None if data is None else open_source(data, delimiter=delimiter, decimal=decimal, encoding=encoding)
    findings = review(facts, source)
    decided = facts.model_copy(update={"reviewed": True}) if accept else facts
    show_review(decided, findings)
    if not (safer or accept):
        return
    made = make_safer(decided, findings) if safer else decided
    changed = [
        f"{each.column}: {each.fact}" for each in findings if safer and each.revealing and each.safer is not None
    ]
    lines = schema.read_text(encoding="utf-8").splitlines(keepends=True)
    earlier = [line for line in lines if line.startswith("# Reviewed ")]
    rest = made.written_over("".join(line for line in lines if line not in earlier), facts)
    container.write(schema, ("".join(earlier) + _note(changed, accept) + "\n\n" + rest).encode())
    _say_written(schema, made)


def _note(changed: list[str], accept: bool) -> str:
    """What was decided, in a line: names and no values."""
    made = f"made safer: {', '.join(changed)}" if changed else "nothing changed"
    return f"# Reviewed {dt.date.today().isoformat()}: {made}{'; the rest accepted as public' if accept else ''}."


def _say_written(path: Path, schema: "Schema") -> None:
    """What was written, and what is left to do."""
    from pointillist.cli import console

    left = (
        "" if schema.reviewed else " It is still a draft: --accept, or reviewed = true, once anyone may know all of it."
    )
    asked = " Answer the question in it, too: whose is a row?" if schema.several_rows else ""
    console.say(f"Written to {path}.{left}{asked}")
