"""Marginals: how near the tables of α columns come to the real ones (DP-MERF supplement M.2, DP-HP Table 1).

`python -m benchmarks.papers.marginals --data FOLDER`, from the root of the repository. The error is the total variation
distance between synthetic and real table, averaged over all choices of α columns, or over `MOST` of them that are drawn
once. Real are the very rows that were learnt from, as in the papers.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import platformdirs
import pyarrow.parquet as pq
import typer

from benchmarks.arguments import chosen_names, split_numbers
from benchmarks.tables import methods as tables_methods
from benchmarks.tables.bench import Place, make
from benchmarks.tables.job import Run
from benchmarks.tables.methods import Method
from pointillist.errors import PointillistError
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.tables.sample import read as read_sample
from pointillist.methods import methods_of

from . import output
from .discretised import DIFFERENCES, DISCRETISED, Rows

NAME = "marginals"
OURS = methods_of("tables")
DELTA = 1e-5
ORDERS = (2, 3, 4, 5)
"""The papers' α, and one more: the authors' code counts α + 1 columns where it says α."""
MOST = 1_500
"""The most tables of one α that are compared."""
BINS = 256
"""More than any column here has values: nothing is joined, for rivals or for the measure."""

_ENVIRONMENTS = Path(platformdirs.user_cache_dir("pointillist-bench"))

PUBLISHED: dict[tuple[str, float, int], tuple[float | None, float | None, float | None]] = {
    ("adult", 1.0, 3): (0.275, 0.348, None),
    ("adult", 1.0, 4): (None, 0.468, None),
    ("adult", 0.3, 3): (0.446, 0.405, 0.332),
    ("adult", 0.3, 4): (0.547, 0.508, 0.418),
    ("adult", 0.1, 3): (0.577, 0.480, 0.377),
    ("adult", 0.1, 4): (0.673, 0.590, 0.467),
    ("census", 1.0, 2): (0.131, 0.172, None),
    ("census", 1.0, 3): (0.264, 0.291, None),
    ("census", 0.3, 2): (0.180, 0.190, 0.141),
    ("census", 0.3, 3): (0.323, 0.302, 0.211),
    ("census", 0.1, 2): (0.291, 0.222, 0.155),
    ("census", 0.1, 3): (0.429, 0.337, 0.232),
}
"""PrivBayes, DP-MERF and DP-HP by data set, ε and α: DP-HP Table 1, and DP-MERF supplement M.2 for ε = 1."""

REFERENCES = {"independent": "independent columns", "fresh": "fresh real rows"}
"""Not private, run once: each column of the real rows shuffled by itself, and other rows of the same survey."""


@dataclass(frozen=True)
class Contender:
    """A method as the bench of tables runs it, and the neighbours of its promise."""

    method: Method
    neighbours: str


def contender(name: str) -> Contender:
    """Our methods by their names, with defaults and without a target; PrivBayes as the bench of tables sets it."""
    if name == "privbayes":
        return Contender(tables_methods.METHODS[name], "add-remove")
    settings = {"target": None, "neighbours": "replace-one"}
    ours = replace(tables_methods.METHODS["mosaic"], name=name, label=f"`{name}`", settings=settings)
    return Contender(ours, "replace-one")


def errors(real: Sample, synthetic: Sample) -> dict[str, Any]:
    """The mean error for every α, and over how many tables it was taken."""
    found = {order: marginals(real, synthetic, order, bins=BINS, most=MOST, seed=0) for order in ORDERS}
    means = {_error(order): each.mean for order, each in found.items()}
    return {**means, **{f"tables_{order}": len(each.tables) for order, each in found.items()}}


def run(here: Rows, one: Contender, epsilon: float, seed: int, environments: Path, limit: float) -> dict[str, Any]:
    """One synthetic table, made in a process of its own on one thread, and its errors."""
    this = Run(here.dataset.name, one.method.name, epsilon, DELTA, seed, BINS)
    with tempfile.TemporaryDirectory(prefix="pointillist-marginals-") as temporary:
        place = Place(Path(temporary), environments)
        record = make(this, one.method, here, place, limit)
        scores: dict[str, Any] = {}
        if record["status"] == "done":
            synthetic = read_sample(pq.read_table(place.synthetic(this)), here.dataset.schema)
            scores = errors(here.train, synthetic)
    return {**record, "neighbours": one.neighbours, **scores}


def reference(here: Rows, name: str) -> dict[str, Any]:
    """Errors of what is no method."""
    other = here.test if name == "fresh" else independent(here.train, seed=0)
    facts = {"dataset": here.dataset.name, "method": name, "seed": 0, "rows": other.rows, "status": "done"}
    return {**facts, **errors(here.train, other), "versions": output.versions()}


def page(rows: list[dict[str, Any]]) -> str:
    """What a person reads: published and measured side by side, then what it cost, then what was compared."""
    parts = [_INTRODUCTION]
    for dataset in dict.fromkeys(row["dataset"] for row in rows):
        mine = [row for row in rows if row["dataset"] == dataset]
        learnt = DISCRETISED[dataset].rows
        parts.append(f"## {dataset.capitalize()}, {learnt:,} rows, δ = {DELTA:g}\n")
        parts += [output.markdown(*_errors_table(mine)), _verdict(mine), output.markdown(*_cost_table(mine))]
    parts += ["## The tables\n", DIFFERENCES, _MEASURE]
    return "\n".join(parts)


def _errors_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    dataset = rows[0]["dataset"]
    methods = _methods(rows)
    heads = ["ε", "α", "PrivBayes, published", "DP-MERF, published", "DP-HP, published", *map(_label, methods)]
    heads += [REFERENCES[name] for name in REFERENCES]
    lines = []
    for epsilon in _epsilons(rows):
        for order in ORDERS:
            published = PUBLISHED.get((dataset, epsilon, order), (None, None, None))
            cells: list[Any] = [f"{epsilon:g}", order, *(None if each is None else f"{each:.3f}" for each in published)]
            cells += [_cell(_of(rows, name, epsilon), order) for name in methods]
            cells += [_cell(_of(rows, name, None), order) for name in REFERENCES]
            lines.append(cells)
    return heads, lines


def _cell(rows: list[dict[str, Any]], order: int) -> str | None:
    done = [row[_error(order)] for row in rows if row["status"] == "done"]
    return output.mean_and_spread(done, 3) if done else rows[0]["status"] if rows else None


def _cost_table(rows: list[dict[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    heads = ["method", "ε", "runs", "neighbours", "CPU-s", "peak MB", "not done"]
    lines = []
    for name in _methods(rows):
        for epsilon in _epsilons(rows):
            mine = _of(rows, name, epsilon)
            if not mine:
                continue
            done = [row for row in mine if row["status"] == "done"]
            cost = [output.mean_and_spread((row[what] for row in done), 0) for what in ("cpu_seconds", "peak_mb")]
            reasons = dict.fromkeys(row["reason"] for row in mine if row["status"] != "done")
            lines.append([_label(name), f"{epsilon:g}", len(done), mine[0]["neighbours"], *cost, "; ".join(reasons)])
    return heads, lines


def _verdict(rows: list[dict[str, Any]]) -> str:
    """Which of ours are below the published DP-HP error, and which stay so with a column more than it has."""
    lines = []
    for (dataset, epsilon, order), (_, _, wanted) in PUBLISHED.items():
        if dataset == rows[0]["dataset"] and wanted is not None and epsilon in _epsilons(rows):
            below, still = (_ours_below(rows, epsilon, columns, wanted) for columns in (order, order + 1))
            lines.append(
                f"- ε = {epsilon:g}, DP-HP at α = {order}: {wanted:.3f}. Below it: {below}; even with {order + 1} "
                f"columns: {still}."
            )
    return "\n".join(lines) + "\n"


def _ours_below(rows: list[dict[str, Any]], epsilon: float, order: int, wanted: float) -> str:
    found = []
    for name in _methods(rows):
        done = [row[_error(order)] for row in _of(rows, name, epsilon) if row["status"] == "done"]
        if name in OURS and done and sum(done) / len(done) < wanted:
            found.append(_label(name))
    return ", ".join(found) or "none"


def _methods(rows: list[dict[str, Any]]) -> list[str]:
    """The private methods among the rows: PrivBayes, then ours as the package lists them, `mosaic` last."""
    order = ["privbayes", *(name for name in OURS if name != "mosaic"), "mosaic"]
    there = {row["method"] for row in rows if row["method"] not in REFERENCES}
    return [name for name in order if name in there] + sorted(there - set(order))


def _epsilons(rows: list[dict[str, Any]]) -> list[float]:
    return sorted({row["epsilon"] for row in rows if row.get("epsilon") is not None}, reverse=True)


def _of(rows: list[dict[str, Any]], method: str, epsilon: float | None) -> list[dict[str, Any]]:
    return [row for row in rows if row["method"] == method and row.get("epsilon") == epsilon]


def _label(name: str) -> str:
    return "PrivBayes (dpmm), here" if name == "privbayes" else f"`{name}`"


def _error(order: int) -> str:
    return f"error_{order}"


_INTRODUCTION = """# Tables of α columns

