"""The command: python -m benchmarks.headlines, from the root of the repository."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import stamp
from benchmarks.arguments import chosen_names
from benchmarks.papers.output import markdown, read, write, write_page
from pointillist.errors import PointillistError

from .checking import Row, checked
from .registry import AREAS

NAME = "headlines"
RESULTS = Path(__file__).parent / "results"
MEASURES = ("src/pointillist",)

app = typer.Typer(add_completion=False)


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
    said = "`make headlines`; see [docs/explanation/headlines.md](../../../docs/explanation/headlines.md)."
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
