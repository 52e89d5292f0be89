"""Engine: many inputs through a few workers, and a count of how they ended."""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.fuzz.kind import Kind
from benchmarks.fuzz.kinds import KINDS

ROOT = Path(__file__).parents[2]
_CODE = """
from benchmarks.fuzz import base, worker
from benchmarks.fuzz.kinds import KINDS
worker.main(KINDS, base.received)
"""
PATIENCE = 120.0
"""Seconds on the clock: for what waits instead of working."""


@dataclass(frozen=True)
class Failure:
    """An input that ended as none may."""

    kind: str
    seed: int
    number: int
    why: str


@dataclass
class Tally:
    """How the inputs of a run ended."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)

    def add(self, kind: str, ended: str) -> None:
        self.counts.setdefault(kind, Counter())[ended] += 1


def run(
    count: int,
    seed: int,
    only: Sequence[str] = (),
    *,
    workers: int = 1,
    keep: Path | None = None,
    report: Callable[[int], None] = lambda done: None,
) -> Tally:
    """Try `count` inputs; those that fail are kept in a folder, if there is one for them."""
    tally, done = Tally(), 0
    cases = list(_cases(count, [KINDS[name] for name in only] if only else list(KINDS.values())))
    parts = [cases[place::workers] for place in range(workers)]

    def work(part: list[tuple[str, int]]) -> None:
        nonlocal done
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, Worker() as worker:
            for kind, number in part:
                inside = Path(folder) / "input"
                inside.mkdir()
                ended, why = worker.ask(kind, seed, number, inside)
                tally.add(kind, ended)
                if ended == "failed":
                    tally.failures.append(Failure(kind, seed, number, why))
                    if keep is not None:
                        _keep(inside, keep / f"{kind}-{seed}-{number}")
                shutil.rmtree(inside, ignore_errors=True)
                done += 1
                report(done)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, parts))
    return tally


def _cases(count: int, kinds: Sequence[Kind]) -> Iterator[tuple[str, int]]:
    """Kinds in turn, by their weights; each with numbers of its own, so that the others do not matter to it."""
    turn = [each.name for each in kinds for _ in range(each.weight)]
    seen: Counter[str] = Counter()
    for place in range(count):
        name = turn[place % len(turn)]
        yield name, seen[name]
        seen[name] += 1


def _keep(inside: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for path in inside.rglob("*"):
        if path.is_file() and not path.is_symlink():
            target = folder / path.relative_to(inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


class Worker:
    """A process that is started again when it has died."""

    def __init__(self, code: str = _CODE) -> None:
        self._code = code
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: Any) -> None:
        self._end()

    def ask(self, kind: str, seed: int, number: int, folder: Path) -> tuple[str, str]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([kind, seed, number, str(folder)]) + "\n")
        process.stdin.flush()
        # A new process first makes what inputs are made of.
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        answer = process.stdout.readline() if ready else ""
        if answer:
            ended, why = json.loads(answer)
            return ended, why
        if not ready:
            process.kill()
        code = process.wait()
        self._end()
        if not ready:
            return "failed", f"no answer within {PATIENCE:g} seconds"
        return "failed", f"killed by {signal.Signals(-code).name}" if code < 0 else f"the process ended with {code}"

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is None:
            environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
            self._process = subprocess.Popen(
                [sys.executable, "-c", self._code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
                cwd=ROOT,
            )
        return self._process

    def _end(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
        self._process = None
