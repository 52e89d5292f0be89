"""Coverage: how often intervals of `pt.receive` hold the private figure, and the population's, on a known distribution.

    python -m benchmarks.receiver.coverage                                   # 200 releases of each kind: about an hour
    python -m benchmarks.receiver.coverage --runs 20 --kinds public,domain
    python -m benchmarks.receiver.coverage --from-results                    # only writes the page anew

Every release has a table of its own (seeded) and noise of its own (privacy noise has no seed), so figures differ a little
from run to run: by about 0.015 where 200 intervals hold with a chance of 0.95.
"""

import itertools
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

import pointillist as pt
from benchmarks.arguments import split_numbers
from benchmarks.papers.output import markdown, read, write, write_page
from pointillist.methods import Method

NAME = "coverage"
RESULTS = Path(__file__).parent / "results"
POPULATION = 400_000
"""Rows that stand for the population."""
PUBLIC = 300
"""Public rows, of another distribution than the private ones."""
Row = dict[str, Any]
SCHEMA = pt.Schema(
    name="known",
    rows=4_000,
    columns={
        "x": pt.Real(min=-4, max=4, missing=False),
        "y": pt.Real(min=-4, max=4, missing=False),
        "kind": pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error"),
    },
)


def simulate(rows: int, seed: int, shift: float = 0.0) -> pa.Table:
    """Two numbers, one curved in the other's hidden factor, and a category; `shift` moves the numbers."""
    rng = np.random.default_rng(seed)
    factor = rng.standard_normal(rows)
    kind = np.clip((1.3 + factor + 0.5 * rng.standard_normal(rows)).astype(np.int64), 0, 2)
    x = 0.5 * factor + 0.8 * rng.standard_normal(rows) + shift
    y = 0.6 * factor**2 - 1 + 0.5 * rng.standard_normal(rows) + shift
    return pa.table({"x": np.clip(x, -4, 4), "y": np.clip(y, -4, 4), "kind": np.array(list("abc"))[kind]})


@dataclass(frozen=True)
class Question:
    """A statistic, asked of the receiver's toolkit and of rows."""

    name: str
    ask: Callable[..., pt.Estimate]
    answer: Callable[[pa.Table], float]


def _columns(table: pa.Table) -> tuple[Any, Any, Any]:
    return np.asarray(table["x"]), np.asarray(table["y"]), np.array(table["kind"].to_pylist())


def _mean(formula: str, of: Callable[..., Any]) -> Question:
    return Question(
        f"mean of {formula}", lambda r, **o: r.expect(formula, **o), lambda t: float(np.mean(of(*_columns(t))))
    )


def _share(event: str, of: Callable[..., Any]) -> Question:
    return Question(
        f"share of {event}", lambda r, **o: r.probability(event, **o), lambda t: float(np.mean(of(*_columns(t))))
    )


def _mean_in_kind(table: pa.Table) -> float:
    x, _, kind = _columns(table)
    return float(x[kind == "c"].mean())


def _slope(table: pa.Table) -> float:
    x, y, _ = _columns(table)
    return float(np.polyfit(x, y, 1)[0])


QUESTIONS = (
    _mean("x", lambda x, y, k: x),
    _mean("x * x", lambda x, y, k: x * x),
    _mean("x * y", lambda x, y, k: x * y),
    _mean("exp(x)", lambda x, y, k: np.exp(x)),
    _mean("abs(x - y)", lambda x, y, k: np.abs(x - y)),
    _mean("sin(3 * x)", lambda x, y, k: np.sin(3 * x)),
    _share("x > 1", lambda x, y, k: x > 1),
    _share("x > 2", lambda x, y, k: x > 2),
    _share("x > 0 and y > 0", lambda x, y, k: (x > 0) & (y > 0)),
    _share("kind = 'c'", lambda x, y, k: k == "c"),
    Question("mean of x where kind = 'c'", lambda r, **o: r.expect("x", where="kind = 'c'", **o), _mean_in_kind),
    Question(
        "median of y",
        lambda r, **o: r.quantile("y", **o),
        lambda t: float(np.quantile(t["y"], 0.5, method="inverted_cdf")),
    ),
    Question(
        "correlation of x and y",
        lambda r, **o: r.correlation("x", "y", **o),
        lambda t: float(np.corrcoef(t["x"], t["y"])[0, 1]),
    ),
    Question("slope of y on x", lambda r, **o: r.regression("y", ["x"], **o)["x"], _slope),
)


def method(kind: str, seed: int) -> Method:
    """The method of a release, by the name of its kind of points."""
    match kind:
        case "public":
            return pt.Landmarks(
                points=pt.public_points(simulate(PUBLIC, 1_000_000 + seed, shift=0.3), SCHEMA), number=150
            )
        case "domain":
            return pt.Landmarks(number=150, candidates=600)
        case "reduced-set":
            return pt.ReducedSet(features=200, points=300, length_scales=(0.15, 0.5))
        case "merf":
            return pt.Merf(features=200, length_scales=(0.15, 0.5))
        case "mosaic":
            return pt.Mosaic(components=30, steps=100)
    raise typer.BadParameter(f"kind {kind!r} is not known: {', '.join(KINDS)}")


