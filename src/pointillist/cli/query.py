"""`pointillist query`: figures of the private table, from a release alone. Offline and free."""

import csv
import sys
from typing import Annotated

import typer

from pointillist.cli.app import Panel, app
from pointillist.cli.options import Confidence, Json, ModelFile, ReleaseFile
from pointillist.cli.outputs import print_json


@app.command(rich_help_panel=Panel.ASK)
def query(
    release: ReleaseFile,
    text: Annotated[str, typer.Argument(metavar="QUERY", help="What to ask.", show_default=False)],
    model: ModelFile = None,
    refits: Annotated[
        int, typer.Option(help="Fit so often again, with fresh noise, and take intervals from that. Slow.")
    ] = 0,
    confidence: Confidence = 0.95,
    seed: Annotated[int, typer.Option(min=0, help="Seed of fits and samples.")] = 0,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print bare figures: a line for each group, with tabs between.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Ask a release for figures of the private table, each with an interval. Needs no data and costs no privacy.

    Aggregates: count(), share(), mean(x), sum(x), median(x), quantile(x, 0.9), correlation(x, y). Formulas over columns may
    stand for x and y. Then, if you like, where with a condition, and group by with columns of few values. A column's name
    that is more than a word, such as "body mass", goes in double quotes or back-ticks; a text in single quotes.

    Example: pointillist query people.release "mean(income) where age > 40 group by sex"

    Example: pointillist query people.release "count(), median(income / hours) where job in ('cook', 'smith')" --json

    Example: pointillist query people.release "correlation(age, income)" --model people.model
    """
    from pointillist.cli.progress_bars import Steps
    from pointillist.cli.show.answers import show_answers
    from pointillist.inference.query_language import ask
    from pointillist.release import Release

    public = Release.load(release)
    with Steps(quiet or as_json).shown() as steps:
        found = ask(public, text, model=model, refits=refits, confidence=confidence, seed=seed, progress=steps)
    if as_json:
        print_json(found.to_json())
    elif quiet:
        lines = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
        lines.writerows((*group.values, *(f"{each.value:.12g}" for each in group.estimates)) for group in found.groups)
    else:
        show_answers(public.schema.name, found)
