"""Bench: make every synthetic table, one after another, then score them. What is done is kept and not done again.

What a run cost or why it failed, and how good it is, are kept as `Records`; in their cache are the tables, too.
"""

import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks import stamp
from benchmarks.records import Records
from pointillist.errors import PointillistError, UsageError
from pointillist.evaluate.tables.sample import Sample
from pointillist.evaluate.tables.sample import read as read_sample
from pointillist.schema.levels import BINS

from . import job
from .datasets import Dataset, Split, split
from .environments import NotInstalled
from .job import Run
from .methods import Method
from .process import Outcome, call
from .scoring import Yardstick

Say = Callable[[str], None]


@dataclass(frozen=True)
class Place:
    """Where things are."""

    results: Path
    environments: Path
    data: Path | None = None
    samples: Path | None = None
    """Where synthetic tables are kept, to be scored anew; none: in the cache of the results."""

    @property
    def records(self) -> Records:
        return Records(self.results)

    def synthetic(self, run: Run) -> Path:
        return (self.samples or self.records.cache / "synthetic") / f"{run.key}.parquet"


class Loaded:
    """A data set in memory, read when it is first needed."""

    def __init__(self, dataset: Dataset, folder: Path | None):
        self.dataset, self.folder = dataset, folder

    @cached_property
    def split(self) -> Split:
        return split(self.dataset.load(self.folder))

    @cached_property
    def train(self) -> Sample:
        return read_sample(self.split.train, self.dataset.schema)

    @cached_property
    def test(self) -> Sample:
        return read_sample(self.split.test, self.dataset.schema)

    @cached_property
    def yardstick(self) -> Yardstick:
        return Yardstick(self.train, self.test, self.dataset.target, self.dataset.settling)


def plan(
    datasets: Iterable[str],
    methods: Iterable[Method],
    epsilons: Iterable[float],
    delta: float,
    seeds: Iterable[int],
    bins: int,
) -> list[Run]:
    """All runs: seed by seed, so that an interrupted bench has something to show for every method."""
    if bins % BINS and BINS % bins:
        raise UsageError(f"bins must be a multiple or a divisor of {BINS}, which scores are counted in, not {bins}.")
    epsilons, seeds, methods = list(epsilons), list(seeds), list(methods)
    found: dict[Run, None] = {}
    for dataset in datasets:
        for seed in seeds:
            for epsilon in epsilons:
                for method in methods:
                    private = Run(dataset, method.name, epsilon, delta, seed, bins)
                    found[private if method.private else Run(dataset, method.name)] = None
    return list(found)


def bench(
    runs: Iterable[Run],
    datasets: dict[str, Dataset],
    methods: dict[str, Method],
    place: Place,
    *,
    limit: float,
    again: bool = False,
    rescore: bool = False,
    say: Say = lambda line: None,
) -> None:
    """Make and score what is not there yet. A method that fails is recorded, and the bench goes on."""
    loaded: dict[str, Loaded] = {}
    records = place.records
    for run in runs:
        here = loaded.setdefault(run.dataset, Loaded(datasets[run.dataset], place.data))
        if again or records.run(run.key) is None:
            say(f"{run.key}: running")
            record = make(run, methods[run.method], here, place, limit)
            records.keep_run(run.key, record)
            say(f"{run.key}: {record['status']} {record['reason'] or str(record['cpu_seconds']) + ' CPU-s'}")
        else:
            say(f"{run.key}: already there")
        if place.synthetic(run).exists() and (rescore or records.scores(run.key) is None):
            say(f"{run.key}: scoring")
            synthetic = read_sample(pq.read_table(place.synthetic(run)), here.dataset.schema)
            records.keep_scores(run.key, here.yardstick.score(synthetic))


def make(run: Run, method: Method, here: Loaded, place: Place, limit: float) -> dict[str, Any]:
    """One synthetic table, made in a process of its own; what it cost, or why there is none."""
    path = place.synthetic(run)
    path.unlink(missing_ok=True)
    versions: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="pointillist-bench-") as temporary:
        folder = Path(temporary)
        try:
            environment = method.environment
            python = sys.executable if environment is None else str(environment.ready(place.environments))
            job.write(folder, run, method, here.dataset, here.split.train, here.train)
            # -P: the folder of the script stays off the path, where its files would shadow packages of their names.
            outcome = call([python, "-P", str(method.script), str(folder)], log=folder / "log.txt", limit=limit)
            if outcome.status == "done":
                table, versions = job.read(folder, run, method, here.train.levels)
                path.parent.mkdir(parents=True, exist_ok=True)
                pq.write_table(table, path.with_suffix(".part"))
                path.with_suffix(".part").replace(path)
        except (NotInstalled, PointillistError, FileNotFoundError) as error:
            outcome = Outcome("failed", str(error).splitlines()[0])
    settings = {"settings": method.settings, "versions": versions, "time_limit": limit, stamp.COLUMN: stamp.now()}
    return {**asdict(run), "rows": here.train.rows, **asdict(outcome), **settings}
