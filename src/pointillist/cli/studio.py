"""`pointillist studio`: the whole way on a page of this machine."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import LedgerFile
from pointillist.errors import UsageError


@app.command(rich_help_panel=Panel.TRY)
def studio(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]", help="What to open: a table, a folder, an address or a .release.", show_default=False
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Open the demo's simulated people.")] = False,
    folder: Annotated[Path, typer.Option(help="Where projects are kept, for you alone.")] = Path("studio"),
    host: Annotated[
        str, typer.Option(help="Where to listen; any other than this machine lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for any that is free.")] = 8420,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in a browser.")] = True,
    ledger: LedgerFile = None,
) -> None:
    """Open a page on this machine that does what the commands do: open, review, plan, release, make, judge, share.

    It listens on this machine alone, works offline, and lets in whoever has the token of its address. Stop it with Ctrl-C:
    uploads are removed then, and what was made stays in the folder.

    Example: pointillist studio people.csv

    Example: pointillist studio --demo
    """
    from pointillist.cli import console

    try:
        from pointillist.studio.security import is_loopback
        from pointillist.studio.server import serve
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the studio needs {error.name}, which is not installed: pip install 'pointillist[studio]'"
        ) from None
    if demo and file is not None:
        raise UsageError("--demo opens the simulated people: leave DATA out, or --demo.")

    def ready(url: str, kept: Path) -> None:
        console.say(f"Studio: {url}")
        console.say(f"Projects are kept in {kept}. Stop with Ctrl-C.")
        if not is_loopback(host):
            console.say(
                "Others on the network can reach it: whoever has this address can read what you can, and nothing is "
                "encrypted on the way.",
                style="yellow",
            )
        if browser:
            webbrowser.open(url)

    serve(folder, place=file, demo=demo, host=host, port=port, ledger=ledger, ready=ready)
