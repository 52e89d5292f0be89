"""Owners beside a pooled release: Adult held by three owners, split at random and by region.

    python -m benchmarks.owners --data FOLDER                       # Adult, epsilon 1, five runs of each way
    python -m benchmarks.owners --table registry --runs 1           # nothing to download

Errors and losses are those of `benchmarks.tables.quick`; every way releases the same training rows.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

import pointillist as pt
from benchmarks.arguments import split_names
from benchmarks.papers.output import markdown, read, write, write_page
from benchmarks.tables.datasets import datasets
from benchmarks.tables.quick import DELTA, Table, losses, measure
from pointillist.errors import PointillistError

from .split import SPLITS
from .together import lenient, release_together

NAME = "owners"
RESULTS = Path(__file__).parent / "results"
MEASURES = {
    "tvd_1": "1-way", "tvd_2": "2-way", "tvd_3": "3-way", "tvd_strongest": "ten strongest pairs", "auroc_loss": "AUROC lost",
}  # fmt: skip
Row = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """How a table comes to be released."""

    name: str
    trust: str | None = None
    """None: pooled."""
    colluding: int | None = None
    split: str = "at random"


WAYS = (
    Way("pooled"),
    *(Way(f"trust in the sum, none colludes, {split}", "sum", 0, split) for split in SPLITS),
    Way("trust in the sum, one may collude, at random", "sum", 1),
    *(Way(f"trust in nobody, {split}", "nobody", None, split) for split in SPLITS),
)


def released(table: pa.Table, way: Way, seed: int, **options: Any) -> pt.Release:
    """A release of all rows."""
    schema = options.pop("schema")
    if way.trust is None:
        with tempfile.TemporaryDirectory() as folder:
            return pt.release(table, schema, ledger=Path(folder) / "ledger.sqlite", **options)
    parts = SPLITS[way.split](table, seed)
    return release_together(parts, schema, trust=way.trust, colluding=way.colluding, **options)


def run(table: Table, way: Way, epsilon: float, seed: int, real: Row) -> Row:
    """One release, one fit, one sample, scored."""
    start = time.process_time()
    data = table.dataset
    made = released(
        table.split.train,
        way,
        seed,
        schema=lenient(data.schema),
        epsilon=epsilon,
        delta=DELTA,
        target=data.target or None,
    )
    cost = time.process_time() - start
    rows = pt.fit(made, seed=seed).sample_table(table.train.rows, seed=seed)
    scores = measure(table, rows, cost)
    noise = made.plan.rounds[-1].blocks[0].noise_rows
    return {
        "table": data.name, "way": way.name, "epsilon": epsilon, "seed": seed, "noise_rows": noise, "release_cpu": cost,
        **{name: value for name, value in {**scores, **losses(scores, real)}.items() if name in MEASURES},
    }  # fmt: skip


def page(rows: Sequence[Row]) -> str:
    """Means over runs, with their standard errors."""
    text = ["# Several owners beside a pooled release", ""]
    for table, epsilon in dict.fromkeys((row["table"], row["epsilon"]) for row in rows):
        mine = [row for row in rows if (row["table"], row["epsilon"]) == (table, epsilon)]
        lines = []
        for way in dict.fromkeys(row["way"] for row in mine):
            runs = [row for row in mine if row["way"] == way]
            cells = [_shown([row[name] for row in runs]) for name in MEASURES if name in runs[0]]
            lines.append([way, str(len(runs)), f"{np.mean([row['noise_rows'] for row in runs]):.1f}", *cells])
        heads = ["way", "runs", "noise on a cell of the last round, in rows", *MEASURES.values()]
        text += [f"## {table}, ε = {epsilon:g}", "", markdown(heads[: len(lines[0])], lines)]
    return "\n".join(text)


def _shown(values: Sequence[float]) -> str:
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else ""
    return f"{np.mean(values):.4f}{error}"


def main(
    table: Annotated[str, typer.Option(help="A data set of benchmarks.tables.")] = "adult",
    epsilon: Annotated[float, typer.Option(help="Epsilon of each release.")] = 1.0,
    runs: Annotated[int, typer.Option(help="How often each way is run.")] = 5,
    ways: Annotated[str, typer.Option(help="Only ways whose name has one of these words, with commas between.")] = "",
    rows: Annotated[int | None, typer.Option(help="Learn from at most this many rows.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
) -> None:
    """Run what is not there yet, and write the table."""
    try:
        loaded = Table(datasets()[table], data).cut(rows)
        real, _ = loaded.references()
        done: list[Row] = read(NAME, out)
        words = split_names(ways) or [""]
        wanted = [way for way in WAYS if any(word in way.name for word in words)]
        for seed in range(runs):
            for way in wanted:
                key = (table, way.name, epsilon, seed)
                if key in {(row["table"], row["way"], row["epsilon"], row["seed"]) for row in done}:
                    continue
                done.append(run(loaded, way, epsilon, seed, real))
                write(done, NAME, out)
                typer.echo(f"{way.name}, run {seed}: 2-way {done[-1]['tvd_2']:.4f}")
        typer.echo(write_page(page(done), NAME, out))
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


if __name__ == "__main__":
    typer.run(main)
