"""`pointillist merge`: the parts of all owners to the plan of the next round, or to a release."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Json, Overwrite, Quiet, SharedPlanFile
from pointillist.cli.outputs import free, print_json

Parts = Annotated[
    list[Path],
    typer.Argument(metavar="PARTS...", help="What all owners sent, by `join` or by `contribute`.", show_default=False),
]
MergeOutput = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        help="The plan with keys, the plan of the next round or, after the last one, the release.",
        show_default=False,
    ),
]
Without = Annotated[
    list[int] | None,
    typer.Option(
        help="With --trust nobody, in the first round: an owner whose part never came; an empty table stands in its place. "
        "Repeat it for more.",
        show_default=False,
    ),
]


@app.command(rich_help_panel=Panel.TOGETHER)
def merge(
    parts: Parts,
    plan: SharedPlanFile,
    output: MergeOutput,
    without: Without = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> str | None:
    """Add up what all owners sent: the next round's plan or, after the last round, an ordinary release.

    Sees no rows and needs no trust. Anyone may run it.

    Example: pointillist merge 1.part 2.part 3.part --plan people.plan -o people.round2.plan
    """
    from pointillist.cli import console
    from pointillist.cli.show.release import tell_release
    from pointillist.cli.show.shared_plan import shared_plan_facts
    from pointillist.owners.merging import merge as make_merge
    from pointillist.release import Release

    free(output, overwrite, plan, *parts)
    made = make_merge(parts, plan, without=without or (), output=output)
    if isinstance(made, Release):
        return tell_release(made, output, quiet, as_json)
    if as_json:
        print_json({"plan": str(output), **shared_plan_facts(made)})
    elif not quiet:
        first = made.keys and made.round == 1
        tell = f" Its fingerprint, for the owners to compare: {made.fingerprint}" if first else ""
        console.say(f"Round {made.round} of {made.rounds} comes next. Its plan is written to {output}.{tell}")
        return f"every owner: pointillist contribute DATA --plan {output} --owner NUMBER -o NUMBER.part"
    return None
