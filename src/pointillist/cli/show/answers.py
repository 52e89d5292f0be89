"""Show answers: what a query found, group by group."""

from pointillist.cli.console import out
from pointillist.cli.show.table import Table
from pointillist.inference.query_language import Answers


def show_answers(name: str, answers: Answers) -> None:
    """The figures that a query asked for, group by group, and where the private ones lie."""
    estimates = [each for group in answers.groups for each in group.estimates]
    heading = f"private ({estimates[0].confidence:.0%})" if estimates else "private"
    table = Table(f"Answers: {name}")
    for column in answers.query.groups:
        table.add_column(column)
    for text, justify in (("figure", "left"), ("synthetic", "right"), (heading, "right"), ("from", "left")):
        table.add_column(text, justify=justify)
    for group in answers.groups:
        shown = ["missing" if value is None else value for value in group.values]
        for aggregate, each in zip(answers.query.aggregates, group.estimates, strict=True):
            table.add_row(
                *shown, aggregate, each.shown(each.value), each.interval, each.basis,
                style=None if not each.known or each.low <= each.value <= each.high else "yellow",
            )  # fmt: skip
    out.print(table)
    for note in answers.notes:
        out.print(f"Note: {note}")
    out.print(
        "measured: from the known noise. bounded: from the noise and a bound for what happens inside cells. assisted: from "
        "rows of the model and the noisy measurements together. refits: from fitting again with fresh noise. Each interval "
        "holds by itself, not all of them together."
    )
