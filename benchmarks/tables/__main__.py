"""The command: python -m benchmarks.tables, from the root of the repository."""

from pathlib import Path
from typing import Annotated

import pyarrow.parquet as pq
import typer

from benchmarks import stamp
from benchmarks.arguments import chosen_names, split_numbers
from pointillist.errors import PointillistError

from . import versus
from .bench import Place, bench, plan
from .datasets import chosen as chosen_datasets
from .datasets import datasets
from .environments import ENVIRONMENTS
from .figure import figures
from .methods import METHODS
from .results import collect, markdown

_RESULTS = Path(__file__).parent / "results"


app = typer.Typer(add_completion=False)


@app.command()
def main(
    which: Annotated[
        str,
        typer.Option("--datasets", help="Data sets, or groups: open, tune, report, simulated. Commas between them."),
    ] = "registry",
    methods: Annotated[str, typer.Option(help="Methods, with commas between them.")] = ",".join(METHODS),
    epsilons: Annotated[str, typer.Option(help="Values of epsilon, with commas between them.")] = "1",
    delta: Annotated[float, typer.Option(help="Delta of every private method.")] = 1e-5,
    seeds: Annotated[str, typer.Option(help="One run for each; the privacy noise itself has no seed.")] = "0",
    bins: Annotated[int, typer.Option(help="Bins of a number for the rivals: a multiple or divisor of 16.")] = 16,
    time_limit: Annotated[float, typer.Option(help="Seconds that one run may take.")] = 3600,
    data: Annotated[
        Path | None,
        typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet; the registry needs none."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = _RESULTS,
    envs: Annotated[Path, typer.Option(help="Folder for the environments of the rivals.")] = ENVIRONMENTS,
    samples: Annotated[
        Path | None,
        typer.Option(help="Folder for the synthetic tables; they are kept in the results' cache otherwise."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Run what is done once more.")] = False,
    rescore: Annotated[bool, typer.Option("--rescore", help="Score what is there once more.")] = False,
) -> None:
    """Run our method and its rivals side by side, one after another, and write results.

    Runs that are done are skipped, so an interrupted bench goes on where it stopped.
    """
    try:
        known = datasets()
        names = chosen_datasets(which)
        chosen = [METHODS[name] for name in chosen_names(methods, list(METHODS), "method")]
        runs = plan(names, chosen, split_numbers(epsilons), delta, [int(seed) for seed in split_numbers(seeds)], bins)
        place = Place(out, envs, data, samples)
        bench(runs, known, METHODS, place, limit=time_limit, again=again, rescore=rescore, say=typer.echo)
        write(out)
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None


def write(out: Path) -> None:
    """Collect all records of the folder: a Parquet file, a Markdown table, the figures."""
    table = collect(out)
    pq.write_table(table, out / "results.parquet")
    page = "\n".join(filter(None, (versus.markdown(table), markdown(table))))
    (out / "results.md").write_text(stamp.put(page, stamp.line(table[stamp.COLUMN].to_pylist())), encoding="utf-8")
    compared = versus.figure(table)
    if compared is not None:
        (out / "versus.svg").write_text(compared, encoding="utf-8")
    for name, text in figures(table).items():
        (out / name).write_text(text, encoding="utf-8")
    typer.echo(f"Wrote {out / 'results.md'}.")


if __name__ == "__main__":
    app()
