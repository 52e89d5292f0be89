"""What wide tables cost: CPU time, time on the clock and peak memory of release + fit + sample by number of columns.

    python -m benchmarks.wide
    python -m benchmarks.wide --rows 10000 --cases "50 numbers,20 indicators"

The tables are simulated: a few hidden factors, and columns that follow them, all numbers or all indicators. Every run
is a process of its own, so that its peak is its own.
"""

import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from benchmarks.arguments import split_names
from benchmarks.tables.process import call
from pointillist import Boolean, Real, Schema, Synthesizer
from pointillist.errors import UsageError

_FACTORS = 6
_CASES = "50 numbers,150 numbers,600 numbers,140 indicators"
_KINDS = ("numbers", "indicators")


def simulate(rows: int, columns: int, kind: str) -> tuple[pa.Table, Schema]:
    """A table whose columns depend on a few hidden factors, and the label `y` on the first."""
    generator = np.random.default_rng(0)
    factors = generator.standard_normal((rows, _FACTORS))
    values = factors @ generator.standard_normal((_FACTORS, columns)) / np.sqrt(_FACTORS)
    values += 0.7 * generator.standard_normal(values.shape)
    label = factors[:, 0] > 0.5
    data: dict[str, object] = {"y": label}
    described: dict[str, Any] = {"y": Boolean(missing=False)}
    for number in range(columns):
        name = f"x{number}"
        data[name] = values[:, number] > 1 if kind == "indicators" else np.clip(values[:, number], -5, 5)
        described[name] = Boolean(missing=False) if kind == "indicators" else Real(min=-5, max=5, missing=False)
    return pa.table(data), Schema(name="wide", rows=rows, reviewed=True, columns=described)


def parse(case: str) -> tuple[int, str]:
    """How many columns of which kind."""
    number, _, kind = case.partition(" ")
    if not number.isdigit() or kind not in _KINDS:
        raise UsageError(f"case {case!r} is not a number and one of: {', '.join(_KINDS)}.")
    return int(number), kind


def run(rows: int, case: str) -> None:
    """One table from rows to rows."""
    table, schema = simulate(rows, *parse(case))
    with tempfile.TemporaryDirectory() as folder:
        made = Synthesizer(schema, epsilon=1.0, target="y", ledger=Path(folder) / "ledger.sqlite").fit(table)
        if made.sample(rows, seed=0).num_rows != rows:
            raise RuntimeError("a row is missing")


def main(
    rows: Annotated[int, typer.Option(min=1, help="Rows of every table.")] = 100_000,
    cases: Annotated[str, typer.Option(help="Columns, with commas between the cases.")] = _CASES,
    here: Annotated[bool, typer.Option("--here", hidden=True)] = False,
) -> None:
    """Every case, as a Markdown table."""
    try:
        names = [case for case in split_names(cases) if parse(case)]
    except UsageError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    if here:
        run(rows, cases)
        return
    print("| columns | rows | CPU-s | wall-s | peak MB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in names:
            command = [sys.executable, "-m", "benchmarks.wide", "--here", "--rows", str(rows), "--cases", case]
            outcome = call(command, log=Path(folder) / "log.txt", limit=3600)
            if outcome.status != "done":
                raise SystemExit(f"{case}: {outcome.status} {outcome.reason}")
            costs = f"{outcome.cpu_seconds:.0f} | {outcome.wall_seconds:.0f} | {outcome.peak_mb:.0f}"
            print(f"| {case} | {rows:,} | {costs} |", flush=True)


if __name__ == "__main__":
    typer.run(main)
