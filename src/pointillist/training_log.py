"""Training log: how a network's fit or training goes, as lines of JSON that any tracker reads.

Whoever is told of progress may be told of looks, too: a progress with a method `look`. What a look says was computed from a
release or from public images, so it is public.
"""

import json
import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from pointillist.errors import UsageError
from pointillist.progress import Progress


@dataclass(frozen=True)
class Look:
    """Where a descent stands after some steps."""

    work: str
    """"fit" or "train", as progress calls it."""
    step: int
    """Steps done."""
    steps: int
    """Of all, at most."""
    loss: float
    """Of the last batch."""
    seconds: float
    """Since this run began; one that goes on from a checkpoint begins anew."""
    done: int
    """Steps of this run."""
    chi2: float | None = None
    """How far the generator is from the release, by the known noise; none where nobody looked."""
    chi2_expected: float | None = None
    """What the noise alone explains: a fit ends there."""

    @property
    def seconds_left(self) -> float:
        """If all steps are needed, and the rest is as quick."""
        return self.seconds / max(self.done, 1) * (self.steps - self.step)

    def to_json(self) -> dict[str, Any]:
        """Itself as JSON values. A number that is none (a fit that ran away) is null."""
        facts = {
            "work": self.work,
            "step": self.step,
            "steps": self.steps,
            "steps_left": self.steps - self.step,
            "loss": self.loss,
            "chi2": self.chi2,
            "chi2_expected": self.chi2_expected,
            "seconds": round(self.seconds, 3),
            "seconds_left": round(self.seconds_left, 3),
        }
        return {
            name: None if isinstance(each, float) and not math.isfinite(each) else each for name, each in facts.items()
        }


@runtime_checkable
class Watcher(Protocol):
    """A progress that is told of looks, too."""

    def look(self, look: Look) -> None: ...


def tell(progress: Progress, look: Look) -> None:
    """Tell a progress of a look, if it listens."""
    if isinstance(progress, Watcher):
        progress.look(look)


def logged(path: str | Path | None, progress: Progress) -> "AbstractContextManager[Progress]":
    """A progress that also writes looks to a file, if one is named."""
    return nullcontext(progress) if path is None else TrainingLog(path, progress)


class Relay:
    """A progress that does something of its own, and passes looks on to another."""

    def __init__(self, own: Progress, other: Progress):
        self._own, self._other = own, other

    def __call__(self, step: str, fraction: float) -> None:
        self._own(step, fraction)

    def look(self, look: Look) -> None:
        """Pass it on."""
        tell(self._other, look)


class TrainingLog(Relay):
    """A progress that writes each look to a file, and passes everything on.

    Lines are added to a file that is there: a fit that goes on from a checkpoint goes on in its log. Where a step occurs
    twice, the later line counts.
    """

    def __init__(self, path: str | Path, progress: Progress):
        super().__init__(progress, progress)
        try:
            self._file = Path(path).open("a", encoding="utf-8")  # noqa: SIM115  (closed by __exit__)
        except OSError as error:
            raise UsageError(f"{path}: the log cannot be written ({error.strerror}). Name another file.") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def look(self, look: Look) -> None:
        """Write it at once: whoever reads along sees it, and a killed process loses nothing."""
        self._file.write(json.dumps(look.to_json()) + "\n")
        self._file.flush()
        super().look(look)
