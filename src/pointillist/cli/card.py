"""`pointillist card`: the page that may travel with the data."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Overwrite, Quiet, ReleaseFile
from pointillist.cli.outputs import free


@app.command(rich_help_panel=Panel.JUDGE)
def card(
    release: ReleaseFile,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The card to write: .html, .md or .json.", show_default=False)
    ],
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> None:
    """Write the page that may travel with the data: what it is, what it promises, what it is good for.

    Everything on it comes from the release, which is public.

    Example: pointillist card people.release -o card.html
    """
    from pointillist.cli import console
    from pointillist.pages.card import Card
    from pointillist.release import Release

    free(output, overwrite, release)
    Card.of(Release.load(release)).save(output)
    if not quiet:
        console.say(f"Written to {output}. It may be shared together with the data.")
