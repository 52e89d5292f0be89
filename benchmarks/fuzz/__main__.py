"""Fuzz: hostile inputs for everything that reads one. None may end but by success or by one of the product's own errors.

python -m benchmarks.fuzz                        # 10,000 inputs
python -m benchmarks.fuzz --count 500 --seed 7 --only csv,arrow
python -m benchmarks.fuzz --only query --number 123 --seed 7   # one input again, with its traceback
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.arguments import chosen_names
from benchmarks.fuzz.engine import Tally, run
from benchmarks.fuzz.kind import Refused
from benchmarks.fuzz.kinds import KINDS
from pointillist.errors import PointillistError


def main(
    count: Annotated[int, typer.Option(min=1, help="How many inputs.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Another seed, other inputs.")] = 0,
    only: Annotated[str, typer.Option(help=f"Kinds of input, with commas: {', '.join(KINDS)}.")] = "",
    number: Annotated[int | None, typer.Option(help="Only this input of one kind, in this process.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes at a time.")] = os.cpu_count() or 1,
    keep: Annotated[Path, typer.Option(help="Where inputs that fail are kept.")] = Path("fuzz-failures"),
) -> None:
    """Try hostile inputs, and say how they ended."""
    names = chosen_names(only, KINDS, "kind") if only else list(KINDS)
    if number is not None:
        _again(names[0], seed, number)
        return
    tally = run(count, seed, names, workers=workers, keep=keep, report=_progress(count))
    typer.echo(table(tally))
    for each in tally.failures:
        typer.echo(f"--only {each.kind} --seed {each.seed} --number {each.number}: {each.why}")
    if tally.failures:
        typer.echo(f"Inputs that failed are in {keep}.")
        raise typer.Exit(1)


def table(tally: Tally) -> str:
    """A line for each kind."""
    lines = [f"{'kind':10}{'inputs':>8}{'refused':>9}{'accepted':>10}{'failures':>10}"]
    for kind, counts in sorted(tally.counts.items()):
        lines.append(
            f"{kind:10}{counts.total():8,}{counts['refused']:9,}{counts['accepted']:10,}{counts['failed']:10,}"
        )
    totals = [sum(counts[ended] for counts in tally.counts.values()) for ended in ("refused", "accepted", "failed")]
    lines.append(f"{'all':10}{sum(totals):8,}{totals[0]:9,}{totals[1]:10,}{totals[2]:10,}")
    return "\n".join(lines)


def _progress(count: int) -> Callable[[int], None]:
    def report(done: int) -> None:
        if done % 500 == 0:
            typer.echo(f"{done:,} of {count:,}", err=True)

    return report


def _again(kind: str, seed: int, number: int) -> None:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        try:
            KINDS[kind].attempt(seed, number, Path(folder))()
        except (PointillistError, Refused) as error:
            typer.echo(f"refused: {error}")
        else:
            typer.echo("accepted")


if __name__ == "__main__":
    typer.run(main)
