"""`pointillist plan`: the file that several owners follow, who make one release without pooling their rows."""

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import (
    Delta,
    Epsilon,
    Json,
    MethodName,
    Neighbour,
    Overwrite,
    Quiet,
    Settings,
    Targets,
    Yes,
)
from pointillist.cli.outputs import free, print_json
from pointillist.cli.release import last_look, recipe_of
from pointillist.errors import FactsFromDataWarning

SharedSchema = Annotated[
    Path,
    typer.Argument(metavar="SCHEMA", help="The schema (TOML) of all owners' tables, reviewed.", show_default=False),
]
OwnerCount = Annotated[int, typer.Option("--owners", help="How many owners there are.", show_default=False)]
TrustName = Annotated[
    str,
    typer.Option(
        "--trust",
        help="nobody: every part carries the whole noise, and is private by itself. sum: every part carries a share of the "
        "noise and is masked, so that only the sum of all can be read.",
    ),
]
Colluding = Annotated[
    int | None,
    typer.Option(
        help="With --trust sum: against how many owners together the promise holds; by default 1. With 0 there is as little "
        "noise as in pooled rows, and the promise does not hold against fellow owners.",
        show_default=False,
    ),
]
PlanOutput = Annotated[Path, typer.Option("-o", "--output", help="The plan file to write.", show_default=False)]


@app.command(rich_help_panel=Panel.TOGETHER)
def plan(
    schema: SharedSchema,
    epsilon: Epsilon,
    owners: OwnerCount,
    output: PlanOutput,
    trust: TrustName = "nobody",
    colluding: Colluding = None,
    delta: Delta = 1e-5,
    target: Targets = None,
    neighbours: Neighbour = "add-remove",
    method: MethodName = None,
    settings: Settings = None,
    yes: Yes = False,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> str | None:
    """Plan a release of several owners who pool no rows. Touches no data.

    The plan goes to all owners, and the schema with it: facts that were read from one owner's data are shown first. (What
    one owner's release would measure: pointillist release --plan.)

    Example: pointillist plan people.toml --epsilon 1 --owners 3 -o people.plan
    """
    from pointillist.cli.show.shared_plan import shared_plan_facts, show_shared_plan
    from pointillist.curator.sharing import shared_plan
    from pointillist.schema import Schema

    facts = Schema.load(schema)
    recipe = recipe_of(facts, method, settings, None, False, None, schema, ",")
    facts.require_reviewed(str(schema))
    asked: dict[str, Any] = {"delta": delta, "target": target, "neighbours": neighbours, "method": recipe}
    free(output, overwrite, schema)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FactsFromDataWarning)
        made = shared_plan(facts, owners=owners, epsilon=epsilon, trust=trust, colluding=colluding, **asked)
    last_look(facts, schema, yes)
    made.save(output)
    if as_json:
        print_json({"plan": str(output), **shared_plan_facts(made)})
        return None
    if quiet:
        return None
    show_shared_plan(made)
    if made.needs_keys:
        return f"every owner: pointillist join {output} --owner NUMBER -o NUMBER.join"
    return f"every owner: pointillist contribute DATA --plan {output} --owner NUMBER -o NUMBER.part"
