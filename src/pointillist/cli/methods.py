"""`pointillist methods`: which methods and generators there are, and the settings that each takes."""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Json
from pointillist.cli.outputs import print_json
from pointillist.errors import UsageError


def _names(incomplete: str) -> list[str]:
    """For a shell that completes."""
    return [name for name in dict.fromkeys(name for name, _, _ in _all()) if name.startswith(incomplete)]


MethodOrGenerator = Annotated[
    str | None,
    typer.Argument(
        metavar="[NAME]",
        help="A method or a generator, to see its settings; without one, all are listed.",
        show_default=False,
        autocompletion=_names,
    ),
]


@app.command(rich_help_panel=Panel.PREPARE)
def methods(name: MethodOrGenerator = None, as_json: Json = False) -> None:
    """List the methods and generators, or what can be set about one of them.

    A setting is changed by --set NAME=VALUE: a method's in release and synth, a generator's, or what a method leaves to
    the fit, in fit.

    Example: pointillist methods merf
    """
    from pointillist.cli.show.methods import show_methods, show_settings
    from pointillist.settings import settings_of

    found = [each for each in _all() if name in (None, each[0])]
    if not found:
        raise UsageError(f"there is no method or generator {name!r}. Known: {', '.join(_names(''))}.")
    if as_json:
        print_json([_facts(*each) for each in found])
    elif name is None:
        show_methods(found)
    else:
        for own, what, kind in found:
            show_settings(f"{own}, {what}", kind.__doc__ or "", settings_of(kind))


def _all() -> Iterator[tuple[str, str, type]]:
    """Name, what it is, and class of everything that has settings."""
    from pointillist.generators import fittable
    from pointillist.methods import METHODS

    usual = {next(kind for _, kind in METHODS.entries if _data(kind) == data) for data in ("tables", "images")}
    for own, kind in METHODS.entries:
        yield own, f"method for {_data(kind)}{', the default' if kind in usual else ''}", kind
    for own, each in fittable().items():
        yield own, "generator", each


def _data(kind: type) -> str:
    return str(getattr(kind, "data", "any data"))


def _facts(name: str, what: str, kind: type) -> dict[str, Any]:
    from pointillist.settings import settings_of

    settings = [
        {"name": each.name, "takes": each.takes, "default": each.shown_default, "meaning": each.meaning}
        for each in settings_of(kind)
    ]
    return {"name": name, "what": what, "does": kind.__doc__, "settings": settings}
