"""Outcome: all that a run lets out, beside what its tape holds."""

import contextlib
import functools
import io
import json
import re
import shutil
import sqlite3
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dp_accounting

from pointillist.curator.choosing import Choice
from pointillist.errors import PointillistError
from pointillist.progress import Progress
from pointillist.reading import batches
from pointillist.release import Release
from recording.calls import recorded_calls
from recording.frozen import FrozenNoise, Tape

_SIGMA, _EPSILON = (
    functools.cache(each) for each in (dp_accounting.get_sigma_gaussian, dp_accounting.get_epsilon_gaussian)
)
"""The same budgets again and again: these look for roots, and know nothing but the budget."""
_BATCHES, _FEW = ((batches, "BATCH_ROWS"), (batches, "BATCH_IMAGES")), 5
"""Batches of a few rows: one row more moves others from batch to batch, and from thread to thread."""
_ID = uuid.UUID(int=4)
_NOW = "2026-01-01T00:00:00+00:00"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+0-9:.]*")


@dataclass(frozen=True)
class Outcome:
    """What is seen of a run. Two runs on neighbours must not differ in any of it."""

    made: bytes | None
    """What the call returned, as a file's content."""
    file: bytes | None
    """What it wrote."""
    ledger: tuple[str, ...]
    steps: tuple[str, ...]
    """What the caller was told on the way, without how much of it was done."""
    printed: str
    warned: tuple[str, ...]
    left: tuple[str, ...]
    """Files that are there afterwards."""
    error: str | None
    shapes: tuple[int, ...]
    """How many numbers were measured in each round."""
    scales: tuple[float, ...]
    calls: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """A run: what is seen of it, and what is not."""

    outcome: Outcome
    tape: Tape
    release: Any
    """What the call returned."""


@dataclass
class Room:
    """Where runs take place, one after the other, always at the same paths."""

    path: Path

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def output(self) -> Path:
        return self.path / "out" / "made.release"

    @property
    def ledger(self) -> Path:
        return self.path / "out" / "ledger.sqlite"

    @property
    def scratch(self) -> Path:
        return self.path / "scratch"

    def clear(self) -> None:
        for folder in (self.data, self.output.parent, self.scratch):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)

    def left(self) -> tuple[str, ...]:
        """Every file but the data."""
        found = [*self.output.parent.rglob("*"), *self.scratch.rglob("*")]
        return tuple(sorted(str(each.relative_to(self.path)) for each in found))

    def spends(self) -> tuple[str, ...]:
        """The ledger's whole content, times left out."""
        if not self.ledger.exists():
            return ()
        with closing(sqlite3.connect(self.ledger)) as db:
            return tuple(_TIME.sub("TIME", line) for line in db.iterdump())


@contextmanager
def room() -> Iterator[Room]:
    """A room in memory where the machine has one: a ledger waits for the disk many times."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="replay-") as folder:
        yield Room(Path(folder))


Work = Callable[[Room], Callable[[Progress], Any]]
"""Put the data into a room, and return the call that makes something public of them."""


def play(work: Work, place: Room, noise: FrozenNoise, *, watched: bool = True) -> Run:
    """Run something in a cleared room under frozen noise, time and ids, and keep all that it lets out.

    Calls are kept only if `watched`: that takes as long again.
    """
    place.clear()
    call = work(place)
    steps: list[str] = []
    printed = io.StringIO()
    made, error = None, None

    def progress(step: str, fraction: float) -> None:
        if steps[-1:] != [step]:
            steps.append(step)

    with ExitStack() as stack:
        tape = stack.enter_context(noise.playing())
        stack.enter_context(patch.object(dp_accounting, "get_sigma_gaussian", _SIGMA))
        stack.enter_context(patch.object(dp_accounting, "get_epsilon_gaussian", _EPSILON))
        for owner, name in _BATCHES:
            stack.enter_context(patch.object(owner, name, _FEW))
        stack.enter_context(patch.object(uuid, "uuid4", lambda: _ID))
        stack.enter_context(patch.object(Release, "now", staticmethod(lambda: _NOW)))
        stack.enter_context(patch.object(tempfile, "tempdir", str(place.scratch)))
        stack.enter_context(contextlib.redirect_stdout(printed))
        stack.enter_context(contextlib.redirect_stderr(printed))
        warned = stack.enter_context(warnings.catch_warnings(record=True))
        warnings.simplefilter("always")
        calls = stack.enter_context(recorded_calls()) if watched else []
        try:
            made = call(progress)
        except PointillistError as refused:
            error = f"{type(refused).__name__}: {refused}"
    outcome = Outcome(
        made=_content(made),
        file=place.output.read_bytes() if place.output.exists() else None,
        ledger=place.spends(),
        steps=tuple(steps),
        printed=printed.getvalue(),
        warned=tuple(str(each.message) for each in warned),
        left=place.left(),
        error=error,
        shapes=tuple(sums.size for sums in tape.sums),
        scales=tuple(tape.scales),
        calls=tuple(calls),
    )
    return Run(outcome, tape, made)


def _content(made: Any) -> bytes | None:
    """Whatever was made, as a receiver gets it."""
    if isinstance(made, Release):
        return made.to_bytes()
    if isinstance(made, Choice):
        return json.dumps([made.to_json(), made.rows.to_pylist(), made.frame], default=str).encode()
    return None if made is None else repr(made).encode()