Mean total variation distance between synthetic and real tables of α columns, from 0 (the same) to 1: DP-HP Table 1 and
DP-MERF supplement M.2 beside what is measured here, mean ± standard deviation over runs. Made by
`python -m benchmarks.papers.marginals --data FOLDER`.
"""

_MEASURE = f"""## The measure and the promises

- Every column counts with all of its values, over all choices of α columns, or {MOST:,} drawn once where there are
  more. The real table is the one that was learnt from.
- The authors' code takes **α + 1 columns** where it says α, one bin too few in every column, and bins that depend on
  the synthetic values. Whether the published figures were made with it is not known. If they were, a published α stands
  beside α + 1 of ours, so those lines are here too.
- "Independent columns" are the real ones, each shuffled by itself: no privacy, no dependence. "Fresh real rows" are
  those of the test file; their distance is chance, and the fewer rows a table has, the larger it is.
- Ours: defaults, no target, replace-one neighbours as in the papers, so the number of rows is public. The noise is
  calibrated exactly for (ε, {DELTA:g}).
- PrivBayes here is that of dpmm 0.1.9 with its defaults (one parent per column), for (ε, {DELTA:g}) through zCDP, with
  **add-remove** neighbours; it is given the same values and the sizes of their domains. Published is the original one:
  Laplace noise and pure ε, with the parameter θ chosen for the best result, without paying for the choice.
