"""`pointillist demo`: the whole way on simulated people."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Quiet


@app.command(rich_help_panel=Panel.TRY)
def demo(
    folder: Annotated[Path, typer.Argument(help="Where to leave the files.")] = Path("demo"),
    quiet: Quiet = False,
) -> None:
    """Run the whole way on a simulated registry of people, and show how close it came.

    Example: pointillist demo
    """
    from pointillist.cli import console
    from pointillist.cli.progress_bars import Steps
    from pointillist.cli.show.evaluation import show_evaluation
    from pointillist.cli.show.plan import show_plan
    from pointillist.demo import steps

    steps.prepare(folder)
    if not quiet:
        show_plan(steps.planned())
    with Steps(quiet).shown() as progress:
        release, result = steps.walk(folder, progress=progress)
    if quiet:
        return
    show_evaluation(result)
    console.out.print(release.guarantee.sentence())
    console.out.print("\nFiles:")
    for name, what in steps.FILES.items():
        console.say(f"  {folder / name}  {what}")
    console.say(f"\nOpen the report in a browser: {(folder / 'report.html').resolve().as_uri()}")
    # As it was called: after `make demo` the command is in .venv/bin, and not on the path.
    called = Path(sys.argv[0])
    command = os.path.relpath(called) if called.name == "pointillist" else "pointillist"
    console.say(f"Look closer with: {command} inspect {folder / 'people.release'}")
