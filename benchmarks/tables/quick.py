"""Quick: our method as it is in the working tree, on many small settings, beside an earlier run of the same.

    python -m benchmarks.tables.quick --tables tune --epsilons 0.1,0.3,1,3 --data FOLDER
    python -m benchmarks.tables.quick --tables tune --data FOLDER --keep before.json       # a baseline of one's own
    python -m benchmarks.tables.quick --tables tune --data FOLDER --against before.json
    python -m benchmarks.tables.quick --tables tune --data FOLDER --against benchmarks/tables/results/quick-aim.json

For whoever changes the method: all in one process, a line for each setting as it is done, a mean over runs, then geometric
means of the ratios to the baseline, by epsilon. Below 1 is better. Two fast models instead of the bench's three, so losses
are not those of `results.md`; `quick-aim.json` holds AIM's in the same measures, from the rows that the bench kept of it
(--method aim-mbi). Choose on `tune`, `simulated` and `open` tables; what is told of a change comes from `report`.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import typer

import pointillist as pt
from benchmarks import stamp
from benchmarks.arguments import split_numbers
from pointillist.errors import PointillistError
from pointillist.evaluate.tables.metrics.marginals import independent, marginals
from pointillist.evaluate.tables.sample import read

from . import ratios
from .bench import Loaded, Place
from .datasets import chosen, datasets
from .job import Run
from .learning import FAST

RESULTS = Path(__file__).parent / "results"
BASELINE = RESULTS / "quick.json"
DELTA = 1e-5
MEASURES = {
    "tvd_1": "1-way", "tvd_2": "2-way", "tvd_3": "3-way", "tvd_strongest": "strong10", "dependence": "depend",
    "auroc_loss": "AUROC-", "auprc_loss": "AUPRC-", "cpu_seconds": "CPU-s",
}  # fmt: skip
"""What is compared, by the heads of the printed columns: errors, what models lose, what it costs."""
Facts = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """One table at one epsilon; fewer rows than it has, if asked."""

    table: str
    epsilon: float
    rows: int | None = None

    @property
    def key(self) -> str:
        return f"{self.table}{'' if self.rows is None else f'[{self.rows}]'} {self.epsilon:g}"


class Table(Loaded):
    """A data set with what models learn from its real rows, and from none of its dependence."""

    def cut(self, rows: int | None) -> "Table":
        """The same with fewer rows to learn from."""
        if rows is not None and rows < self.split.train.num_rows:
            self.split = type(self.split)(self.split.train.slice(0, rows), self.split.test)
        return self

    def references(self) -> tuple[Facts, Facts]:
        """Scores of the real rows, which every loss is counted from, and of their columns each shuffled by itself."""
        shuffled = independent(self.train, seed=0)
        return self.yardstick.score(self.train, FAST), self.yardstick.near(shuffled) | self.yardstick.dependent(
            shuffled
        )


Make = Callable[[Table, float, int], tuple[pa.Table, float] | None]
"""From a table, an epsilon and the number of the run to synthetic rows, if there are any, and the CPU seconds they took."""


def ours(settings: Facts) -> Make:
    """Release, fit and sample; the privacy noise has no seed."""

    def make(table: Table, epsilon: float, seed: int) -> tuple[pa.Table, float]:
        start = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            made = pt.Synthesizer(
                table.dataset.schema, epsilon=epsilon, delta=DELTA, seed=seed, ledger=Path(folder) / "ledger.sqlite",
                **{"target": table.dataset.target or None, **settings},
            ).fit(table.split.train).sample(table.train.rows, seed=seed)  # fmt: skip
        return made, time.process_time() - start

    return make


def kept(place: Place, method: str) -> Make:
    """What the bench made with a method, from where it keeps synthetic rows."""

    def find(table: Table, epsilon: float, seed: int) -> tuple[pa.Table, float] | None:
        run = Run(table.dataset.name, method, epsilon, DELTA, seed)
        record = place.records.run(run.key)
        if record is None or not place.synthetic(run).exists():
            return None
        return pq.read_table(place.synthetic(run)), record["cpu_seconds"]

    return find


def measure(table: Table, made: pa.Table, cost: float) -> Facts:
    """Scores, and how far pairs would be off if the synthetic columns were shuffled."""
    rows = read(made, table.dataset.schema)
    alone = marginals(table.train, independent(rows, seed=0), 2).mean
    return {**table.yardstick.score(rows, FAST), "tvd_2_shuffled": alone, "cpu_seconds": cost}


def losses(scores: Facts, real: Facts) -> Facts:
    """What models lose by learning from synthetic rows."""
    return {f"{name}_loss": real[name] - scores[name] for name in ("auroc", "auprc") if name in scores}


def mean(runs: Sequence[Facts]) -> Facts:
    """The mean of every number over runs."""
    numbers = [name for name, value in runs[0].items() if isinstance(value, float)]
    return {name: float(np.mean([run[name] for run in runs])) for name in numbers}


def ratio(name: str, now: Facts, before: Facts) -> float | None:
    """A measure as a multiple of the baseline's."""
    if name.endswith("_loss"):
        return ratios.of_losses(now.get(name), before.get(name))
    slack = ratios.LEAST_DEPENDENCE if name == "dependence" else 0.0
    return ratios.of_errors(now.get(name), before.get(name), slack)