"""


app = typer.Typer(add_completion=False)


@app.command()
def main(
    which: Annotated[str, typer.Option("--datasets", help="Data sets, with commas between them.")] = "adult,census",
    methods: Annotated[str, typer.Option(help="Methods, with commas between them.")] = "privbayes,merf,hermite,mosaic",
    epsilons: Annotated[str, typer.Option(help="Values of epsilon, with commas between them.")] = "0.3,0.1",
    seeds: Annotated[int, typer.Option(min=1, help="How many runs of each; the privacy noise has no seed.")] = 5,
    time_limit: Annotated[float, typer.Option(help="Seconds that one run may take.")] = 3600,
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = output.RESULTS,
    envs: Annotated[Path, typer.Option(help="Folder for the environment of PrivBayes.")] = _ENVIRONMENTS,
    again: Annotated[bool, typer.Option("--again", help="Run what is done once more.")] = False,
) -> None:
    """Errors of all tables of α columns on discretised Adult and Census, beside the published ones.

    Runs that are done are skipped, so an interrupted bench goes on where it stopped.
    """
    try:
        names = chosen_names(which, list(DISCRETISED), "data set")
        chosen = chosen_names(methods, ["privbayes", *OURS], "method")
        budgets = split_numbers(epsilons)
        rows = output.read(NAME, out)
        if again:
            rows = [row for row in rows if not _asked_for(row, names, chosen, budgets)]
        for name in names:
            here = Rows(DISCRETISED[name], data)
            contenders = [contender(each) for each in chosen]
            for row in _made(rows, here, contenders, budgets, range(seeds), envs, time_limit):
                rows.append(row)
                typer.echo(_line(row))
                output.write(rows, NAME, out)
        typer.echo(output.write_page(page(rows), NAME, out))
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


def _asked_for(row: dict[str, Any], datasets: list[str], methods: list[str], epsilons: list[float]) -> bool:
    private = row["method"] in methods and row["epsilon"] in epsilons
    return row["dataset"] in datasets and (private or row["method"] in REFERENCES)


def _made(
    rows: list[dict[str, Any]],
    here: Rows,
    contenders: list[Contender],
    epsilons: list[float],
    seeds: Iterable[int],
    environments: Path,
    limit: float,
) -> Iterator[dict[str, Any]]:
    """What is not among the rows, which grow on the way: seed by seed, so that an interrupted bench has some of all.

    A method that did not end once is not tried with other seeds.
    """
    dataset = here.dataset.name
    for name in REFERENCES:
        if not any(row["dataset"] == dataset and row["method"] == name for row in rows):
            yield reference(here, name)
    for seed, epsilon, one in product(seeds, epsilons, contenders):
        tried = _of([row for row in rows if row["dataset"] == dataset], one.method.name, epsilon)
        if not any(row["seed"] == seed or row["status"] != "done" for row in tried):
            yield run(here, one, epsilon, seed, environments, limit)


def _line(row: dict[str, Any]) -> str:
    parts = (row["dataset"], row["method"], row.get("epsilon"), row["seed"])
    name = " ".join(str(part) for part in parts if part is not None)
    if row["status"] != "done":
        return f"{name}: {row['status']}, {row['reason']}"
    found = ", ".join(f"{order}-way {row[_error(order)]:.4f}" for order in ORDERS)
    return f"{name}: {found}; {row.get('cpu_seconds') or 0:.0f} CPU-s"


if __name__ == "__main__":
    app()
