"""Coverage: releases of simulated tables, error bars for each, and how often they hold the private figure.

    python -m benchmarks.intervals                        # 100 releases at each ε: about a quarter of an hour on one core
    python -m benchmarks.intervals --runs 20 --epsilons 1
    python -m benchmarks.intervals --from-results         # only writes the page anew

Every release has a table of its own (seeded) and noise of its own (privacy noise has no seed), so figures differ a
little from run to run: by about 0.02 where 100 intervals hold with a chance of 0.95.
"""

import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from scipy import stats

import pointillist as pt
from benchmarks.arguments import split_numbers
from benchmarks.papers.output import markdown, read, write, write_page
from pointillist.inference.uncertainty import Uncertainty, uncertainty

from .population import METHOD, QUESTIONS, schema, simulate

NAME = "coverage"
RESULTS = Path(__file__).parent / "results"
CONFIDENCE = 0.95
SAMPLED = 5_000
"""Rows sampled from each model."""
Row = dict[str, Any]


def release_one(rows: int, epsilon: float, seed: int, folder: Path) -> tuple[pa.Table, pt.Release]:
    """A table and its release."""
    table = simulate(rows, seed)
    made = pt.release(table, schema(rows), epsilon=epsilon, method=METHOD, ledger=folder / f"{epsilon}-{seed}.sqlite")
    return table, made


def ask(table: pa.Table, bars: Uncertainty) -> list[Row]:
    """Every question, with its true answer."""
    _, *refits = bars.samples
    found = []
    for question in QUESTIONS:
        estimate, truth = question.ask(bars), question.answer(table)
        found.append(
            {
                "question": question.name,
                "basis": estimate.basis,
                "truth": truth,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "plainly": plainly(question.answer, estimate.value, refits, truth),
            }
        )
    return found


def plainly(statistic: Callable[[pa.Table], float], value: float, refits: Sequence[pa.Table], truth: float) -> bool:
    """Whether the spread of the refits alone, around the synthetic value, would have held the truth."""
    spread = float(np.std([statistic(each) for each in refits], ddof=1))
    return abs(truth - value) <= spread * float(stats.t.ppf((1 + CONFIDENCE) / 2, len(refits) - 1))


def page(rows: Sequence[Row]) -> str:
    """The table for people."""
    runs = {epsilon: len({row["seed"] for row in rows if row["epsilon"] == epsilon}) for epsilon in _epsilons(rows)}
    lines = [
        "# Coverage of error bars",
        "",
        "`python -m benchmarks.intervals`; see [docs/explanation/intervals.md](../../../docs/explanation/intervals.md).",
        "",
        f"Simulated tables of {rows[0]['rows']:,} rows and five columns, each released with noise of its own; intervals "
        f"of {CONFIDENCE:.0%} with {rows[0]['refits']} refits. *Held*: how often the interval held the private figure. "
        "*Width*: "
        "half of its mean width, in multiples of the synthetic value's root mean square error: at 1.96 an interval is "
        "as wide as an unbiased, normal error asks for. *Refits alone*: how often the spread of the refits, around the "
        "synthetic value and without taking its bias off, would have held it.",
        "",
        markdown(
            ["statistic", "from", *(f"ε = {e:g}: held | width | refits alone".replace("|", "/") for e in runs)],
            [
                [name, _bases(rows_of), *(_cell([r for r in rows_of if r["epsilon"] == e]) for e in runs)]
                for name, rows_of in _by_question(rows)
            ],
        ),
        "Releases: " + ", ".join(f"{count} at ε = {epsilon:g}" for epsilon, count in runs.items()) + ". Held in all: "
        + ", ".join(_held_in_all(rows, basis) for basis in _bases(rows).split("/") if basis != "not measured") + "."
        + _not_measured(rows),
    ]  # fmt: skip
    return "\n".join(lines)


def _held(rows: Sequence[Row]) -> int:
    return sum(row["low"] <= row["truth"] <= row["high"] for row in rows)


def _held_in_all(rows: Sequence[Row], basis: str) -> str:
    mine = [row for row in rows if row["basis"] == basis]
    return f"{_held(mine):,} of {len(mine):,} intervals from {basis}"


def _bases(rows: Sequence[Row]) -> str:
    return "/".join(sorted({row["basis"] for row in rows}))


def _not_measured(rows: Sequence[Row]) -> str:
    """How many questions had no interval, if any."""
    count = sum(row["basis"] == "not measured" for row in rows)
    return f" Not measured: {count:,} questions." if count else ""


def _cell(every: Sequence[Row]) -> str:
    rows = [row for row in every if row["basis"] != "not measured"]
    if not rows:
        return "not measured"
    held = _held(rows) / len(rows)
    wrong = np.sqrt(np.mean([(row["value"] - row["truth"]) ** 2 for row in rows]))
    half = np.mean([(row["high"] - row["low"]) / 2 for row in rows])
    width = half / wrong if wrong > 0 else np.inf  # a few runs may all be right to the last digit
    return f"{held:.3f} / {width:.1f} / {np.mean([row['plainly'] for row in rows]):.3f}"


def _by_question(rows: Sequence[Row]) -> Iterable[tuple[str, list[Row]]]:
    for name in dict.fromkeys(row["question"] for row in rows):
        yield name, [row for row in rows if row["question"] == name]


def _epsilons(rows: Sequence[Row]) -> list[float]:
    return list(dict.fromkeys(row["epsilon"] for row in rows))


def main(
    runs: Annotated[int, typer.Option(min=2, help="Releases at each ε.")] = 100,
    epsilons: Annotated[str, typer.Option(help="With commas between.")] = "0.5,1,3",
    rows: Annotated[int, typer.Option(min=100, help="Rows of each table.")] = 4_000,
    refits: Annotated[int, typer.Option(min=2)] = 10,
    output: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    from_results: Annotated[bool, typer.Option("--from-results", help="Only write the page.")] = False,
) -> None:
    """Measure, and write a Parquet file and a page."""
    if from_results:
        found = read(NAME, output)
    else:
        found, start = [], time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            for epsilon in split_numbers(epsilons):
                for seed in range(runs):
                    table, made = release_one(rows, epsilon, seed, Path(folder))
                    bars = uncertainty(made, refits=refits, confidence=CONFIDENCE, rows=SAMPLED, seed=seed)
                    settings = {"epsilon": epsilon, "seed": seed, "rows": rows, "refits": refits}
                    found += [{**settings, **row} for row in ask(table, bars)]
                typer.echo(f"ε = {epsilon:g}: {time.process_time() - start:.0f} CPU-seconds so far", err=True)
        write(found, NAME, output)
    typer.echo(write_page(page(found), NAME, output))


if __name__ == "__main__":
    typer.run(main)
