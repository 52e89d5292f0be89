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
    for point in result.verdict.worst_first:
        table.add_row(point.question, point.grade, point.figure, point.sentence)
    out.print(table)
    for line in result.lines():
        out.print(line)
    _show_advice(result)
    for note in result.notes:
        out.print(f"Note: {note}", style="yellow")


def _show_advice(result: "AnyEvaluation") -> None:
    """What to do about what was found, the most urgent first."""
    from pointillist.evaluate.advice import PUBLIC

    found = result.verdict.advice
    if not found:
        return
    out.print("What to do, the most urgent first:", style="bold")
    for number, (question, _, each) in enumerate(found, start=1):
        out.print(f"{number}. {question}: {each.text}", markup=False)
        for line in each.code.splitlines():
            out.print(f"     {line}", markup=False, style="cyan", soft_wrap=True)
    if any(each.in_schema for _, _, each in found):
        out.print(PUBLIC)
