"""Progress bars: how far the steps of a command are, on a terminal or in a log."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn

from pointillist.cli.console import err
from pointillist.progress import in_words
from pointillist.training_log import Look


class Steps:
    """A progress bar for each step, with the time left; where nobody can see bars, a line now and then."""

    def __init__(self, quiet: bool):
        self._quiet = quiet
        self._began: dict[str, float] = {}
        self._told = time.monotonic()
        self._bars: dict[str, Any] = {}
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=err,
            disable=quiet,
        )

    @contextmanager
    def shown(self) -> Iterator["Steps"]:
        with self._progress:
            yield self
            self._finish()

    def __call__(self, step: str, fraction: float) -> None:
        words = None if self._quiet else in_words(step)
        if words is None:
            return
        if step not in self._bars:
            self._finish()
            self._bars[step] = self._progress.add_task(words, total=1.0)
            self._began[step] = time.monotonic()
        self._progress.update(self._bars[step], completed=fraction)
        if fraction < 1 and not err.is_terminal and time.monotonic() - self._told > _SELDOM:
            self._tell(step, fraction)

    def look(self, look: Look) -> None:
        """Show a network's loss beside how far it is."""
        if look.work in self._bars:
            self._progress.update(self._bars[look.work], description=f"{in_words(look.work)}, loss {look.loss:.4g}")

    def _tell(self, step: str, fraction: float) -> None:
        """Say how far a step is, and how long it will take if it goes on like that."""
        self._told = time.monotonic()
        left = (self._told - self._began[step]) * (1 / max(fraction, 1e-3) - 1)
        words = self._progress.tasks[self._bars[step]].description
        err.print(f"{words}: {fraction:.0%}, about {max(1, round(left / 60))} min left")

    def _finish(self) -> None:
        for bar in self._bars.values():
            self._progress.update(bar, completed=1.0)


_SELDOM = 20
"""Seconds between two lines about progress in a log."""
