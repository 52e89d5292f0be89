"""Sweeps: how much γ, the order, the columns of a product and the number of random features matter (DP-HP Tables 5, 8).

`python -m benchmarks.papers.sweeps --data FOLDER`, from the root of the repository. Adult with the authors' selection of
rows, a few of the papers' classifiers on few rows, and distances of tables of two and three columns. Also: what becomes
of products of columns that are used one after the other, as in DP-HP, or all at once. Every run is a row of
`sweeps.parquet`; `sweeps.md` is made of that file. Runs that are there are not made again.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from threadpoolctl import threadpool_limits

import pointillist as pt
from benchmarks.arguments import chosen_names
from benchmarks.tables.datasets import Split
from pointillist.errors import PointillistError
from pointillist.evaluate.research.papers_protocol import papers_protocol
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.sample import Sample, read

from . import output
from .datasets import Experiment, experiments
from .recipe import DELTA, EPSILON, NEIGHBOURS, Recipe, draw, numbers_of, release_rows, settings_of
from .tables import code_of

NAME, DATASET = "sweeps", "adult"
SWEEPS = ("gamma", "order", "product_columns", "features", "products")
REFERENCE, REAL = "reference", "real rows"
"""In the place of a sweep and a setting: what is no method."""
MODELS = ("logistic regression", "Gaussian naive Bayes", "random forest", "XGBoost")
MOST_ROWS = 5_000
"""The most rows that a classifier is trained on, real and synthetic alike."""
TRIPLES = 100
MEASURES = ("tvd_2", "tvd_3", "hard_roc", "hard_prc")

TURN = "20 products of 3 columns, in turn (DP-HP)"
JOINT = "the same 20, jointly"
EVEN = "the same 20, jointly, γ = 1/20"
"""In turn, a product counts in a twentieth of the steps; so with γ = 1/20 it counts as much in all."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """One line of a sweep."""

    sweep: str
    name: str
    recipe: Recipe

    @property
    def method(self) -> str:
        """What a release is made by: settings that differ in the generator alone share one."""
        return json.dumps(settings_of(self.recipe.method))


def settings(steps: int = 600) -> tuple[Setting, ...]:
    """All settings of all sweeps. `steps` are those of networks; the other generators are what they are by default."""

    def network(**others: Any) -> pt.NetworkSettings:
        return pt.NetworkSettings(steps=steps, **others)

    pairs = pt.Hermite(products=20)
    triples = pt.Hermite(product_columns=3, product_order=5, products=20)
    one = pt.Hermite(product_columns=3, product_order=5, products=1)
    found = [
        Setting("gamma", f"{gamma:g}", Recipe(pairs, network(loss="distance", gamma=gamma)))
        for gamma in (0.01, 0.1, 1.0, 10.0, 100.0)
    ]
    found += [Setting("order", str(order), Recipe(pt.Hermite(order=order))) for order in (5, 10, 20, 50, 100)]
    found += [Setting("product_columns", str(columns), Recipe(_ten_products(columns))) for columns in (2, 3, 4)]
    found += [
        Setting("features", f"{features:,}", Recipe(pt.Merf(features=features)))
        for features in (100, 500, 2_000, 8_000)
    ]
    lines = (
        ("none: single columns alone", pt.Hermite(products=0), network(loss="distance")),
        (TURN, triples, network(loss="distance", products_in_turn=True)),
        (EVEN, triples, network(loss="distance", gamma=1 / 20)),
        (JOINT, triples, network(loss="distance")),
        ("the same 20, jointly, by the likelihood", triples, network()),
        ("1 product of 3 columns", one, network(loss="distance")),
        ("our default: all pairs, by the likelihood", pt.Hermite(), network()),
        ("our default, with its mixture", pt.Hermite(), None),
    )
    found += [Setting("products", name, Recipe(method, generator)) for name, method, generator in lines]
    return tuple(found)


def _ten_products(columns: int) -> pt.Hermite:
    return pt.Hermite(product_columns=columns, product_order=5, products=10)


# The runs


def made(
    experiment: Experiment, table: pa.Table, chosen: Sequence[Setting], seeds: int, done: Sequence[Row]
) -> Iterator[Row]:
    """What is not there yet, seed by seed. Settings with the same method share a release, and so its noise."""
    there = {_key(row) for row in done}
    for seed in range(seeds):
        split = experiment.split(table, seed)
        releases: dict[str, tuple[pt.Release, float]] = {}
        if (REFERENCE, REAL, seed, None) not in there:
            yield from _references(experiment, split, seed)
        for setting in chosen:
            if (setting.sweep, setting.name, seed, setting.recipe.options) in there:
                continue
            if setting.method not in releases:
                dataset = experiment.dataset
                releases[setting.method] = release_rows(
                    split.train, dataset.schema, dataset.target, setting.recipe.method
                )
            release, seconds = releases[setting.method]
            synthetic, cost = draw(release, setting.recipe.generator, split.train.num_rows, seed)
            yield {
                **_facts(setting.sweep, setting.name, seed, setting.recipe.options),
                **distances(experiment, split.train, read(synthetic, experiment.dataset.schema)),
                **classified(experiment, synthetic, split, seed),
                "release": release.id,
                "rows": split.train.num_rows,
                "numbers": numbers_of(release),
                "release_seconds": seconds,
                **cost,
            }


def _references(experiment: Experiment, split: Split, seed: int) -> Iterator[Row]:
    """The real columns, each shuffled by itself, which have no dependence to show; and the real rows."""
    shuffled = independent(read(split.train, experiment.dataset.schema), seed=seed)
    far = distances(experiment, split.train, shuffled)
    yield {**_facts(REFERENCE, "real columns, each shuffled", seed, None), **far}
    near = dict.fromkeys(far, 0.0)
    yield {**_facts(REFERENCE, REAL, seed, None), **near, **classified(experiment, split.train, split, seed)}


def _facts(sweep: str, name: str, seed: int, options: str | None) -> Row:
    return {
        "sweep": sweep,
        "setting": name,
        "seed": seed,
        "options": options,
        "epsilon": None if options is None else EPSILON,
        "code": code_of(sweep),
        "versions": output.versions("xgboost-cpu", "opendp"),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _key(row: Row) -> tuple[str, str, int, str | None]:
    return row["sweep"], row["setting"], row["seed"], row["options"]


def distances(experiment: Experiment, real: pa.Table, synthetic: Sample) -> dict[str, float]:
    """Mean distances to the rows that were learnt from: all pairs of columns, and some triples that are drawn once."""
    sample = read(real, experiment.dataset.schema)
    return {
        "tvd_2": marginals(sample, synthetic, 2).mean,
        "tvd_3": marginals(sample, synthetic, min(3, len(sample.columns)), most=TRIPLES, seed=0).mean,
    }


def classified(experiment: Experiment, rows: pa.Table, split: Split, seed: int) -> dict[str, float]:
    """The papers' hard scores, means over a few classifiers trained on few rows."""
    found = papers_protocol(
        experiment.seen(rows).at_most(MOST_ROWS, seed=seed),
        experiment.seen(split.test),
        experiment.scored,
        experiment.dataset.target,
        models=MODELS,
        seed=seed,
    )
    return dict(found.means["synthetic"])


