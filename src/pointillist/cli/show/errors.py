"""Show errors: figures of the synthetic data, and where the private ones lie."""

from collections.abc import Sequence

from pointillist.cli.console import out
from pointillist.cli.show.table import Table
from pointillist.inference.estimate import Estimate


def show_errors(name: str, estimates: Sequence[Estimate]) -> None:
    """Statistics of the synthetic data, and where the private ones lie."""
    table = Table(f"Error bars: {name}")
    heading = f"private ({estimates[0].confidence:.0%})" if estimates else "private"
    for text, justify in (("statistic", "left"), ("synthetic", "right"), (heading, "right"), ("from", "left")):
        table.add_column(text, justify=justify)
    for each in estimates:
        table.add_row(
            each.name, each.shown(each.value), each.interval, each.basis,
            style=None if not each.known or each.low <= each.value <= each.high else "yellow",
        )  # fmt: skip
    out.print(table)
    for note in dict.fromkeys(each.note for each in estimates if each.note):
        out.print(f"Note: {note}")
    out.print(
        "measured: from the known noise. bounded: from the noise and a bound for what happens inside cells. refits: from "
        "fitting again with fresh noise; what was never measured is not in it. Each interval holds by itself, not all of "
        "them together."
    )
