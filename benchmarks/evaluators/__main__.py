"""SDMetrics' reports and synthcity's benchmark on our synthetic tables.

    python -m benchmarks.evaluators --data FOLDER                         # Adult: both, some minutes after setting up
    python -m benchmarks.evaluators --table registry --judges sdmetrics   # nothing to download but SDMetrics

Both packages want older versions of pandas, numpy or torch than the project's: each is set up in an environment of its own.
"""

import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.parquet as pq
import typer

import pointillist as pt
from benchmarks.arguments import chosen_names, split_numbers
from benchmarks.papers.output import markdown, write, write_page
from benchmarks.tables.datasets import Dataset, datasets, split
from benchmarks.tables.environments import ENVIRONMENTS, Environment, NotInstalled
from benchmarks.tables.process import call
from pointillist.errors import PointillistError

HERE = Path(__file__).parent
RESULTS = HERE / "results"
JUDGES = ("sdmetrics", "synthcity")
SDTYPES = {
    "integer": "numerical", "real": "numerical", "categorical": "categorical", "ordinal": "categorical",
    "boolean": "boolean", "datetime": "datetime", "ignore": "id",
}  # fmt: skip
"""Our kinds of columns in SDV's words."""
LIMIT = 1_800.0
"""Seconds that a judge may take."""
Row = dict[str, Any]


def metadata(dataset: Dataset) -> Row:
    """The columns in SDV's words."""
    return {"columns": {name: {"sdtype": SDTYPES[each.kind]} for name, each in dataset.schema.measured.items()}}


def judge(name: str, folder: Path, environments: Path) -> Row:
    """Run a judge on a folder, in its own environment, and read what it has found."""
    environment = Environment(name, HERE / f"{name}.txt", (3, 12) if name == "synthcity" else (3, 14))
    python = environment.ready(environments)
    log = folder / "log.txt"
    paths = os.pathsep.join([str(HERE.parents[1] / "src"), str(HERE.parents[1])])
    ended = call([str(python), str(HERE / f"{name}_judge.py"), str(folder)], log=log, limit=LIMIT,
                 extra={"PYTHONPATH": paths, "POINTILLIST_PROGRESS": "0"})  # fmt: skip
    if ended.status != "done":
        raise NotInstalled(f"{name} {ended.status}: {ended.reason}")
    return dict(json.loads((folder / "found.json").read_text()))


def sdmetrics(dataset: Dataset, real: pa.Table, holdout: pa.Table, epsilons: Sequence[float], folder: Path) -> Row:
    """The job: ours at each epsilon, and real rows that no one has seen, which no private table can beat by much."""
    names = [f"mosaic, ε = {epsilon:g}" for epsilon in epsilons]
    for name, epsilon in zip(names, epsilons, strict=True):
        made = pt.release(real, dataset.schema, epsilon=epsilon, target=dataset.target or None,
                          ledger=folder / f"{name}.sqlite")  # fmt: skip
        pq.write_table(pt.fit(made).sample_table(real.num_rows, seed=0), folder / f"{name}.parquet")
    pq.write_table(real, folder / "real.parquet")
    pq.write_table(holdout, folder / "real rows held out.parquet")
    return {"metadata": metadata(dataset), "contenders": [*names, "real rows held out"]}


def synthcity(dataset: Dataset, real: pa.Table, epsilons: Sequence[float], repeats: int, folder: Path) -> Row:
    """The job: our plugin at each epsilon beside plugins of its own: a private one, and one that copies real rows."""
    (folder / "schema.toml").write_text(dataset.schema.to_toml(), encoding="utf-8")
    pq.write_table(real, folder / "real.parquet")
    ours = {"schema": str(folder / "schema.toml"), "target": dataset.target}
    tests: list[tuple[str, str, Row]] = [
        (
            f"mosaic, ε = {epsilon:g}",
            "pointillist",
            {**ours, "epsilon": epsilon, "ledger": str(folder / f"{epsilon:g}.sqlite")},
        )
        for epsilon in epsilons
    ]
    tests += [(f"privbayes, ε = {epsilon:g}", "privbayes", {"epsilon": epsilon}) for epsilon in epsilons]
    tests += [("dummy_sampler: real rows", "dummy_sampler", {})]
    return {"tests": tests, "target": dataset.target, "repeats": repeats}


def page(title: str, found: Row, note: str) -> str:
    """A line for each contender, or for each metric where there are many."""
    rows, versions = found["rows"], ", ".join(f"{name} {each}" for name, each in found["versions"].items())
    if "metric" in rows[0]:
        names = list(dict.fromkeys(row["contender"] for row in rows))
        known = {(row["metric"], row["contender"]): row["value"] for row in rows}
        better = {row["metric"]: {"minimize": "lower", "maximize": "higher"}.get(row["direction"], "") for row in rows}
        lines = [
            [metric, way, *(_shown(known.get((metric, name))) for name in names)] for metric, way in better.items()
        ]
        table = markdown(["metric", "better", *names], lines)
    else:
        heads = list(rows[0])
        table = markdown(heads, [[row["contender"], *(_shown(row[head]) for head in heads[1:])] for row in rows])
    return f"# {title}\n\n{note} {versions}.\n\n{table}"


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def main(
    table: Annotated[str, typer.Option(help="A data set of benchmarks.tables.")] = "adult",
    judges: Annotated[str, typer.Option(help="sdmetrics, synthcity.")] = ",".join(JUDGES),
    epsilons: Annotated[str, typer.Option(help="Epsilons, with commas between.")] = "1,10",
    rows: Annotated[int, typer.Option(help="Rows that synthcity's benchmark takes.")] = 5_000,
    repeats: Annotated[int, typer.Option(help="Repeats of synthcity's benchmark: each spends anew.")] = 1,
    environments: Annotated[Path, typer.Option(help="Folder for the packages' environments.")] = ENVIRONMENTS,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
) -> None:
    """Make the tables, let each judge look at them, and keep what it says."""
    try:
        dataset, levels = datasets()[table], split_numbers(epsilons)
        cut = split(dataset.load(data))
        for name in chosen_names(judges, JUDGES, "judge"):
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                if name == "sdmetrics":
                    job = sdmetrics(dataset, cut.train, cut.test, levels, folder)
                    note = f"{table}: {cut.train.num_rows:,} real rows, one run of ours. 1 is best."
                else:
                    job = synthcity(dataset, cut.train.slice(0, rows), levels, repeats, folder)
                    note = f"{table}: {rows:,} real rows, of which four fifths are learned from; {repeats} run(s)."
                (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
                found = judge(name, folder, environments)
            write([{"table": table, **row} for row in found["rows"]], name, out)
            title = {"sdmetrics": "SDMetrics' reports", "synthcity": "synthcity's benchmark"}[name]
            typer.echo(write_page(page(title, found, note), name, out))
    except (PointillistError, NotInstalled) as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    typer.run(main)
