"""What a fit and a sample of mosaic cost, and how near the sample comes, beside a matrix product of the same machine.

    python -m benchmarks.fitting
    python -m benchmarks.fitting --rows 20000 --cases "trips" --releases 1

`trips` is simulated: 19 columns of every kind, of which some are functions of others. `registry` is the simulated table
of the demo. With `--releases` every table is measured anew so often, with new noise. Seconds are of the processor; a unit
is what a product of two 1,000 x 1,000 matrices takes in the same process, so that runs on machines of different speed, or
under load, can be compared.
"""

import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from benchmarks.arguments import split_names
from benchmarks.tables.process import call
from pointillist import Boolean, Categorical, Integer, Ordinal, Real, Schema
from pointillist.curator.releasing import release
from pointillist.demo import people
from pointillist.evaluate.tables.metrics.marginals import marginals
from pointillist.evaluate.tables.sample import read
from pointillist.methods.fit import fit

_CASES = ("trips", "registry")
_TABLES = 100
_CARRIERS, _ORIGINS, _GOALS = 14, 3, 40
_PRODUCT, _REPEATS = 1000, 5


def trips(rows: int) -> pa.Table:
    """Journeys: carriers have their own routes, distance follows the route, delays have long tails and follow the hour."""
    rng = np.random.default_rng(0)
    month, day, weekday = rng.integers(1, 13, rows), rng.integers(1, 29, rows), rng.integers(0, 7, rows)
    carrier = np.searchsorted(np.cumsum(rng.dirichlet(np.full(_CARRIERS, 0.8))), rng.random(rows)).clip(0, 13)
    origin = (rng.random(rows) + 0.7 * rng.random(_CARRIERS)[carrier] * 2).astype(int).clip(0, 2)
    routes = np.cumsum(rng.dirichlet(np.full(_GOALS, 0.15), _CARRIERS), axis=1)
    goal = (rng.random(rows)[:, None] > routes[carrier]).sum(axis=1).clip(0, _GOALS - 1)
    distance = (rng.gamma(3, 400, (_ORIGINS, _GOALS)) + 80)[origin, goal]
    planned = np.clip(rng.normal(np.array([8, 13, 17])[rng.integers(0, 3, rows)], 2), 5, 23.9)
    busy = 0.4 * (planned - 5) + 3 * np.isin(month, (6, 7, 12)) + 2 * rng.random(_CARRIERS)[carrier]
    late = np.where(rng.random(rows) < 0.04 * busy, rng.gamma(0.8, 40, rows), rng.normal(-4, 4, rows))
    air = distance / 7.5 + 18 + rng.normal(0, 6, rows)
    arrival = late + rng.normal(-5, 12, rows) + 0.02 * (air - 100)
    cancelled = rng.random(rows) < 0.004 * busy
    temperature = 12 - 11 * np.cos(2 * np.pi * month / 12) + rng.normal(0, 4, rows)
    rain = np.where(rng.random(rows) < 0.15, rng.exponential(3, rows), 0.0)
    return pa.table(
        {
            "month": month,
            "day": day,
            "weekday": pa.array([f"d{each}" for each in weekday]),
            "carrier": pa.array([f"c{each}" for each in carrier]),
            "origin": pa.array([f"o{each}" for each in origin]),
            "goal": pa.array([f"g{each}" for each in goal]),
            "planned": planned,
            "left": pa.array(np.clip(planned + late / 60, 0, 24), mask=cancelled),
            "late": pa.array(np.clip(late, -30, 600), mask=cancelled),
            "arrival": pa.array(np.clip(arrival, -60, 600), mask=cancelled),
            "air": pa.array(np.clip(air, 10, 700), mask=cancelled),
            "distance": np.clip(distance, 50, 5000),
            "speed": np.clip(distance / (air / 60), 0, 900),
            "seats": 50 + 10 * (distance / 200).astype(int).clip(0, 20) + 10 * rng.integers(0, 3, rows),
            "temperature": np.clip(temperature, -20, 45),
            "rain": np.clip(rain, 0, 40),
            "wind": np.clip(rng.gamma(3, 4, rows) + rain, 0, 100),
            "season": pa.array(np.array(["winter", "spring", "summer", "autumn"])[month % 12 // 3]),
            "delayed": arrival > 15,
        }
    )


def trips_schema(rows: int) -> Schema:
    """What is public about them."""
    columns: dict[str, Any] = {
        "month": Integer(min=1, max=12, missing=False),
        "day": Integer(min=1, max=28, missing=False),
        "weekday": Categorical(categories=tuple(f"d{each}" for each in range(7)), missing=False),
        "carrier": Categorical(categories=tuple(f"c{each}" for each in range(_CARRIERS)), missing=False),
        "origin": Categorical(categories=tuple(f"o{each}" for each in range(_ORIGINS)), missing=False),
        "goal": Categorical(categories=tuple(f"g{each}" for each in range(_GOALS)), missing=False),
        "planned": Real(min=5, max=24, missing=False),
        "left": Real(min=0, max=24),
        "late": Real(min=-30, max=600),
        "arrival": Real(min=-60, max=600),
        "air": Real(min=10, max=700),
        "distance": Real(min=50, max=5000, missing=False),
        "speed": Real(min=0, max=900, missing=False),
        "seats": Integer(min=50, max=300, missing=False),
        "temperature": Real(min=-20, max=45, missing=False),
        "rain": Real(min=0, max=40, special=(0.0,), missing=False),
        "wind": Real(min=0, max=100, missing=False),
        "season": Ordinal(categories=("winter", "spring", "summer", "autumn"), missing=False),
        "delayed": Boolean(missing=False),
    }
    return Schema(name="trips", rows=rows, reviewed=True, columns=columns)


def table_of(case: str, rows: int) -> tuple[pa.Table, Schema, str]:
    """A table, its schema and its target."""
    if case == "trips":
        return trips(rows), trips_schema(rows), "delayed"
    return people.simulate(rows), people.SCHEMA, people.TARGET


def unit() -> float:
    """Processor seconds of a matrix product, the least of several."""
    square = np.random.default_rng(0).random((_PRODUCT, _PRODUCT), dtype=np.float32)
    taken = []
    for _ in range(_REPEATS):
        start = time.process_time()
        square @ square
        taken.append(time.process_time() - start)
    return min(taken)


def run(case: str, rows: int) -> None:
    """One table, measured once: prints a row."""
    table, schema, target = table_of(case, rows)
    with tempfile.TemporaryDirectory() as folder:
        made = release(table, schema, epsilon=1.0, target=target, ledger=Path(folder) / "ledger.sqlite")
    one = unit()
    times = [time.process_time()]
    model = fit(made, seed=0)
    times.append(time.process_time())
    sampled = model.sample(rows, seed=0)
    times.append(time.process_time())
    real, synthetic = read(table, schema), read(sampled, schema)
    distances = [marginals(real, synthetic, order, most=_TABLES, seed=0).mean for order in (2, 3)]
    fitted, drawn = np.diff(times)
    shown = f"{fitted:.1f} | {fitted / one:.0f} | {drawn:.1f} | {drawn / one:.0f}"
    print(f"| {case} | {rows:,} | {shown} | {distances[0]:.4f} | {distances[1]:.4f} |", flush=True)


def main(
    rows: Annotated[int, typer.Option(min=1, help="Rows of every table.")] = 336_776,
    cases: Annotated[str, typer.Option(help="Tables, with commas between them.")] = ",".join(_CASES),
    releases: Annotated[int, typer.Option(min=1, help="How often each table is measured anew.")] = 1,
    here: Annotated[bool, typer.Option("--here", hidden=True)] = False,
) -> None:
    """Every case, as a Markdown table."""
    names = split_names(cases)
    for name in names:
        if name not in _CASES:
            typer.echo(f"Error: case {name!r} is not one of: {', '.join(_CASES)}.", err=True)
            raise typer.Exit(2)
    if here:
        run(cases, rows)
        return
    print("| table | rows | fit, CPU-s | units | sample, CPU-s | units | 2-way TVD | 3-way TVD |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        for name in names * releases:
            command = [sys.executable, "-m", "benchmarks.fitting", "--here", "--rows", str(rows), "--cases", name]
            outcome = call(command, log=log, limit=3600)
            if outcome.status != "done":
                raise SystemExit(f"{name}: {outcome.status} {outcome.reason}")
            print(log.read_text().strip(), flush=True)


if __name__ == "__main__":
    typer.run(main)
