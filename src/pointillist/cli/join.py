"""`pointillist join`: an owner's key for a plan that several follow."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import ForCollector, Overwrite, Owner, Quiet, SharedPlanArgument
from pointillist.cli.outputs import free

NewKey = Annotated[
    Path | None,
    typer.Option(
        "--key",
        help="Where to keep the secret, which stays with you; by default beside the output, with the ending .key.",
        show_default=False,
    ),
]


@app.command(rich_help_panel=Panel.TOGETHER)
def join(
    plan: SharedPlanArgument,
    owner: Owner,
    output: ForCollector,
    key: NewKey = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
) -> str | None:
    """Make your key for a plan of several owners: with --trust sum everyone does, before the first round.

    The secret is written to a file that only you may read. The collector merges what all owners send to a plan with keys.

    Example: pointillist join people.plan --owner 2 -o 2.join
    """
    from pointillist.cli import console
    from pointillist.owners.join import join as make_join

    secret = output.with_suffix(".key") if key is None else key
    free(output, overwrite, plan, secret)
    make_join(plan, owner, key=secret, output=output)
    if quiet:
        return None
    console.say(f"Your secret is in {secret}: keep it, and show it to nobody. {output} goes to the collector.")
    return f"the collector: pointillist merge *.join --plan {plan} -o PLAN"
