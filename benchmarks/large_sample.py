"""What large samples cost: CPU time, time on the clock and memory of rows that are written to a folder part by part.

    python -m benchmarks.large_sample
    python -m benchmarks.large_sample --rows 1000000,5000000 --threads 1,2

The model is fitted to simulated rows with 15 columns of every kind, those of `embedding_pass`. Every run is a process of its
own, so that its peak is its own; beside the peak stands the memory that it had after the first part, and after the last one.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pyarrow.dataset as ds
import typer

from benchmarks import stamp
from benchmarks.arguments import split_names
from benchmarks.embedding_pass import TARGET, group, schema
from benchmarks.tables.process import Outcome, call
from pointillist import Model, Synthesizer
from pointillist.files.table_folder import write_folder

_FITTED = 50_000
"""Rows that the model is fitted to: what it takes to draw does not depend on their number."""
MEASURES = ("src/pointillist/generators", "src/pointillist/sampling", "src/pointillist/files/table_folder.py")


def fit(path: Path, columns: int) -> None:
    """Write the model, in a process of its own: what is left of a fit is no part of what a sample takes."""
    facts = schema(_FITTED)
    kept = {name: facts.columns[name] for name in [*list(facts.columns)[-columns:-1], TARGET]}
    facts = facts.model_copy(update={"reviewed": True, "columns": kept})
    with tempfile.TemporaryDirectory() as folder:
        made = Synthesizer(facts, epsilon=1.0, target=TARGET, ledger=Path(folder) / "ledger.sqlite")
        made.fit(group(0, _FITTED)).model_.save(path)


def write(model: Path, rows: int, part: int, threads: int, folder: Path) -> None:
    """Write a sample, and print the memory: MB at the start, after the first part and after the last one."""
    fitted, resident = Model.load(model), [_resident_mb()]
    write_folder(_noting(fitted.sample_parts(rows, seed=1, part=part, threads=threads), resident), folder)
    if ds.dataset(folder).count_rows() != rows:
        raise RuntimeError("a row is missing")
    print(resident[0], resident[1], resident[-1])


def _noting(parts: Iterator[pa.Table], resident: list[float]) -> Iterator[pa.Table]:
    for part in parts:
        resident.append(_resident_mb())
        yield part


def _resident_mb() -> float:
    """Memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(
    rows: Annotated[str, typer.Option(help="How many rows to write, separated by commas.")] = "1000000,5000000",
    part: Annotated[int, typer.Option(help="Rows of a part.")] = 1_000_000,
    threads: Annotated[str, typer.Option(help="How many parts are drawn at a time, separated by commas.")] = "1",
    columns: Annotated[int, typer.Option(min=2, max=15, help="Columns of the table.")] = 15,
    task: Annotated[str, typer.Option(hidden=True)] = "",
    model: Annotated[Path, typer.Option(hidden=True)] = Path(),
    folder: Annotated[Path, typer.Option(hidden=True)] = Path(),
) -> None:
    """Measure large samples."""
    if task:
        fit(model, columns) if task == "fit" else write(model, int(rows), part, int(threads), folder)
        return
    print(f"{stamp.line([stamp.now()], MEASURES)} {columns} columns.")
    print("\n| rows | threads | CPU-s | seconds | MB at first | after a part | after all | peak MB |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        fitted = Path(place) / "bench.model"
        _run("fit", fitted, "--columns", str(columns))
        for count in map(int, split_names(rows)):
            for each in map(int, split_names(threads)):
                own = [
                    "--rows",
                    str(count),
                    "--part",
                    str(part),
                    "--threads",
                    str(each),
                    "--folder",
                    f"{place}/{count}-{each}",
                ]
                outcome, told = _run("write", fitted, *own)
                start, first, last = map(float, told.split()[-3:])
                spent = f"{outcome.cpu_seconds:.0f} | {outcome.wall_seconds:.0f}"
                print(
                    f"| {count:,} | {each} | {spent} | {start:.0f} | {first:.0f} | {last:.0f} | {outcome.peak_mb:.0f} |",
                    flush=True,
                )


def _run(task: str, model: Path, *own: str) -> tuple[Outcome, str]:
    """A task in a process of its own: what it cost, and what it printed."""
    log = model.with_suffix(".log")
    command = [sys.executable, "-m", "benchmarks.large_sample", "--task", task, "--model", str(model), *own]
    outcome = call(command, log=log, limit=36_000)
    if outcome.status != "done":
        raise SystemExit(f"{task}: {outcome.status} {outcome.reason}")
    return outcome, log.read_text(encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
