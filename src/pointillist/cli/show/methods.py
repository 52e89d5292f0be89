"""Show methods: which there are, and what can be set about one."""

from collections.abc import Sequence

from pointillist.cli.console import out, say
from pointillist.cli.show.table import Table
from pointillist.settings import Setting


def show_methods(listed: Sequence[tuple[str, str, type]]) -> None:
    """Name, what it is, and the first line of what it says of itself."""
    table = Table("Methods, for --method; and generators, for --generator")
    for heading in ("name", "is a", "which does"):
        table.add_column(heading)
    for name, what, kind in listed:
        table.add_row(name, what, (kind.__doc__ or "").split("\n")[0])
    out.print(table)
    say("\nWhat can be set about one: pointillist methods NAME")


def show_settings(title: str, does: str, settings: Sequence[Setting]) -> None:
    """Every setting with what it takes, its default and its meaning."""
    say(f"{title}. {' '.join(does.split())}\n")
    table = Table("Settings, for --set NAME=VALUE")
    for heading in ("name", "takes", "default", "meaning"):
        table.add_column(heading)
    for each in settings:
        later = " Can be set at the fit, too." if each.of_fit else ""
        table.add_row(each.name, each.takes, each.shown_default, each.meaning + later)
    out.print(table)
