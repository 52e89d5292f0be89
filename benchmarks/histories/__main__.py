"""Persons with many rows: synthetic histories beside rows that know of no persons, and beside one wide row a person.

    python -m benchmarks.histories                                                # simulated visits, nothing to download
    python -m benchmarks.histories --tables nlswork,star,oulad,lahman --data FOLDER --epsilons 1,3 --runs 3

All ways make the same promise, for whole persons. A quarter of the persons is kept out: what is learnt is tested on them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from benchmarks.arguments import chosen_names, split_numbers
from benchmarks.papers.output import markdown, mean_and_spread, read, write, write_page
from pointillist.errors import PointillistError
from pointillist.evaluate.tables import history_comparison as comparison
from pointillist.evaluate.tables.histories import Histories
from pointillist.evaluate.tables.metrics.marginals import marginals

from .tables import TABLES, Table
from .ways import WAYS

NAME = "histories"
RESULTS = Path(__file__).parent / "results"
MEASURES = {
    "constant": "facts constant", "rows_tvd": "rows per person", "steps": "steps", "lag_off": "lag-1, mean off",
    "lag_within": "lag-1 within 0.1", "gaps": "gaps", "fact_row": "fact × row", "tvd_1": "1-way", "tvd_2": "2-way",
    "apart": "told apart", "learnt_loss": "AUROC lost", "cpu": "CPU-s",
}  # fmt: skip
NARROW = 6
"""One wide row a person is tried where she has no more rows than this."""
Row = dict[str, Any]


def run(table: Table, way: str, epsilon: float, seed: int, data: Path | None, persons: int | None) -> Row:
    """One release, one fit, one sample, scored."""
    rows = table.rows(data)
    names = np.random.default_rng(seed).permutation(rows[table.person].unique())[:persons]
    tested = set(names[: len(names) // 4])
    test = rows[rows[table.person].isin(tested)]
    train = rows[rows[table.person].isin(set(names) - tested)].reset_index(drop=True)
    schema = table.schema(rows)
    made = WAYS[way](train, schema, epsilon, table.target or None, seed)
    real, synthetic, unseen = (Histories.read(each, schema) for each in (train, made.rows, test))
    courses = comparison.compared(real, synthetic, seed)
    lags = [each.lag for each in courses if each.lag is not None and abs(each.lag.real) > 0.3]
    gaps = comparison.gaps(real, synthetic, seed)
    learnt = [comparison.learnt(each, unseen, table.target, seed) for each in (real, synthetic)] if table.target else []
    scores = [each for each in learnt if each is not None]
    return {
        "table": table.name, "way": way, "epsilon": epsilon, "seed": seed, "persons": real.persons,
        "constant": synthetic.constant,
        "rows_tvd": comparison.rows_per_person(real, synthetic, seed).value,
        "steps": float(np.mean([each.steps.value for each in courses if each.steps is not None])),
        "lag_off": float(np.mean([each.difference for each in lags])) if lags else None,
        "lag_within": float(np.mean([each.difference <= 0.1 for each in lags])) if lags else None,
        "gaps": None if gaps is None else gaps.value,
        "fact_row": float(np.mean(list(comparison.facts_with_rows(real, synthetic).values()))),
        "tvd_1": marginals(real.sample, synthetic.sample, 1).mean,
        "tvd_2": marginals(real.sample, synthetic.sample, 2, most=200).mean,
        "apart": comparison.told_apart(real, synthetic, seed)[0],
        "learnt_loss": scores[0] - scores[1] if len(scores) == 2 else None,
        "cpu": made.cpu,
    }  # fmt: skip


def page(rows: Sequence[Row]) -> str:
    """Means over runs."""
    text = ["# Persons with many rows", ""]
    for table, epsilon in sorted(dict.fromkeys((row["table"], row["epsilon"]) for row in rows)):
        mine = [row for row in rows if (row["table"], row["epsilon"]) == (table, epsilon)]
        lines = []
        for way in dict.fromkeys(row["way"] for row in mine):
            runs = [row for row in mine if row["way"] == way]
            cells = [_shown([row[name] for row in runs]) for name in MEASURES]
            lines.append([way, str(len(runs)), *cells])
        text += [f"## {table}, {mine[0]['persons']:,} persons, ε = {epsilon:g}", ""]
        text += [markdown(["way", "runs", *MEASURES.values()], lines)]
    return "\n".join(text)


def _shown(values: Sequence[float | None]) -> str:
    known = [each for each in values if each is not None]
    return mean_and_spread(known, 3) if known else "–"


def main(
    tables: Annotated[str, typer.Option(help="Of visits, nlswork, star, oulad, lahman.")] = "visits",
    epsilons: Annotated[str, typer.Option(help="Epsilon of each release.")] = "3",
    runs: Annotated[int, typer.Option(help="How often each way is run.")] = 1,
    ways: Annotated[str, typer.Option(help="Ways, with commas between.")] = ",".join(WAYS),
    persons: Annotated[int | None, typer.Option(help="At most this many persons.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Run anew what is there.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
) -> None:
    """Run what is not there yet, and write the table."""
    try:
        wanted = [
            (name, way, epsilon, seed)
            for name in chosen_names(tables, TABLES, "table")
            for epsilon in split_numbers(epsilons)
            for seed in range(runs)
            for way in chosen_names(ways, WAYS, "way")
            if way != "one wide row" or TABLES[name].most <= NARROW
        ]
        done: list[Row] = read(NAME, out)
        for key in wanted:
            there = [row for row in done if (row["table"], row["way"], row["epsilon"], row["seed"]) == key]
            if there and not again:
                continue
            done = [row for row in done if row not in there]
            done.append(run(TABLES[key[0]], *key[1:], data, persons))
            write(done, NAME, out)
            shown = {name: round(done[-1][name], 3) for name in MEASURES if done[-1][name] is not None}
            typer.echo(f"{key}: {shown}")
        typer.echo(write_page(page(done), NAME, out))
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


if __name__ == "__main__":
    typer.run(main)
