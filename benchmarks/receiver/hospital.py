"""What a receiver gains when public rows come with weights: the tutorial's figures.

    python -m benchmarks.receiver.hospital

A simulated registry; one row in a hundred is public; the rest speaks through one release by landmarks at epsilon = 0.5.
Every figure is an error in units of the standard error that the public rows have on their own.
"""

import math
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import duckdb
import numpy as np
import pyarrow as pa
import typer

import pointillist as pt
from benchmarks.papers.output import markdown, read, write, write_page
from pointillist.demo import people

RESULTS = Path(__file__).parent / "results"
NAME = "hospital"
Row = dict[str, Any]
QUESTIONS = {
    "mean of bmi": "bmi",
    "mean of hours_per_week": "hours_per_week",
    "mean of income": "income",
    "share with a chronic illness": "case when chronic = 'yes' then 1.0 else 0.0 end",
    "share of smokers": "case when smoker then 1.0 else 0.0 end",
    "share living in Brintal": "case when region = 'Brintal' then 1.0 else 0.0 end",
    "share of smokers over 40,000": "case when smoker and income > 40000 then 1.0 else 0.0 end",
    "share of women with bmi over 30": "case when sex = 'female' and bmi > 30 then 1.0 else 0.0 end",
}


def chosen(table: pa.Table, scenario: str, seed: int) -> pa.Table:
    """The public rows: a random hundredth, or volunteers, among whom the chronically ill are three times as frequent."""
    generator = np.random.default_rng([3, seed])
    weights = np.ones(table.num_rows)
    if scenario == "volunteers":
        weights += 2 * np.array([value == "yes" for value in table["chronic"].to_pylist()])
    rows = generator.choice(table.num_rows, table.num_rows // 100, replace=False, p=weights / weights.sum())
    return table.take(np.sort(rows))


def figures(table: pa.Table) -> dict[str, tuple[float, float]]:
    """Every question's answer on a table, and its standard error."""
    base = duckdb.connect()
    base.register("people", table)
    asked = ", ".join(f"avg({each}), stddev({each}) / sqrt(count({each}))" for each in QUESTIONS.values())
    answers = base.sql(f"select {asked} from people").fetchall()[0]
    return {name: (answers[2 * place], answers[2 * place + 1]) for place, name in enumerate(QUESTIONS)}


def run(scenario: str, rows: int, epsilon: float, seed: int) -> Iterator[Row]:
    """One registry, one release, all questions."""
    table = people.simulate(rows, seed=seed)
    schema = people.SCHEMA.model_copy(update={"rows": rows})
    public = chosen(table, scenario, seed)
    with tempfile.TemporaryDirectory() as folder:
        release = pt.release(
            table,
            schema,
            epsilon=epsilon,
            delta=1e-6,
            method=pt.Landmarks(points=pt.public_points(public, schema), overlap=True, length_scale=0.5, floor=0.5),
            ledger=Path(folder) / "ledger.sqlite",
        )
    received = pt.receive(release)
    true, alone = figures(table), figures(public)
    for name, formula in QUESTIONS.items():
        truth, (first, unit) = true[name][0], alone[name]
        found = received.expect(formula)
        yield {
            "scenario": scenario, "rows": rows, "epsilon": epsilon, "seed": seed, "question": name,
            "alone": (first - truth) / unit, "weighted": (found.value - truth) / unit,
            "half_width": (found.high - found.low) / 2 / unit, "held": found.low <= truth <= found.high,
        }  # fmt: skip


def page(rows: list[Row]) -> str:
    """A table for each scenario: root mean square errors over repetitions."""
    text = ["# Public rows with weights", ""]
    for scenario in dict.fromkeys(row["scenario"] for row in rows):
        lines = []
        for question in QUESTIONS:
            mine = [row for row in rows if (row["scenario"], row["question"]) == (scenario, question)]
            if mine:
                errors = [math.sqrt(np.mean([row[key] ** 2 for row in mine])) for key in ("alone", "weighted")]
                width, held = np.mean([row["half_width"] for row in mine]), sum(row["held"] for row in mine)
                lines.append([question, *(f"{each:.2f}" for each in errors), f"{width:.2f}", f"{held} of {len(mine)}"])
        heads = ["question", "public rows alone", "with weights", "half of the interval", "held"]
        text += [f"## {scenario.capitalize()}", "", markdown(heads, lines)]
    return "\n".join(text)


def main(
    rows: Annotated[int, typer.Option(help="People in the registry.")] = 100_000,
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release.")] = 0.5,
    seeds: Annotated[int, typer.Option(help="Registries, each with a release of its own.")] = 10,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """Run what is not there yet, and write the tables."""
    done = read(NAME, out)
    for seed in range(seeds):
        for scenario in ("random rows", "volunteers"):
            known = {(row["scenario"], row["rows"], row["epsilon"], row["seed"]) for row in done}
            if (scenario, rows, epsilon, seed) in known:
                continue
            done += run(scenario, rows, epsilon, seed)
            write(done, NAME, out)
            typer.echo(f"{scenario}, registry {seed}: done")
    typer.echo(write_page(page(done), NAME, out))


if __name__ == "__main__":
    typer.run(main)