def line(key: str, cells: Iterable[str]) -> str:
    return f"{key:<22}" + "".join(f"{cell:>10}" for cell in cells)


def shown(found: Facts) -> list[str]:
    return [_number(found.get(name)) for name in MEASURES]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if abs(value) >= 10 else f"{value:.4f}"


def compared(now: Facts, before: Facts) -> list[str]:
    found = [ratio(name, now, before) for name in MEASURES]
    return ["" if each is None else f"x{each:.2f}" for each in found]


def summary(now: dict[str, Facts], before: dict[str, Facts]) -> list[str]:
    """Geometric means of ratios over the settings that both have: by epsilon, and all."""
    both = [key for key in now if key in before]
    lines = []
    for epsilon in [*sorted({key.split()[-1] for key in both}, key=float), "all"]:
        mine = [key for key in both if epsilon in ("all", key.split()[-1])]
        means = []
        for name in MEASURES:
            found = ratios.geometric_mean(ratio(name, now[key], before[key]) for key in mine)
            means.append("" if found is None else f"x{found:.3f}")
        lines.append(line(f"mean, {epsilon} ({len(mine)})", means))
    return lines


def main(
    tables: Annotated[str, typer.Option(help="Data sets or groups of them, with commas between them.")] = "tune",
    epsilons: Annotated[str, typer.Option(help="Values of epsilon, with commas between them.")] = "0.1,0.3,1,3",
    runs: Annotated[int, typer.Option(help="How often each setting is run.")] = 1,
    rows: Annotated[int | None, typer.Option(help="Learn from at most this many rows of each table.")] = None,
    settings: Annotated[str, typer.Option(help="What Synthesizer is called with besides, as JSON.")] = "{}",
    method: Annotated[str | None, typer.Option(help="Score what the bench kept of this method; run nothing.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the bench's results, for --method.")] = RESULTS,
    samples: Annotated[Path | None, typer.Option(help="Folder of the bench's synthetic tables, for --method.")] = None,
    against: Annotated[Path, typer.Option(help="The earlier run to compare with.")] = BASELINE,
    keep: Annotated[Path | None, typer.Option(help="A file to keep this run in, beside what it has.")] = None,
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
) -> None:
    """Run, print a line for each setting, and compare."""
    try:
        make = ours(json.loads(settings)) if method is None else kept(Place(out, out, samples=samples), method)
        run(chosen(tables), split_numbers(epsilons), runs, rows, make, _read(against), keep, data)
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


def run(
    names: Sequence[str], epsilons: Sequence[float], runs: int, rows: int | None, make: Make, before: dict[str, Facts],
    keep: Path | None, data: Path | None,
) -> None:  # fmt: skip
    """All settings, table by table."""
    now: dict[str, Facts] = {}
    typer.echo(line("table, epsilon", MEASURES.values()))
    for name in names:
        table = Table(datasets()[name], data).cut(rows)
        real, shuffled = table.references()
        typer.echo(line(f"{name}, independent", shown(shuffled)))
        for epsilon in epsilons:
            key = Setting(name, epsilon, rows).key
            made = [each for each in (make(table, epsilon, seed) for seed in range(runs)) if each is not None]
            if not made:
                continue
            found = [measure(table, *each) for each in made]
            now[key] = mean([{**each, **losses(each, real)} for each in found])
            now[key] |= {"runs": len(found), stamp.COLUMN: stamp.now()}
            typer.echo(line(key, shown(now[key])) + _besides(found, real))
            if key in before:
                typer.echo(line("", compared(now[key], before[key])))
            if now[key]["tvd_2"] > 1.02 * now[key]["tvd_2_shuffled"]:
                typer.echo(f"{'':<22}  worse pairs than with its columns shuffled: {now[key]['tvd_2_shuffled']:.4f}")
            if keep is not None:
                _write(keep, {**_read(keep), key: now[key]})
    typer.echo("\n".join(summary(now, before)))


def _besides(found: Sequence[Facts], real: Facts) -> str:
    """What only some tables have, beside the real rows' own, which shuffled columns have nothing of."""
    names = {"spearman_strongest": "Spearman", "accuracy_by_cells": "accuracy by cells"}
    return "".join(
        f"  {label} {np.mean([each[name] for each in found]):.3f} of {real[name]:.3f}"
        for name, label in names.items()
        if real.get(name) is not None
    )


def _read(path: Path) -> dict[str, Facts]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _write(path: Path, settings: dict[str, Facts]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rounded = {
        key: {name: float(f"{value:.5g}") if isinstance(value, float) else value for name, value in facts.items()}
        for key, facts in sorted(settings.items())
    }
    path.write_text(json.dumps(rounded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
