"""Bench: make every set of synthetic images, one after another, then score it. What is done is kept and not done again.

What a run cost or why it failed, and how good it is, are kept as `Records`; in their cache are the synthetic images, too,
and in the folder `grids` of results a picture for each run.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import stamp
from benchmarks.records import Records
from benchmarks.tables.process import Outcome, call
from pointillist.errors import PointillistError
from pointillist.files.images import Images
from pointillist.pages.images import grid, png

from . import job
from .datasets import Dataset, Split
from .job import REAL, Run
from .scoring import Protocol

Say = Callable[[str], None]
_HERE = Path(__file__).parent
_GRID = 10
"""Images of each class in a picture."""


@dataclass(frozen=True)
class Place:
    """Where things are."""

    results: Path
    data: Path | None = None
    script: Path = _HERE / "ours.py"
    """What makes the images of a job."""

    @property
    def records(self) -> Records:
        return Records(self.results)

    def synthetic(self, run: Run) -> Path:
        return self.records.cache / "synthetic" / f"{run.key}.npz"

    def grid(self, run: Run) -> Path:
        return self.results / "grids" / f"{run.key}.png"


class Loaded:
    """A data set in memory, read when it is first needed."""

    def __init__(self, dataset: Dataset, folder: Path | None):
        self.dataset, self.folder = dataset, folder

    @cached_property
    def split(self) -> Split:
        return self.dataset.load(self.folder)


def plan(
    datasets: Iterable[str],
    methods: Iterable[str],
    epsilons: Iterable[float],
    delta: float,
    seeds: Iterable[int],
    images: int,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[Run]:
    """All runs: seed by seed, so that an interrupted bench has something to show for every method."""
    epsilons, seeds, methods = list(epsilons), list(seeds), list(methods)
    options = {name: tuple(sorted(values.items())) for name, values in (settings or {}).items()}
    found: dict[str, Run] = {}
    for dataset in datasets:
        for seed in seeds:
            for epsilon in epsilons:
                for method in methods:
                    private = Run(dataset, method, epsilon, delta, seed, images, options.get(method, ()))
                    run = Run(dataset, REAL) if method == REAL else private
                    found[run.key] = run
    return list(found.values())


def bench(
    runs: Iterable[Run],
    datasets: Mapping[str, Dataset],
    place: Place,
    protocol: Protocol,
    *,
    limit: float,
    again: bool = False,
    say: Say = lambda line: None,
) -> None:
    """Make and score what is not there yet. A method that fails is recorded, and the bench goes on."""
    loaded: dict[str, Loaded] = {}
    records = place.records
    for run in runs:
        here = loaded.setdefault(run.dataset, Loaded(datasets[run.dataset], place.data))
        if again or not _done(records.run(run.key)):
            say(f"{run.key}: running")
            record = make(run, here, place, limit)
            records.keep_run(run.key, record)
            say(f"{run.key}: {record['status']} {record['reason'] or str(record['cpu_seconds']) + ' CPU-s'}")
        else:
            say(f"{run.key}: already there")
        if place.synthetic(run).exists() or (run.method == REAL and _done(records.run(run.key))):
            _score(run, here, place, protocol, limit, say)


def _done(record: dict[str, Any] | None) -> bool:
    """Whether a run is there and went well: what failed is tried again."""
    return record is not None and record["status"] == "done"


def make(run: Run, here: Loaded, place: Place, limit: float) -> dict[str, Any]:
    """One set of synthetic images, made in a process of its own; what it cost, or why there is none."""
    made: dict[str, Any] = {"stages": {}, "versions": {}, stamp.COLUMN: stamp.now()}
    train = here.split.train
    if run.method == REAL:
        _draw(train, place.grid(run))
        return {**_facts(run), "rows": len(train), **asdict(Outcome("done")), **made}
    place.synthetic(run).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(prefix="pointillist-bench-") as temporary:
        folder = Path(temporary)
        try:
            job.write(folder, run, here.dataset, train)
            outcome = call([sys.executable, "-P", str(place.script), str(folder)], log=folder / "log.txt", limit=limit)
            if outcome.status == "done":
                pictures, facts = job.read(folder, here.dataset)
                made |= facts
                job.store(place.synthetic(run), pictures)
                _draw(pictures, place.grid(run))
        except (PointillistError, FileNotFoundError, KeyError) as error:
            outcome = Outcome("failed", str(error).splitlines()[0])
    return {**_facts(run), "rows": len(train), **asdict(outcome), **made, "time_limit": limit}


def _facts(run: Run) -> dict[str, Any]:
    settings = json.loads(json.dumps(dict(run.settings), default=str))
    return {**asdict(run), "settings": settings, "label": run.label}


def _score(run: Run, here: Loaded, place: Place, protocol: Protocol, limit: float, say: Say) -> None:
    """Score in a process of its own, unless that has been done by the same protocol."""
    known = place.records.scores(run.key)
    if known is not None and known["protocol"] == protocol.to_json():
        return
    say(f"{run.key}: scoring")
    train, test = here.split.train, here.split.test
    synthetic = train if run.method == REAL else job.load(place.synthetic(run), here.dataset)
    with tempfile.TemporaryDirectory(prefix="pointillist-bench-") as temporary:
        folder = Path(temporary)
        facts = {"protocol": protocol.to_json(), "classes": list(here.dataset.classes)}
        (folder / "scoring.json").write_text(json.dumps(facts), encoding="utf-8")
        arrays = {"x_train": train.pixels, "y_train": train.codes, "x_test": test.pixels, "y_test": test.codes}
        np.savez(folder / "real.npz", **arrays)  # type: ignore[arg-type]
        np.savez(folder / "synthetic.npz", images=synthetic.pixels, labels=synthetic.codes)  # type: ignore[arg-type]
        command = [sys.executable, "-P", str(_HERE / "scoring.py"), str(folder)]
        outcome = call(command, log=folder / "log.txt", limit=limit)
        if outcome.status != "done":
            say(f"{run.key}: not scored: {outcome.reason}")
            return
        scores = json.loads((folder / "scores.json").read_text(encoding="utf-8"))
    costs = {"cpu_seconds": outcome.cpu_seconds, "peak_mb": outcome.peak_mb}
    place.records.keep_scores(run.key, {**scores, **costs})


def _draw(pictures: Images, path: Path) -> None:
    """Some images of each class, a row for each."""
    codes = np.zeros(len(pictures), dtype=np.uint16) if pictures.codes is None else pictures.codes
    rows = []
    for code in range(max(1, len(pictures.classes))):
        mine = pictures.pixels[codes == code][:_GRID]
        empty = np.full((_GRID - len(mine), *pictures.pixels.shape[1:]), 255, dtype=np.uint8)
        rows.append(np.concatenate([mine, empty]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(grid(np.concatenate(rows), _GRID)))
