"""Show an evaluation: the verdict, with the figures behind it."""

from typing import TYPE_CHECKING

from pointillist.cli.console import out
from pointillist.cli.show.table import Table

if TYPE_CHECKING:  # a load of its own
    from pointillist.evaluate.evaluation import AnyEvaluation


def show_evaluation(result: "AnyEvaluation") -> None:
    """The verdict, point by point, then the figures."""
    table = Table(f"Synthetic against real: {result.name}")
    for heading, justify in (("question", "left"), ("grade", "left"), ("figure", "right"), ("what it says", "left")):
        table.add_column(heading, justify=justify)
    for point in result.verdict.points:
        table.add_row(point.question, point.grade, point.figure, point.sentence)
    out.print(table)
    for line in result.lines():
        out.print(line)
    for note in result.notes:
        out.print(f"Note: {note}", style="yellow")
