"""Show an audit: what each attack could prove, beside the promise."""

from pointillist.cli.console import out, say
from pointillist.cli.show.table import Table
from pointillist.evaluate.audit import Audit


def show_audit(result: Audit) -> None:
    """What each attack could prove, beside the promise."""
    table = Table(f"Audit: {result.method} on {result.dataset}")
    for heading, justify in (
        ("attack", "left"), ("ε is at least", "right"), ("promised ε", "right"), ("confidence", "right"), ("for", "left"),
    ):  # fmt: skip
        table.add_column(heading, justify=justify)
    for each in result.findings:
        table.add_row(
            each.attack, f"{each.epsilon:.3g}".replace("inf", "∞"), f"{result.epsilon:g}", f"{each.confidence:.0%}",
            "the owner" if each.private else "anyone",
            style="bold red" if each.violated else None,
        )  # fmt: skip
    out.print(table)
    for each in result.findings:
        out.print(f"{each.attack}: {each.sentence}")
    for note in result.notes:
        out.print(note)
    say(result.sentence(), style="green" if result.passed else "bold red")
