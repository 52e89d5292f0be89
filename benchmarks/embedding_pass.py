"""The cost of the embedding pass, beside reading the same columns with pyarrow, in one run.

Makes a Parquet file of simulated rows with 15 columns (once; kept in the folder given by --folder), then measures in
fresh processes the CPU time and peak memory of

- `read`: pyarrow decodes all 15 columns and drops them;
- `pass 1`, `pass 2`, `pass 3`: the embedding passes of `mosaic` with a target, each of which reads the same columns.

Prints the ratio of each pass to `read`, the peak memory, and how the time grows from a tenth of the rows to all.

    python -m benchmarks.embedding_pass                   # 10 million rows
    python -m benchmarks.embedding_pass --rows 1000000
"""

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from benchmarks import stamp
from pointillist.curator.releasing import embed
from pointillist.methods import Mosaic
from pointillist.plan import Request
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.noise import add_noise
from pointillist.reading.opening import open_source
from pointillist.release import Measurement
from pointillist.schema import Boolean, Categorical, Datetime, Integer, Ordinal, Real, Schema

ROOT = Path(__file__).parents[1]
GROUP = 250_000
MEASURES = ("src/pointillist/curator", "src/pointillist/engines", "src/pointillist/features", "src/pointillist/methods")
TARGET = "outcome"


def schema(rows: int) -> Schema:
    """Fifteen columns of every kind."""
    columns: dict[str, Any] = {
        f"code{i}": Categorical(categories=tuple(f"c{j:02d}" for j in range(size)), missing=False)
        for i, size in enumerate((5, 12, 40))
    }
    columns["grade"] = Ordinal(categories=("low", "middle", "high", "top"))
    columns["sex"] = Categorical(categories=("female", "male"), missing=False, out_of_domain="error")
    columns["member"] = Boolean(missing=False)
    columns["age"] = Integer(min=0, max=110, missing=False)
    columns["hours"] = Integer(min=1, max=100, special=(0,), missing=False)
    columns["visits"] = Integer(min=0, max=1000)
    columns["income"] = Real(min=1, max=1e6, special=(0.0,), scale="log", missing=False)
    columns["height"] = Real(min=100, max=220, missing=False)
    columns["weight"] = Real(min=20, max=250)
    columns["score"] = Real(min=-5, max=5, missing=False)
    columns["seen"] = Datetime(min="2000-01-01", max="2026-01-01", missing=False)  # type: ignore[arg-type]
    columns[TARGET] = Categorical(categories=("no", "yes"), missing=False, out_of_domain="error")
    return Schema(name="bench", rows=rows, columns=columns)


def group(number: int, rows: int) -> pa.Table:
    """One row group; columns depend on a common factor so that the tables are not flat."""
    rng = np.random.default_rng([1, number])
    factor = rng.standard_normal(rows)

    def names(size: int, prefix: str = "c") -> pa.Array:
        index = np.clip((rng.beta(1, 3, rows) * size + factor).astype(np.int32), 0, size - 1)
        return pa.DictionaryArray.from_arrays(index, [f"{prefix}{j:02d}" for j in range(size)]).cast(pa.string())

    def pick(words: list[str]) -> pa.Array:
        index = np.clip((rng.random(rows) * len(words) + 0.3 * factor).astype(np.int32), 0, len(words) - 1)
        return pa.DictionaryArray.from_arrays(index, words).cast(pa.string())

    missing = rng.random(rows) < 0.05
    return pa.table(
        {
            "code0": names(5),
            "code1": names(12),
            "code2": names(40),
            "grade": pick(["low", "middle", "high", "top"]),
            "sex": pick(["female", "male"]),
            "member": pa.array(rng.random(rows) < 0.3),
            "age": pa.array(np.clip(40 + 15 * factor + 5 * rng.standard_normal(rows), 0, 110).astype(np.int64)),
            "hours": pa.array(np.where(rng.random(rows) < 0.3, 0, rng.poisson(38, rows)).astype(np.int32)),
            "visits": pa.array(rng.geometric(0.05, rows), mask=missing),
            "income": pa.array(np.where(rng.random(rows) < 0.1, 0.0, np.exp(10 + factor + rng.standard_normal(rows)))),
            "height": pa.array(170 + 10 * factor),
            "weight": pa.array(75 + 12 * factor + rng.standard_normal(rows), mask=missing),
            "score": pa.array(rng.standard_normal(rows).astype(np.float32)),
            "seen": pa.array((11_000 + rng.integers(0, 9_000, rows)).astype(np.int32)).cast(pa.date32()),
            TARGET: pick(["no", "yes"]),
        }
    )


