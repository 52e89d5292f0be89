"""Images: DP-MERF's Tables 9 and 10 and DP-MEPF's Tables 10 and 11, with ours. python -m benchmarks.papers.images

Nothing is computed here: our figures are those that `python -m benchmarks.images` has left in its folder.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks import stamp
from benchmarks.images.datasets import datasets
from benchmarks.images.job import REAL
from benchmarks.images.published import DP_MEPF, LOGISTIC, MEAN, MLP, figures, merf
from benchmarks.images.results import collect
from pointillist.evaluate.learners.classifiers import MODELS

from .output import RESULTS, markdown, mean_and_spread, write_page

NAME = "images"
EPSILONS = (1.0, 0.2)
_OURS = Path(__file__).parents[1] / "images" / "results" / "twelve"
"""The runs that all twelve classifiers were trained for."""
Row = dict[str, Any]

app = typer.Typer(add_completion=False)


def page(rows: list[Row]) -> str:
    """All tables, one for each data set and epsilon."""
    done = [row for row in rows if row["status"] == "done" and json.loads(row["accuracies"])]
    parts = [
        "Accuracy on real test images. DP-MERF's figures are means of five runs with classifiers trained on 60,000 images; "
        "ours are trained on as many as the heads say. AdaBoost is SAMME.R as in the papers; the mean is that of all 12.",
    ]
    for dataset in ("mnist", "fashion"):
        for epsilon in EPSILONS:
            parts.append(
                f"## {datasets()[dataset].title}, ε = {epsilon:g}\n\n{_table(dataset, epsilon, done)}".rstrip()
            )
    return "\n\n".join(parts) + "\n"


def _table(dataset: str, epsilon: float, rows: list[Row]) -> str:
    mine = [row for row in rows if row["dataset"] == dataset]
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in mine:
        if row["epsilon"] == epsilon:
            groups.setdefault((row["label"], row["most_images"]), []).append(row)
        elif row["method"] == REAL:
            groups.setdefault(("real images", row["most_images"]), []).append(row)
    published = [("DP-MERF, real images", merf(dataset, None)), ("DP-MERF, published", merf(dataset, epsilon))]
    published += [("DP-MEPF, published", each) for each in figures(dataset, epsilon) if each.method == DP_MEPF]
    heads = ["classifier", *(name for name, _ in published)]
    heads += [
        f"{label}, {images:,} images, {len(runs)} run{'s' * (len(runs) > 1)}"
        for (label, images), runs in groups.items()
    ]
    lines = []
    for model in (*MODELS, MEAN):
        theirs = [None if each is None else _text(each.scores.get(model)) for _, each in published]
        lines.append([f"**{model}**" if model in (MEAN, LOGISTIC, MLP) else model, *theirs,
                      *(_ours(runs, model) for runs in groups.values())])  # fmt: skip
    return markdown(heads, lines)


def _ours(runs: list[Row], model: str) -> str:
    found = [json.loads(row["accuracies"]) for row in runs]
    if model == MEAN:
        values = [float(np.mean([each[name] for name in MODELS])) for each in found if all(map(each.get, MODELS))]
    else:
        values = [each[model] for each in found if each.get(model) is not None]
    return mean_and_spread(values, 3)


def _text(value: float | None) -> str | None:
    return None if value is None else f"{value:.3f}"


@app.command()
def main(
    ours: Annotated[Path, typer.Option(help="Folder with the results of benchmarks.images.")] = _OURS,
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = RESULTS,
) -> None:
    """Print the papers' tables of images beside what our methods reach, and write them to images.md."""
    rows = collect(ours)
    typer.echo(write_page(page(rows), NAME, out, stamp.line(row[stamp.COLUMN] for row in rows)))


if __name__ == "__main__":
    app()