# The page


def page(rows: Sequence[Row]) -> str:
    """A table for each sweep, the settings in the order in which they are run."""
    found = latest(rows)
    parts = [_INTRODUCTION]
    for sweep in SWEEPS:
        mine = {name: runs for (each, name), runs in found.items() if each == sweep}
        if mine:
            parts += [f"## {_TITLES[sweep]}\n", _NOTES[sweep], _table(sweep, mine)]
            if sweep == "products":
                parts.append(_in_turn_or_jointly(mine))
    references = {name: runs for (each, name), runs in found.items() if each == REFERENCE}
    if references:
        parts += ["## For comparison\n", _table("rows", references)]
    codes = {row["code"] for (sweep, _), runs in found.items() if sweep != REFERENCE for row in runs}
    if len(codes) > 1:
        parts.append(f"These runs come from {len(codes)} states of the code; `--again` makes them all with one.\n")
    return "\n".join(parts)


def latest(rows: Sequence[Row]) -> dict[tuple[str, str], list[Row]]:
    """By sweep and setting the runs with the options of the newest: nothing else is mixed in."""
    newest = {(row["sweep"], row["setting"]): row["options"] for row in rows}
    known = [(each.sweep, each.name) for each in settings()]
    order = [*(place for place in known if place in newest), *(place for place in newest if place not in known)]
    return {
        (sweep, name): [row for row in rows if (*_key(row)[:2], row["options"]) == (sweep, name, newest[sweep, name])]
        for sweep, name in order
    }


def _table(head: str, found: dict[str, list[Row]]) -> str:
    heads = [
        head.replace("_", " "), "runs", "numbers released", "TVD of pairs", "of triples", "ROC", "PRC",
        "CPU-s: release", "fit",
    ]  # fmt: skip
    body = [
        [name, len(runs), _mean(runs, "numbers", 0), *(_mean(runs, each, 4) for each in MEASURES[:2]),
         *(_mean(runs, each, 3) for each in MEASURES[2:]), _mean(runs, "release_seconds", 1),
         _mean(runs, "fit_seconds", 1)]
        for name, runs in found.items()
    ]  # fmt: skip
    return output.markdown(heads, body)


def _mean(rows: Sequence[Row], column: str, digits: int) -> str:
    values = [row[column] for row in rows if row.get(column) is not None]
    return output.mean_and_spread(values[:1] if column == "numbers" else values, digits)


