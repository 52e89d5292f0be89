"""`pointillist inspect`: what is in a file, and what it promises."""

from pathlib import Path
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Json
from pointillist.cli.outputs import print_json
from pointillist.errors import ArtefactError


@app.command(rich_help_panel=Panel.KEEP)
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="A release, a model, an extractor, a plan or a schema.", show_default=False
        ),
    ],
    as_json: Json = False,
) -> None:
    """Show what is in a release, a model, an extractor, a plan of several owners or a schema, and what it promises.

    Example: pointillist inspect people.release
    """
    from pointillist.cli.show.extractor import show_extractor
    from pointillist.cli.show.model import show_model
    from pointillist.cli.show.release import show_release
    from pointillist.cli.show.schema import show_schema
    from pointillist.cli.show.shared_plan import shared_plan_facts, show_shared_plan
    from pointillist.features import Extractor
    from pointillist.files import container
    from pointillist.model import Model
    from pointillist.owners.shared_plan import SharedPlan
    from pointillist.release import Release
    from pointillist.schema import Schema

    if file.suffix == ".toml":
        facts = Schema.load(file)
        print_json(facts.to_json()) if as_json else show_schema(facts)
        return
    match container.kind_of(file):
        case "release":
            public = Release.load(file)
            print_json(public.summary()) if as_json else show_release(public)
        case "model":
            model = Model.load(file)
            print_json(model.summary()) if as_json else show_model(model)
        case "extractor":
            network = Extractor.load(file)
            print_json(network.describe()[0]) if as_json else show_extractor(network)
        case "plan":
            shared = SharedPlan.load(file)
            print_json(shared_plan_facts(shared)) if as_json else show_shared_plan(shared)
        case other:
            raise ArtefactError(f"{file}: is a {other} file, which this version cannot show.")