KINDS = {
    "public": "landmarks, public rows from elsewhere",
    "domain": "landmarks, rows from the schema's domain",
    "reduced-set": "reduced-set",
    "merf": "merf, rows of a mixture",
    "mosaic": "mosaic, rows of a mixture",
}


def ask(kind: str, epsilon: float, seed: int, rows: int, ledger: Path, truth: dict[str, float]) -> list[Row]:
    """One release, and all questions with their true answers; `truth` is that of the population."""
    table = simulate(rows, seed)
    release = pt.release(table, SCHEMA, epsilon=epsilon, method=method(kind, seed), ledger=ledger)
    received = pt.receive(release, rows=1_000, seed=seed)
    found = []
    for question, population in itertools.product(QUESTIONS, (False, True)):
        estimate = question.ask(received, population=population)
        found.append(
            {
                "kind": kind,
                "epsilon": epsilon,
                "seed": seed,
                "rows": rows,
                "question": question.name,
                "population": population,
                "basis": estimate.basis,
                "truth": truth[question.name] if population else question.answer(table),
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
            }
        )
    return found


def page(rows: Sequence[Row]) -> str:
    """The tables for people."""
    lines = [
        "# Coverage of the receiver's intervals",
        "",
        "`python -m benchmarks.receiver.coverage`; see "
        "[docs/explanation/intervals.md](../../../docs/explanation/intervals.md).",
        "",
        f"Tables of {rows[0]['rows']:,} rows of a known distribution, each with noise of its own; 95 % intervals. "
        "*Held*: how often the interval held the figure of the private table / of the population. *Width*: half of its mean "
        "width, in multiples of the root mean square distance of its middle from the private figure: 1.96 is that of an "
        "unbiased normal error.",
        "",
    ]
    for kind, epsilon in dict.fromkeys((row["kind"], row["epsilon"]) for row in rows):
        every = [row for row in rows if (row["kind"], row["epsilon"]) == (kind, epsilon)]
        mine = [row for row in every if row["basis"] != "not measured"]
        private = [row for row in mine if not row["population"]]
        runs = len({row["seed"] for row in mine})
        lines += [
            f"## {KINDS[kind]}: ε = {epsilon:g}, {runs} releases",
            "",
            markdown(
                ["statistic", "from", "held: private", "held: population", "width"],
                [
                    [name, *_cells([row for row in mine if row["question"] == name])]
                    for name in dict.fromkeys(row["question"] for row in mine)
                ],
            ),
            f"Held in all: {_held(private):,} of {len(private):,} for the private table, "
            f"{_held(mine) - _held(private):,} of {len(mine) - len(private):,} for the population."
            + (f" Not measured: {len(every) - len(mine):,} questions." if len(mine) < len(every) else ""),
            "",
        ]
    return "\n".join(lines)


def _held(rows: Sequence[Row]) -> int:
    return sum(row["low"] <= row["truth"] <= row["high"] for row in rows)


def _cells(rows: Sequence[Row]) -> list[str]:
    private, population = ([row for row in rows if row["population"] == each] for each in (False, True))
    known = [row for row in private if np.isfinite(row["low"] + row["high"])]
    wrong = np.sqrt(np.mean([((row["low"] + row["high"]) / 2 - row["truth"]) ** 2 for row in known])) if known else 0
    width = np.mean([(row["high"] - row["low"]) / 2 for row in known]) / wrong if wrong > 0 else float("inf")
    return [
        "/".join(sorted({row["basis"] for row in private})),
        f"{_held(private) / len(private):.3f}",
        f"{_held(population) / len(population):.3f}",
        f"{width:.1f}",
    ]


def main(
    runs: Annotated[int, typer.Option(min=2, help="Releases of each kind.")] = 200,
    kinds: Annotated[str, typer.Option(help="With commas between.")] = ",".join(KINDS),
    epsilons: Annotated[str, typer.Option(help="With commas between.")] = "1",
    rows: Annotated[int, typer.Option(min=100, help="Rows of each table.")] = 4_000,
    output: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
    from_results: Annotated[bool, typer.Option("--from-results", help="Only write the page.")] = False,
) -> None:
    """Measure, and write a Parquet file and a page. Kinds that are measured again replace what was there."""
    found: list[Row] = [dict(row) for row in read(NAME, output)]
    if not from_results:
        population = simulate(POPULATION, 2_000_000)
        truth = {each.name: each.answer(population) for each in QUESTIONS}
        start = time.process_time()
        for kind, epsilon in itertools.product(kinds.split(","), split_numbers(epsilons)):
            found = [row for row in found if (row["kind"], row["epsilon"]) != (kind, epsilon)]
            with tempfile.TemporaryDirectory() as folder:
                for seed in range(runs):
                    found += ask(kind, epsilon, seed, rows, Path(folder) / f"{seed}.sqlite", truth)
            write(found, NAME, output)
            typer.echo(f"{kind}, ε = {epsilon:g}: {time.process_time() - start:.0f} CPU-seconds so far", err=True)
    typer.echo(write_page(page(found), NAME, output))


if __name__ == "__main__":
    typer.run(main)
