"""Tables: DP-MERF's Table 1 and DP-HP's Table 2 in the papers' own protocol. python -m benchmarks.papers.tables

Every run makes one synthetic table (or takes the real rows), trains the papers' classifiers on it and tests them on real
rows. All runs go to `tables.parquet`, a row for each classifier; `tables.md` is made of that file. Runs that are there
are not made again.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, is_dataclass
from datetime import UTC, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated, Any, Self, cast, get_args

import numpy as np
import pyarrow as pa
import typer
from threadpoolctl import threadpool_limits

import pointillist as pt
from benchmarks.arguments import chosen_names, split_names
from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.evaluate.learners.classifiers import MODELS, require_models
from pointillist.evaluate.learners.papers_settings import Settings
from pointillist.evaluate.research.papers_protocol import hard_scores, papers_protocol
from pointillist.evaluate.tables.prediction_task import task_of
from pointillist.evaluate.tables.sample import Sample
from pointillist.methods import method_for, methods_of

from .datasets import PAPERS, Experiment, experiments
from .output import RESULTS, markdown, mean_and_spread, read, versions, write, write_page
from .published import DATASETS, DP_HP, DP_MERF, Figure, attainable_prc, best_private, figure
from .published import REAL as PUBLISHED_REAL
from .recipe import NEIGHBOURS, draw, release_rows

NAME = "tables"
REAL = "real"
"""The same classifiers on the real training rows, in the place of a method."""
METHODS = methods_of("tables")
OURS = ("merf", "hermite", "mosaic")
MOST_ROWS = 70_000
"""All of the papers' training rows but for intrusion, whose classifiers would take four minutes a run."""
MEASURES = ("hard_roc", "hard_prc", "hard_f1", "hard_accuracy")
_HEADS = {"hard_roc": "ROC", "hard_prc": "PRC", "hard_f1": "F1"}
_STAGES = ("release_seconds", "fit_seconds", "sample_seconds")
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
_NOT_NUMBERS = ("cli", "pages")
"""Parts of the package that no score depends on."""

Row = dict[str, Any]
Say = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """How all runs of a table are made and scored."""

    epsilon: float = 1.0
    delta: float = 1e-5
    settings: Settings = "dp-merf"
    models: tuple[str, ...] = MODELS
    most_rows: int = MOST_ROWS
    """The most rows that a classifier is trained on, real and synthetic alike. A release always sees all of them."""

    def __post_init__(self) -> None:
        if self.settings not in get_args(Settings):
            raise UsageError(f"settings {self.settings!r} are not known. Settings: {', '.join(get_args(Settings))}.")
        if self.most_rows < 1:
            raise UsageError(f"most_rows must be at least 1, not {self.most_rows}.")
        object.__setattr__(self, "models", require_models(self.models))


@dataclass(frozen=True)
class Run:
    """One data set, one method, one seed."""

    experiment: Experiment
    method: str
    seed: int
    protocol: Protocol

    @property
    def facts(self) -> Row:
        """What the run is, as columns of the results. What real rows do not depend on is None for them."""
        budget = {"epsilon": self.protocol.epsilon, "delta": self.protocol.delta, "neighbours": NEIGHBOURS}
        return {
            "dataset": self.experiment.name,
            "method": self.method,
            "seed": self.seed,
            "settings": self.protocol.settings,
            "models": json.dumps(self.protocol.models),
            "most_rows": self.protocol.most_rows,
            **(dict.fromkeys(budget) if self.method == REAL else budget),
            "options": json.dumps(_options(self.method), sort_keys=True, default=str),
            "rows_and_schema": json.dumps(self.experiment.facts, sort_keys=True),
            "version": pt.__version__,
        }

    @property
    def key(self) -> str:
        """The same for two runs only if all of that is."""
        return hashlib.sha256(json.dumps(self.facts, sort_keys=True).encode()).hexdigest()[:16]


def _options(method: str) -> Any:
    """The settings of a method, which are part of what a run is."""
    if method not in METHODS:
        return None
    made = METHODS[method]()
    return asdict(made) if is_dataclass(made) and not isinstance(made, type) else repr(made)


@cache
def code_of(method: str) -> str:
    """A short name for the state of the code that a run depends on: real rows do not depend on generators."""
    package = Path(pt.__file__).parent
    parts = ("evaluate", "schema") if method == REAL else ("",)
    files = sorted(path for part in parts for path in _sources(package / part))
    sums = hashlib.sha256()
    for path in files:
        if path.relative_to(package).parts[0] not in _NOT_NUMBERS:
            sums.update(path.read_bytes())
    return sums.hexdigest()[:12]