def _in_turn_or_jointly(found: dict[str, list[Row]]) -> str:
    """Two ways of using the same release, run by run: what differs is the use alone."""
    turn = {row["release"]: row for row in found.get(TURN, [])}
    said = []
    for name in (EVEN, JOINT):
        pairs = [(row, turn[row["release"]]) for row in found.get(name, []) if row["release"] in turn]
        if pairs:
            gains = {each: [row[each] - other[each] for row, other in pairs] for each in ("tvd_2", "tvd_3", "hard_roc")}
            words = ", ".join(
                f"{label} {np.mean(gains[each]):+.4f}{_spread(gains[each])}"
                for each, label in (("tvd_2", "TVD of pairs"), ("tvd_3", "of triples"), ("hard_roc", "ROC"))
            )
            said.append(f"- {name}, against in turn: {words}; releases: {len(pairs)}.")
    if not said:
        return ""
    return "A distance that falls and a ROC that rises are gains:\n\n" + "\n".join(said) + "\n"


def _spread(values: Sequence[float]) -> str:
    return f" ± {np.std(values, ddof=1):.4f}" if len(values) > 1 else ""


_INTRODUCTION = f"""# Sweeps

Adult with the authors' selection of rows, ε = {EPSILON:g}, δ = {DELTA:g}, {NEIGHBOURS} neighbours. Made by
`python -m benchmarks.papers.sweeps --data FOLDER`. TVD is the total variation distance to the rows that were learnt
from, 0 to 1, over all pairs of columns and {TRIPLES} triples. ROC and PRC are the papers' (hard predictions), means over
{", ".join(MODELS)}, trained on at most {MOST_ROWS:,} rows: not to be set beside the papers' means over twelve. ± is the
standard deviation over runs, each with a split, noise and seed of its own.
"""

_TITLES = {
    "gamma": "γ, the weight of products in the loss",
    "order": "Order of the features of single columns",
    "product_columns": "Columns in a product",
    "features": "Number of random features",
    "products": "Products in turn, or all at once",
}

_NOTES = {
    "gamma": """`hermite` with 20 pairs and a network whose loss is the papers' distance: γ is what the squared distance
of products is multiplied by (DP-HP eq. 16 and Table 5, where results hold up to γ = 1 and worsen beyond). All values of γ
are fitted to the same release: choosing among them by what the release says is free, by private scores it is not.
""",
    "order": """`hermite`, all else as by default, fitted by a mixture.
""",
    "product_columns": """`hermite` with 10 products of so many columns, order 5, fitted by a mixture (DP-HP Table 8,
where more columns are better: 3-way error 0.367, 0.340, 0.332 for 2, 5 and 7 at ε = 1). There a category is one number;
here it is one-hot, so that a product of five columns of Adult would have a hundred thousand features and more.
""",
    "features": """`merf`, all else as by default, fitted by a mixture.
""",
    "products": """DP-HP draws the columns of the product anew in every epoch, and releases each draw by itself with its
part of the budget. E Gaussian releases that do not depend on each other, each with 1/E of μ², are one Gaussian release of
all E side by side: the same noise, the same promise. So both ways below have the same release, and differ in the fit
alone: one product at a time, or all in every step. The budget is the same in every line. In turn, each product counts in
a twentieth of the steps; jointly with γ = 1/20 it has the same weight, spread over all steps.
""",
}


# The command


app = typer.Typer(add_completion=False)


@app.command()
def main(
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
    sweeps: Annotated[str, typer.Option(help="Sweeps, with commas between them.")] = ",".join(SWEEPS),
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each; the privacy noise has no seed.")] = 3,
    steps: Annotated[int, typer.Option(min=1, help="Steps of every network.")] = 600,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = output.RESULTS,
    again: Annotated[bool, typer.Option("--again", help="Run what is done once more.")] = False,
) -> None:
    """How much the papers' settings matter, and whether products are better used in turn or all at once.

    Runs that are done are skipped, so an interrupted bench goes on where it stopped.
    """
    try:
        names = chosen_names(sweeps, list(SWEEPS), "sweep")
        chosen = [each for each in settings(steps) if each.sweep in names]
        done = output.read(NAME, out)
        if again:
            done = [row for row in done if row["sweep"] not in (*names, REFERENCE)]
        experiment = experiments()[DATASET]
        table = experiment.dataset.load(data)
        with threadpool_limits(1):
            for row in made(experiment, table, chosen, seeds, tuple(done)):
                done.append(row)
                typer.echo(_said(row))
                output.write(done, NAME, out)
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    typer.echo(output.write_page(page(done), NAME, out))


def _said(row: Row) -> str:
    found = ", ".join(f"{each} {row[each]:.3f}" for each in MEASURES if row.get(each) is not None)
    cost = (row.get("release_seconds") or 0) + (row.get("fit_seconds") or 0)
    return f"{row['sweep']} {row['setting']} {row['seed']}: {found}; {cost:.0f} CPU-s"


if __name__ == "__main__":
    app()
