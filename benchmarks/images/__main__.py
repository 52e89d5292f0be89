"""The command: python -m benchmarks.images, from the root of the repository."""

import json
from pathlib import Path
from typing import Annotated, Any

import pyarrow.parquet as pq
import typer

from benchmarks import stamp
from benchmarks.arguments import chosen_names, split_names, split_numbers
from pointillist.errors import PointillistError, UsageError
from pointillist.evaluate.images.metrics.classifiers import CLASSIFIERS, MOST_IMAGES
from pointillist.evaluate.learners.classifiers import available, require_models
from pointillist.methods import methods_of

from .bench import Place, bench, plan
from .datasets import datasets
from .job import REAL
from .results import collect, page, table
from .scoring import Protocol

RESULTS = Path(__file__).parent / "results"

app = typer.Typer(add_completion=False)


@app.command()
def main(
    which: Annotated[str, typer.Option("--datasets", help="Data sets, with commas between them.")] = "mnist,fashion",
    methods: Annotated[str, typer.Option(help="Methods, with commas between them; real for the images themselves.")] = (
        "spectral,merf,perceptual,real"
    ),
    epsilons: Annotated[str, typer.Option(help="Values of epsilon, with commas between them.")] = "1,0.2",
    delta: Annotated[float, typer.Option(help="Delta of every release.")] = 1e-5,
    seeds: Annotated[int, typer.Option(help="How many runs: seeds 0, 1, ... The privacy noise has no seed.")] = 3,
    images: Annotated[int, typer.Option(help="How many synthetic images are sampled.")] = 60_000,
    most_images: Annotated[int, typer.Option(help="The most images that a classifier is trained on.")] = MOST_IMAGES,
    models: Annotated[str, typer.Option(help="Classifiers, with commas between them.")] = ",".join(
        available(CLASSIFIERS)
    ),
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A method's option, such as perceptual.extractor=FILE; values as JSON or text."),
    ] = None,
    time_limit: Annotated[float, typer.Option(help="Seconds that one run, or one scoring, may take.")] = 7200,
    data: Annotated[
        Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with images/*.npz.", show_default=False)
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    again: Annotated[bool, typer.Option("--again", help="Run what is done once more.")] = False,
) -> None:
    """Release, fit and sample images with our methods, score them, and write results beside what was published.

    Runs that are done are skipped, so an interrupted bench goes on where it stopped.
    """
    try:
        known = datasets()
        names = chosen_names(which, list(known), "data set")
        chosen = chosen_names(methods, [*methods_of("images"), REAL], "method")
        protocol = Protocol(most_images, require_models(split_names(models), CLASSIFIERS))
        runs = plan(names, chosen, split_numbers(epsilons), delta, range(seeds), images, options(settings or []))
        bench(runs, known, Place(out, data), protocol, limit=time_limit, again=again, say=typer.echo)
        write(out)
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


def options(texts: list[str]) -> dict[str, dict[str, Any]]:
    """What --set asks for, by method."""
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        place, equal, value = text.partition("=")
        method, dot, name = place.partition(".")
        if not (equal and dot and method and name):
            raise UsageError(f"--set {text!r} is not of the form METHOD.OPTION=VALUE.")
        try:
            found.setdefault(method, {})[name] = json.loads(value)
        except ValueError:
            found.setdefault(method, {})[name] = value
    return found


def write(out: Path) -> None:
    """Collect all records of the folder: a Parquet file and a Markdown page."""
    rows = collect(out)
    if not rows:
        return
    pq.write_table(table(rows), out / "results.parquet")
    (out / "results.md").write_text(
        stamp.put(page(rows), stamp.line(row[stamp.COLUMN] for row in rows)), encoding="utf-8"
    )
    typer.echo(f"Wrote {out / 'results.md'}.")


if __name__ == "__main__":
    app()