def _sources(path: Path) -> Iterator[Path]:
    return path.rglob("*.py") if path.is_dir() else iter([path])


# One run


def make(run: Run, table: pa.Table) -> list[Row]:
    """The rows of one run, one for each classifier; a method that fails gives a single row that says why."""
    start = {**run.facts, "key": run.key, "papers_name": run.experiment.papers_name, "code": code_of(run.method)}
    start |= {"versions": versions("xgboost-cpu", "opendp"), "made": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        return [{**start, "status": "done", "reason": "", **row} for row in _scored(run, table)]
    except Exception as error:  # whatever a method raises is a result: the other runs go on
        reason = " ".join(str(error).split()) or type(error).__name__
        return [{**start, "status": "failed", "reason": reason[:300]}]


def _scored(run: Run, table: pa.Table) -> list[Row]:
    experiment, protocol, clock = run.experiment, run.protocol, _Clock()
    split = experiment.split(table, run.seed)
    rows, costs = _synthetic(run, split.train) if run.method != REAL else (split.train, dict.fromkeys(_STAGES))
    taught = experiment.seen(rows).at_most(protocol.most_rows, seed=run.seed)
    test = experiment.seen(split.test)
    common: Row = {
        "train_rows": split.train.num_rows, "classifier_rows": taught.rows, "test_rows": test.rows, **costs,
        "cpu_seconds": None if run.method == REAL else sum(seconds for seconds in costs.values() if seconds),
        **{f"chance_{name}": value for name, value in _chance(test, experiment.dataset.target).items()},
    }  # fmt: skip
    found = []
    for model in protocol.models:
        clock.lap()
        scores, notes = _score(run, taught, test, model)
        found.append({**common, "model": model, **scores, "classifier_seconds": clock.lap(), "notes": notes})
    return found


def _synthetic(run: Run, train: pa.Table) -> tuple[Any, dict[str, float | None]]:
    """As many synthetic rows as there are real ones, and the processor time of each stage."""
    dataset, promise = run.experiment.dataset, run.protocol
    release, released = release_rows(
        train,
        dataset.schema,
        dataset.target,
        method_for(dataset.schema, run.method),
        epsilon=promise.epsilon,
        delta=promise.delta,
    )
    rows, costs = draw(release, None, train.num_rows, run.seed)
    return rows, {"release_seconds": released, **costs}


def _score(run: Run, taught: Sample, test: Sample, model: str) -> tuple[dict[str, float], str]:
    """One classifier in the papers' protocol. One that cannot be trained has no scores, and is left out of means."""
    schema, target, settings = run.experiment.scored, run.experiment.dataset.target, run.protocol.settings
    try:
        scored = papers_protocol(taught, test, schema, target, settings=settings, models=(model,), seed=run.seed)
    except DataError as error:
        return {}, str(error)
    return scored.scores[0].synthetic, " ".join(scored.notes)


def _chance(test: Sample, target: str) -> dict[str, float]:
    """What a classifier scores that gives the most frequent class to all rows."""
    task = task_of(test, test, target)
    truth = task.labels(test)
    return hard_scores(truth, np.full(len(truth), np.argmax(np.bincount(truth))), task.positive)


class _Clock:
    """Processor time of this process, lap by lap."""

    def __init__(self) -> None:
        self.last = time.process_time()

    def lap(self) -> float:
        before, self.last = self.last, time.process_time()
        return self.last - before


# All runs


def plan(chosen: Iterable[Experiment], methods: Iterable[str], seeds: int, protocol: Protocol) -> list[Run]:
    """Seed by seed, so that an interrupted call has something to show for every data set and method."""
    if seeds < 1:
        raise UsageError(f"seeds must be at least 1, not {seeds}: it is the number of runs.")
    chosen, methods = list(chosen), list(methods)
    for name in methods:
        if name not in (*OURS, *METHODS, REAL):
            known = dict.fromkeys((*OURS, *METHODS, REAL))
            raise UsageError(f"method {name!r} is not known. Known: {', '.join(known)}.")
    return [Run(each, name, seed, protocol) for seed in range(seeds) for each in chosen for name in methods]


def tables(
    runs: Sequence[Run],
    data: Path | None,
    folder: Path = RESULTS,
    *,
    jobs: int = 1,
    again: bool = False,
    renew: bool = False,
    say: Say = lambda line: None,
) -> None:
    """Make what is not there yet; write every run, and the page, as soon as it is done.

    Runs that failed are tried once more. `renew` also makes those again that another state of the code has made.
    """
    if jobs < 1:
        raise UsageError(f"jobs must be at least 1, not {jobs}.")
    done = {row["key"]: row["code"] for row in read(NAME, folder) if row["status"] == "done"}
    codes = {method: code_of(method) for method in {run.method for run in runs}}
    keys = {run.key: run for run in runs}
    there = set() if again else keys.keys() & done.keys()
    stale = {key for key in there if done[key] != codes[keys[key].method]}
    if renew:
        there, stale = there - stale, set()
    wanted = [run for key, run in keys.items() if key not in there]
    say(f"{len(runs)} runs, {len(runs) - len(wanted)} of them already there.")
    if stale:
        say(f"{len(stale)} of those were made by another state of the code: --renew makes them again.")
    write_page(page(read(NAME, folder)), NAME, folder)
    for number, rows in enumerate(_made(wanted, data, jobs), start=1):
        # Read anew each time: another call may have written in between.
        found = [*(row for row in read(NAME, folder) if row["key"] != rows[0]["key"]), *rows]
        write(found, NAME, folder)
        write_page(page(read(NAME, folder)), NAME, folder)
        say(f"{number} of {len(wanted)}: {_line(rows)}")


def _made(runs: Sequence[Run], data: Path | None, jobs: int) -> Iterator[list[Row]]:
    """The rows of each run, in whatever order they come, every process on one thread."""
    if jobs == 1:
        with threadpool_limits(1):
            for run in runs:
                yield make(run, _load(run.experiment, data))
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn"), initializer=_one_thread) as pool:
        for future in as_completed([pool.submit(_job, run, data) for run in runs]):
            yield future.result()


def _job(run: Run, data: Path | None) -> list[Row]:
    with threadpool_limits(1):
        return make(run, _load(run.experiment, data))


def _one_thread() -> None:
    os.environ.update(_ONE_THREAD)  # for what is loaded later


_LOADED: dict[tuple[str, Path | None], pa.Table] = {}
"""The last table that this process has read: runs of one data set mostly follow each other."""


def _load(experiment: Experiment, data: Path | None) -> pa.Table:
    place = (experiment.name, data)
    if place not in _LOADED:
        _LOADED.clear()
        _LOADED[place] = experiment.dataset.load(data)
    return _LOADED[place]


def _line(rows: list[Row]) -> str:
    first = rows[0]
    text = f"{first['dataset']} {first['method']} seed {first['seed']}: {first['status']}"
    if first["status"] != "done":
        return f"{text}, {first['reason']}"
    means = ", ".join(f"{name} {value:.3f}" for name, value in _means(rows).items())
    stages = [(name.split("_")[0], first[name]) for name in _STAGES if first[name] is not None]
    stages.append(("classifiers", sum(row["classifier_seconds"] for row in rows)))
    return f"{text}, {means}; CPU-seconds: {', '.join(f'{name} {seconds:.1f}' for name, seconds in stages)}"


def _means(rows: Iterable[Row]) -> dict[str, float]:
    """Means over the classifiers that could be trained."""
    rows = list(rows)
    found = {name: [row[name] for row in rows if row.get(name) is not None] for name in MEASURES}
    return {name: float(np.mean(values)) for name, values in found.items() if values}


# The page


def page(rows: list[Row]) -> str:
    """A section for each way of scoring and each budget among the results."""
    parts = ["# The papers' tables"]
    for scoring in dict.fromkeys(map(_scoring, rows)):
        mine = [row for row in rows if _scoring(row) == scoring]
        for budget in dict.fromkeys(_budget(row) for row in mine if row["method"] != REAL) or [(None, None)]:
            parts.append(_section([row for row in mine if row["method"] == REAL or _budget(row) == budget]))
    return "\n\n".join(parts)


def _scoring(row: Row) -> tuple[str, str, int]:
    return row["settings"], row["models"], row["most_rows"]


def _budget(row: Row) -> tuple[float | None, float | None]:
    return row["epsilon"], row["delta"]


def _section(rows: list[Row]) -> str:
    rows, known = _latest(rows), experiments()
    names = sorted({row["dataset"] for row in rows}, key=[*known, *(row["dataset"] for row in rows)].index)
    order = [*OURS, *METHODS, *(row["method"] for row in rows if row["method"] != REAL), REAL]
    methods = sorted({row["method"] for row in rows}, key=order.index)
    results = {(name, method): _Result.of(name, method, rows) for name in names for method in methods}
    parts = [*_preface(rows), _scores(names, methods, results), _costs(names, methods, results)]
    failed = dict.fromkeys(f"{each['dataset']}, {each['method']}: {each['reason']}" for each in rows if _failed(each))
    notes = [f"{name}: {known[name].note}" for name in names if name in known]
    for title, lines in (("Runs that failed", failed), ("The rows", notes)):
        if lines:
            parts.append(f"{title}:\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(part.rstrip("\n") for part in parts)


def _latest(rows: list[Row]) -> list[Row]:
    """Of every data set and method the runs with the options, rows and version of the newest: nothing else is mixed in."""

    def variant(row: Row) -> tuple[str, str, str]:
        return row["options"], row["rows_and_schema"], row["version"]

    newest: dict[tuple[str, str], Row] = {}
    for row in rows:
        place = row["dataset"], row["method"]
        if place not in newest or row["made"] >= newest[place]["made"]:
            newest[place] = row
    return [row for row in rows if variant(row) == variant(newest[row["dataset"], row["method"]])]


def _failed(row: Row) -> bool:
    return bool(row["status"] != "done")


@dataclass(frozen=True)
class _Result:
    """All runs of one method on one data set, each the rows of its classifiers."""

    runs: tuple[tuple[Row, ...], ...]
    failed: bool

    @classmethod
    def of(cls, dataset: str, method: str, rows: list[Row]) -> Self:
        mine = [row for row in rows if (row["dataset"], row["method"]) == (dataset, method)]
        seeds = sorted({row["seed"] for row in mine if not _failed(row)})
        runs = tuple(tuple(row for row in mine if row["seed"] == seed and not _failed(row)) for seed in seeds)
        return cls(runs, any(map(_failed, mine)))

    def values(self, measure: str) -> list[float]:
        """A mean over classifiers for each run."""
        means = [_means(run).get(measure) for run in self.runs]
        return [value for value in means if value is not None]

    def facts(self, column: str) -> list[float]:
        """What is the same for all classifiers of a run, for each run."""
        return [run[0][column] for run in self.runs if run[0].get(column) is not None]


_Results = dict[tuple[str, str], _Result]


def _preface(rows: list[Row]) -> list[str]:
    first = next((row for row in rows if row["method"] != REAL), rows[0])
    done = [row for row in rows if not _failed(row)]
    models, codes = json.loads(first["models"]), {row["code"] for row in done if row["method"] != REAL}
    capped = [row for row in done if row["classifier_rows"] < row["train_rows"]]
    title = f"## Classifiers as in {first['settings']}"
    if first["epsilon"] is not None:
        title += f", ε = {first['epsilon']:g}, δ = {first['delta']:g}, {first['neighbours']} neighbours"
    lines = [
        f"Means over {len(models)} classifiers trained on synthetic rows and tested on real ones, scored by hard "
        "predictions as in the papers; ± is the standard deviation over runs, each with a split, noise and seed of its "
        "own. Bold: at or above the best published private score. Chance: the most frequent class for every row. "
        "†: above the highest PRC that hard predictions can have with the ROC published beside it and this share of "
        "positives, unless some classifiers do worse than chance. DP-HP's figures take the best of several "
        "configurations on the test rows."
    ]
    if len(models) < len(MODELS):
        lines.append(f"Only {', '.join(models)}: not the papers' mean, so nothing is bold.")
    if capped:
        names = ", ".join(dict.fromkeys(row["dataset"] for row in capped))
        lines.append(
            f"Unlike in the papers, classifiers are trained on at most {first['most_rows']:,} rows, real and synthetic "
            f"alike, drawn at random (this concerns {names}); releases see all training rows."
        )
    if len(codes) > 1:
        lines.append(f"These runs come from {len(codes)} states of the code; --renew makes the older ones again.")
    return [title, *lines]


def _scores(names: list[str], methods: list[str], results: _Results) -> str:
    ours = [name if name != REAL else "real rows" for name in methods]
    heads = ["data set", "measure", "chance", *ours, "best published private", "DP-MERF", "DP-HP"]
    lines = []
    for name in names:
        mine = [results[name, method] for method in methods]
        done = [row for result in mine for run in result.runs for row in run]
        papers_name = done[0]["papers_name"] if done else name
        means = _means(done)
        chance = {measure: float(np.mean([row[f"chance_{measure}"] for row in done])) for measure in means}
        for measure in (each for each in _HEADS if each in means):
            bar = _bar(name, papers_name, measure, done)
            bars = [None if method == REAL else bar for method in methods]
            cells = [_cell(result, measure, bar) for result, bar in zip(mine, bars, strict=True)]
            published = _published(papers_name, measure, chance.get("hard_prc"))
            lines.append([name, _HEADS[measure], f"{chance[measure]:.3f}", *cells, *published])
        if not done:
            lines.append([name, None, None, *("failed" for _ in mine), None, None, None])
    return markdown([*heads, "real rows, DP-MERF / DP-HP"], lines)


def _bar(name: str, papers_name: str, measure: str, done: list[Row]) -> float | None:
    """The best published private score, where ours may be compared with it."""
    known = experiments().get(name)
    comparable = known is not None and known.comparable and len(json.loads(done[0]["models"])) == len(MODELS)
    return best_private(papers_name, measure).scores[measure] if comparable else None


def _cell(result: _Result, measure: str, bar: float | None) -> str | None:
    values = result.values(measure)
    if not values:
        return "failed" if result.failed else None
    text = mean_and_spread(values, 3)
    return f"**{text}**" if bar is not None and np.mean(values) >= bar else text


def _published(papers_name: str, measure: str, share: float | None) -> list[str | None]:
    """The best private figure, those of the papers' own methods, and real rows."""
    if papers_name not in DATASETS:
        return [None] * 4

    def text(found: Figure) -> str:
        scores = found.scores
        beyond = (
            measure == "hard_prc" and share is not None and scores[measure] > attainable_prc(scores["hard_roc"], share)
        )
        return f"{scores[measure]:.3f}{'†' if beyond else ''}"

    best = best_private(papers_name, measure)
    real = [figure(papers_name, paper, PUBLISHED_REAL).scores.get(measure) for paper in (DP_MERF, DP_HP)]
    own = [text(figure(papers_name, paper, paper)) for paper in (DP_MERF, DP_HP)]
    return [f"{text(best)} ({best.method})", *own, " / ".join("?" if each is None else f"{each:.3f}" for each in real)]


def _costs(names: list[str], methods: list[str], results: _Results) -> str:
    """Processor seconds and rows."""
    heads = [
        "data set",
        "method",
        "runs",
        "training rows",
        "test rows",
        "CPU-s: release",
        "fit",
        "sample",
        "classifiers",
    ]
    lines = []
    for (name, method), each in results.items():
        if each.runs:
            rows = [f"{np.mean(each.facts(column)):,.0f}" for column in ("train_rows", "test_rows")]
            stages = [mean_and_spread(each.facts(stage), 1) for stage in _STAGES]
            taught = mean_and_spread([sum(row["classifier_seconds"] for row in run) for run in each.runs], 1)
            lines.append([name, method, len(each.runs), *rows, *stages, taught])
    return markdown(heads, lines)


# The command


app = typer.Typer(add_completion=False)


@app.command()
def main(
    data: Annotated[Path | None, typer.Option(envvar="POINTILLIST_DATA", help="Folder with tables/*.parquet.")] = None,
    datasets: Annotated[str, typer.Option(help="Data sets, with commas between them.")] = ",".join(PAPERS),
    methods: Annotated[str, typer.Option(help="Methods, with commas between them.")] = ",".join((*OURS, REAL)),
    seeds: Annotated[int, typer.Option(help="How many runs: seeds 0, 1, ...")] = 5,
    settings: Annotated[str, typer.Option(help="Whose classifiers: dp-merf or dp-hp.")] = "dp-merf",
    models: Annotated[str, typer.Option(help="Classifiers, with commas between them.")] = ",".join(MODELS),
    epsilon: Annotated[float, typer.Option(help="Epsilon of every release.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Delta of every release.")] = 1e-5,
    most_rows: Annotated[int, typer.Option(help="The most rows that a classifier is trained on.")] = MOST_ROWS,
    jobs: Annotated[int, typer.Option(help="Runs at a time, each a process on one thread.")] = 1,
    again: Annotated[bool, typer.Option("--again", help="Make all runs once more.")] = False,
    renew: Annotated[bool, typer.Option("--renew", help="Make those once more that other code has made.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for results.")] = RESULTS,
) -> None:
    """DP-MERF's Table 1 and DP-HP's Table 2: what was published, our methods, and real rows, in the papers' protocol."""
    try:
        known = experiments()
        names = chosen_names(datasets, known, "data set")
        protocol = Protocol(
            epsilon=epsilon,
            delta=delta,
            settings=cast(Settings, settings),
            models=tuple(chosen_names(models, MODELS, "model")),
            most_rows=most_rows,
        )
        runs = plan([known[name] for name in names], split_names(methods), seeds, protocol)
        tables(runs, data, out, jobs=jobs, again=again, renew=renew, say=lambda line: typer.echo(line, err=True))
    except PointillistError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(error.exit_code) from None
    typer.echo((out / f"{NAME}.md").read_text(encoding="utf-8"))


if __name__ == "__main__":
    app()
