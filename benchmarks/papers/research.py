"""Research: the figures of docs/how-to/research.md: two protocols side by side, the learning curve, the mixture by default.

    python -m benchmarks.papers.research                   # on the simulated registry: about three CPU-minutes
    python -m benchmarks.papers.research --data FOLDER     # and the check on Adult that the protocol is the papers'

All on one synthetic table of the registry at ε = 1, three quarters of whose rows are there to learn from.
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

import pointillist as pt
from benchmarks.arguments import chosen_names
from pointillist.demo.people import SCHEMA, TARGET, simulate
from pointillist.evaluate.learners.classifiers import MODELS
from pointillist.evaluate.research.honest_protocol import honest_protocol
from pointillist.evaluate.research.known_mixture import DPMERF_GRID
from pointillist.evaluate.research.learning_curve import learning_curve
from pointillist.evaluate.research.papers_protocol import papers_protocol

from .datasets import experiments
from .output import RESULTS, markdown, read, write, write_page

NAME = "research"
EPSILON, DELTA = 1.0, 1e-5
MEASURES = ("hard_roc", "AUROC", "hard_prc", "AUPRC")
SHARES = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0)
Row = dict[str, Any]


def made(table: pa.Table, schema: pt.Schema, target: str, rows: int) -> pa.Table:
    """Synthetic rows of the default method."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.sqlite"
        synthesizer = pt.Synthesizer(schema, epsilon=EPSILON, delta=DELTA, target=target, ledger=ledger, seed=0)
        return synthesizer.fit(table).sample(rows, seed=0)


def protocols(synthetic: pa.Table, train: pa.Table, test: pa.Table, models: Sequence[str]) -> Iterator[Row]:
    """Both protocols by model, and DP-HP's rule for logistic regression."""
    hard = papers_protocol(synthetic, test, SCHEMA, TARGET, train=train, models=models)
    honest = honest_protocol(synthetic, test, SCHEMA, TARGET, train=train, models=models)
    for one, other in zip(hard.scores, honest.scores, strict=True):
        scores = {(name, "synthetic"): value for each in (one, other) for name, value in each.synthetic.items()}
        scores |= {(name, "real"): value for each in (one, other) for name, value in (each.real or {}).items()}
        cells = {f"{name} {part}": scores.get((name, part)) for name in MEASURES for part in ("synthetic", "real")}
        yield {"part": "protocols", "model": one.model, **cells}
    model = "logistic regression"
    best = papers_protocol(synthetic, test, SCHEMA, TARGET, settings="dp-hp", models=(model,))
    yield {"part": "dp-hp", "model": model, "hard_roc synthetic": best.mean("hard_roc")}


def curve(synthetic: pa.Table, train: pa.Table, test: pa.Table) -> Iterator[Row]:
    """Accuracy against rows."""
    sizes = sorted({max(20, round(share * synthetic.num_rows)) for share in SHARES})
    found = learning_curve(synthetic, test, SCHEMA, TARGET, train=train, sizes=sizes)
    for each in (*found.points, *found.real):
        yield {
            "part": "curve", "model": each.model, "trained_on": each.trained_on, "rows": each.rows,
            "accuracy": each.accuracy, "auroc": each.auroc, "majority": found.majority,
        }  # fmt: skip


def mixture(rows: int) -> Row:
    """The known mixture with the default method, its class as target."""
    real = DPMERF_GRID.sample(rows, seed=0)
    found = DPMERF_GRID.score(made(real, DPMERF_GRID.schema, "class", rows))
    right = [share for share in found.right_label.values() if share is not None]
    return {
        "part": "mixture", "rows": rows, "nll": found.nll, "dropped": len(found.dropped), "outside": found.outside,
        "spread_ratio": found.spread_ratio, "least_right": min(right, default=None), "most_right": max(right, default=None),
    }  # fmt: skip


