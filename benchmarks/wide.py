"""What wide tables cost: CPU time and peak memory of release + fit + sample by number of columns.

    python -m benchmarks.wide

The tables are simulated: a few hidden factors, and columns that follow them, all numbers or all indicators. Every run
is a process of its own, so that its peak is its own.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.tables.process import call
from pointillist import Boolean, Real, Schema, Synthesizer

_FACTORS = 6
_CASES = {
    "50 numbers": (50, "numbers"),
    "150 numbers": (150, "numbers"),
    "600 numbers": (600, "numbers"),
    "140 indicators": (140, "indicators"),
}


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


def run(rows: int, case: str) -> None:
    """One table from rows to rows."""
    columns, kind = _CASES[case]
    table, schema = simulate(rows, columns, kind)
    with tempfile.TemporaryDirectory() as folder:
        made = Synthesizer(schema, epsilon=1.0, target="y", ledger=Path(folder) / "ledger.sqlite").fit(table)
        if made.sample(rows, seed=0).num_rows != rows:
            raise RuntimeError("a row is missing")


def main(rows: int = 100_000) -> None:
    """Every case, as a Markdown table."""
    print("| columns | rows | CPU-s | peak MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for case in _CASES:
            command = [sys.executable, "-m", "benchmarks.wide", str(rows), case]
            outcome = call(command, log=Path(folder) / "log.txt", limit=3600)
            if outcome.status != "done":
                raise SystemExit(f"{case}: {outcome.status} {outcome.reason}")
            print(f"| {case} | {rows:,} | {outcome.cpu_seconds:.0f} | {outcome.peak_mb:.0f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(int(sys.argv[1]), sys.argv[2])
    else:
        main(*(int(argument) for argument in sys.argv[1:]))