def make(path: Path, rows: int) -> None:
    """Write the file group by group."""
    if path.exists():
        return
    part = path.with_suffix(".part")
    with pq.ParquetWriter(part, group(0, 1).schema) as writer:
        for number, start in enumerate(range(0, rows, GROUP)):
            writer.write_table(group(number, min(GROUP, rows - start)))
    part.rename(path)


def measure(path: Path, task: str, rows: int) -> dict[str, float]:
    """CPU and wall seconds of one task, and this process's peak memory."""
    facts = schema(rows)
    timings: dict[str, float] = {}

    def timed(name: str, work: Any) -> Any:
        cpu, wall = time.process_time(), time.perf_counter()
        result = work()
        timings[f"{name} cpu"] = time.process_time() - cpu
        timings[f"{name} wall"] = time.perf_counter() - wall
        return result

    if task == "read":
        dataset = ds.dataset(path)
        columns = list(facts.measured)
        timed("read", lambda: sum(b.num_rows for b in dataset.to_batches(columns=columns, batch_readahead=4)))
    else:
        method = Mosaic()
        plan = method.plan(Request(facts, Budget(1.0, 1e-6), Neighbours.ADD_REMOVE, (TARGET,)))
        measured: list[Measurement] = []
        source = open_source(path)
        for number, each in enumerate(plan.rounds):
            feature_map = method.feature_map(plan, measured)
            # Compile the kernels on nothing first: compilation happens once per machine and is cached.
            embed(open_source(group(0, 10)), facts, feature_map, each.grid)
            sums, _ = timed(f"pass {number + 1}", lambda m=feature_map, g=each.grid: embed(source, facts, m, g))
            sigma = plan.sigma(number)
            measured.append(Measurement(feature_map, add_noise(sums, sigma), each.grid, sigma))
        timings["cells"] = measured[-1].feature_map.dimension
    timings["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return timings


def run(path: Path, task: str, rows: int, repeats: int) -> dict[str, float]:
    """`measure` in processes of its own: the least CPU time of several (other work on the machine only adds to it)."""
    command = [sys.executable, "-m", "benchmarks.embedding_pass"]
    command += ["--measure", task, "--file", str(path.resolve()), "--rows", str(rows)]
    runs = [
        dict(json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout))
        for _ in range(repeats)
    ]
    least = {name: min(each[name] for each in runs) for name in runs[0]}
    return {**least, "peak MB": max(each["peak MB"] for each in runs)}


@dataclass(frozen=True)
class Cost:
    """What reading a file and both passes over it cost."""

    rows: int
    cpu: dict[str, float]
    """CPU-seconds of `read` and of each pass."""
    peak_mb: dict[str, float]

    def ratio(self, name: str) -> float:
        """A pass in multiples of reading the same columns."""
        return self.cpu[name] / self.cpu["read"]


def cost(rows: int, repeats: int, folder: Path) -> Cost:
    """Measured on a file in `folder`, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"bench-{rows}.parquet"
    make(path, rows)
    read, embedded = (run(path, task, rows, repeats) for task in ("read", "embed"))
    passes = {name.removesuffix(" cpu"): each for name, each in embedded.items() if re.fullmatch(r"pass \d+ cpu", name)}
    peaks = dict.fromkeys(passes, embedded["peak MB"])
    return Cost(rows, {"read": read["read cpu"], **passes}, {"read": read["peak MB"], **peaks})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each; the least CPU time counts")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "pointillist-bench")
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(arguments.file, arguments.measure, arguments.rows)))
        return
    print(f"{stamp.line([stamp.now()], MEASURES)}\n\n| rows | what | CPU-s | × read | peak MB |\n|---|---|---|---|---|")
    found = []
    for rows in (arguments.rows // 10, arguments.rows):
        each = cost(rows, arguments.repeats, arguments.folder)
        found.append(each)
        for name, seconds in each.cpu.items():
            label = "read with pyarrow" if name == "read" else name
            line = f"| {rows:,} | {label} | {seconds:.2f} | {each.ratio(name):.2f} | {each.peak_mb[name]:.0f} |"
            print(line, flush=True)
    small, large = found
    for name in sorted({*small.cpu} & {*large.cpu} - {"read"}):  # few rows have fewer passes
        print(f"{name}: ten times the rows take {large.cpu[name] / small.cpu[name]:.1f} times the CPU time")


if __name__ == "__main__":
    main()
