"""The command: python -m benchmarks.headlines, from the root of the repository."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import stamp
from benchmarks.arguments import chosen_names
from benchmarks.papers.output import markdown, read, write, write_page
from pointillist.errors import PointillistError

from . import claim as claims
from .claim import Folder, Outcome
from .registry import ALONE, AREAS

NAME = "headlines"
RESULTS = Path(__file__).parent / "results"
MEASURES = ("src/pointillist",)
Row = dict[str, Any]
_THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}

app = typer.Typer(add_completion=False)


def check_area(area: str, data: Folder, quick: bool) -> list[Outcome]:
    """All claims of an area, one after another."""
    chosen = claims.quick(AREAS[area]) if quick else AREAS[area]
    return [claims.check(claim, data) for claim in chosen]


def _row(outcome: Outcome) -> Row:
    claim = outcome.claim
    return {
        "claim": claim.name, "where": claim.where, "band": str(claim.band), "why": claim.band.why,
        "now": outcome.value, "status": outcome.status, "reason": outcome.reason,
        "cpu_seconds": round(outcome.cpu_seconds, 1), "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip


def _work(area: str, data: Folder, quick: bool) -> list[Row]:
    """In a process of its own; claims hold functions and stay there."""
    return [_row(outcome) for outcome in check_area(area, data, quick)]


def checked(areas: Iterable[str], data: Folder, quick: bool, jobs: int) -> Iterator[tuple[str, list[Row]]]:
    """Area by area; some side by side, each on one thread."""
    os.environ.update(_THREADS)
    areas = list(areas)
    for area in (each for each in areas if each in ALONE):
        yield area, _work(area, data, quick)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {area: pool.submit(_work, area, data, quick) for area in areas if area not in ALONE}
        for area, work in waiting.items():
            yield area, work.result()


def table(rows: Iterable[Row]) -> str:
    """What the command prints."""
    return markdown(
        ["claim", "band", "now", ""], [[row["claim"], row["band"], _now(row), row["status"]] for row in rows]
    )


def _now(row: Row) -> str:
    return row["reason"] if row["now"] is None else f"{row['now']:.4g}"


def page(rows: Iterable[Row]) -> str:
    """The table with where each claim is made and how its band was found."""
    lines = [
        [row["claim"], row["where"], row["band"], row["why"], _now(row), row["status"], row[stamp.COLUMN],
         f"{row['cpu_seconds']:.0f}"]
        for row in rows
    ]  # fmt: skip
    heads = ["claim", "made in", "band", "from", "now", "", "at commit", "CPU-s"]
    said = "`make headlines`; see [docs/headlines.md](../../../docs/headlines.md)."
    return f"# Headlines\n\n{said}\n\n{markdown(heads, lines)}"


@app.command()
def main(
    only: Annotated[str, typer.Option(help="Areas, with commas between them.")] = ",".join(AREAS),
    quick: Annotated[bool, typer.Option("--quick", help="Only the claims that `make test` checks.")] = False,
    data: Annotated[
        Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet and images/*.npz.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Areas at a time, each a process on one thread.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """Check the headline figures of README and docs against their bands; exit 1 where one is off.

    What is not checked this time keeps its line, and the stamp of its commit, in the results.
    """
    try:
        areas = chosen_names(only, list(AREAS), "area")
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    new: list[Row] = []
    for area, rows in checked([area for area in AREAS if area in areas], data, quick, jobs):
        typer.echo(f"{area}: {', '.join(row['status'] for row in rows) or 'nothing quick'}", err=True)
        new += rows
        _store(new, out)
    typer.echo(f"{stamp.line([stamp.now()], MEASURES)}\n\n{table(new)}")
    off = [row for row in new if row["status"] in ("off", "failed")]
    skipped = [row for row in new if row["status"] == "skipped"]
    typer.echo(f"{len(new) - len(off) - len(skipped)} ok, {len(off)} off, {len(skipped)} skipped.")
    if skipped:
        typer.echo("Skipped claims need public data sets: benchmarks/README.md says which, --data where.")
    raise typer.Exit(int(bool(off)))


def _store(new: list[Row], out: Path) -> None:
    order = {claim.name: number for number, claim in enumerate(each for area in AREAS.values() for each in area)}
    known = {row["claim"]: row for row in read(NAME, out) if row["claim"] in order}
    known |= {row["claim"]: row for row in new if row["status"] != "skipped" or row["claim"] not in known}
    rows = sorted(known.values(), key=lambda row: order[row["claim"]])
    write(rows, NAME, out, MEASURES)
    write_page(page(read(NAME, out)), NAME, out)


if __name__ == "__main__":
    app()
