"""`pointillist errors`: how far figures of the synthetic data may be from the private ones."""

from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Confidence, Json, ModelFile, Quiet, ReleaseFile
from pointillist.cli.outputs import print_json


@app.command(rich_help_panel=Panel.ASK)
def errors(
    release: ReleaseFile,
    model: ModelFile = None,
    refits: Annotated[
        int, typer.Option(help="Fit so often again, with fresh noise: then correlations of numbers are shown, too.")
    ] = 0,
    confidence: Confidence = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of fits, samples and fresh noise.")] = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say how far figures of the synthetic data may be from the private ones. Costs no privacy.

    Means, medians and shares of every column, each with an interval for the private figure, from the release alone.

    Example: pointillist errors people.release --model people.model --refits 10
    """
    from pointillist.cli.progress_bars import Steps
    from pointillist.cli.show.errors import show_errors
    from pointillist.inference.uncertainty import uncertainty
    from pointillist.model import Model
    from pointillist.release import Release

    public = Release.load(release)
    fitted = None if model is None else Model.load(model)
    with Steps(quiet or as_json).shown() as steps:
        bars = uncertainty(public, model=fitted, refits=refits, confidence=confidence, seed=seed, progress=steps)
        found = bars.describe() + (bars.correlations() if refits else ())
    if as_json:
        print_json([each.to_json() for each in found])
    elif not quiet:
        show_errors(public.schema.name, found)