def adult(data: Path) -> Row:
    """Real rows of Adult, thinned and cut once as in the papers: the protocol's own check."""
    experiment = experiments()["adult"]
    split = experiment.split(experiment.dataset.load(data), 0)
    schema, target = experiment.scored, experiment.dataset.target
    train, test = experiment.seen(split.train), experiment.seen(split.test)
    hard, honest = papers_protocol(train, test, schema, target), honest_protocol(train, test, schema, target)
    scores = {name: hard.mean(name) for name in ("hard_roc", "hard_prc")} | {"AUROC": honest.mean("AUROC")}
    return {"part": "adult", **{f"{name} real": value for name, value in scores.items()}}


def page(rows: Sequence[Row]) -> str:
    """The tables of docs/how-to/research.md."""
    text = ["# Figures of docs/how-to/research.md", "", "`python -m benchmarks.papers.research`", ""]
    parts = {name: [row for row in rows if row["part"] == name] for name in dict.fromkeys(row["part"] for row in rows)}
    if found := parts.get("protocols"):
        heads = [f"{name} {part}" for name in MEASURES for part in ("synthetic", "real")]
        lines = [[row["model"], *(_cell(row[head]) for head in heads)] for row in found]
        means = [np.mean([row[head] for row in found if row[head] is not None]) for head in heads]
        text += ["## Two protocols", "", markdown(["model", *heads], [*lines, ["**mean**", *map(_cell, means)]])]
    for row in parts.get("dp-hp", []):
        text += [f"{row['model']} by DP-HP's rule: hard_roc {_cell(row['hard_roc synthetic'])}.", ""]
    if found := parts.get("curve"):
        models = list(dict.fromkeys(row["model"] for row in found))
        sizes = list(dict.fromkeys((row["rows"], row["trained_on"]) for row in found))
        cells = {(row["rows"], row["trained_on"], row["model"]): row for row in found}
        lines = [
            [f"{size:,}{' real' * (part == 'real')}", *(_both(cells.get((size, part, model))) for model in models)]
            for size, part in sizes
        ]
        text += ["## Accuracy (AUROC) against rows", "", markdown(["rows", *models], lines)]
        text += [f"Always the same answer: {_cell(found[0]['majority'])}.", ""]
    for row in parts.get("mixture", []):
        text += [
            "## The known mixture, by default", "",
            f"{row['rows']:,} rows: NLL {_cell(row['nll'])}, {row['dropped']} modes dropped, {row['outside']:.1%} outside, "
            f"spread {row['spread_ratio']:.2f} of the truth's, right label {row['least_right']:.0%} to "
            f"{row['most_right']:.0%}.", "",
        ]  # fmt: skip
    for row in parts.get("adult", []):
        said = ", ".join(f"{name} {_cell(row[f'{name} real'])}" for name in ("hard_roc", "hard_prc", "AUROC"))
        text += ["## Adult, real rows", "", f"{said}.", ""]
    return "\n".join(text)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _both(row: Row | None) -> str:
    return "" if row is None else f"{row['accuracy']:.3f} ({row['auroc']:.3f})"


def main(
    rows: Annotated[int, typer.Option(min=100, help="Rows of the registry, a quarter of them to test on.")] = 24_000,
    mixture_rows: Annotated[int, typer.Option(min=100, help="Rows of the known mixture.")] = DPMERF_GRID.rows,
    models: Annotated[str, typer.Option(help="Classifiers, with commas between them.")] = ",".join(MODELS),
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """Measure everything, and write a Parquet file and a page."""
    people = simulate(rows)
    cut = rows * 3 // 4
    train, test = people.slice(0, cut), people.slice(cut)
    synthetic = made(train, SCHEMA.model_copy(update={"rows": cut}), TARGET, cut)
    found = [*protocols(synthetic, train, test, chosen_names(models, MODELS, "model")), *curve(synthetic, train, test)]
    found.append(mixture(mixture_rows))
    # Real rows of Adult do not change with the code: without the folder an earlier figure stays, with its own stamp.
    found += [adult(data)] if data is not None else [row for row in read(NAME, out) if row["part"] == "adult"]
    write(found, NAME, out)
    typer.echo(write_page(page(found), NAME, out))


if __name__ == "__main__":
    typer.run(main)
