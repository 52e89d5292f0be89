"""Worker: the process that does the long work of one step, and says on disk how far it is.

python -m pointillist.studio.worker STEP PROJECT SCRATCH PLAN [LEDGER], where PLAN is a plan's id or empty.
"""

import sys
import time
import traceback
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from pointillist.errors import FactsFromDataWarning, PointillistError
from pointillist.studio import jobs
from pointillist.studio.project import Project

_SELDOM = 0.3
"""Seconds between two notes of how far it is."""
_WORDS = {
    "draft": "reading the table and drafting its schema",
    "review": "counting how many rows share each fact",
    "histograms": "counting for the histograms",
    "spend": "recording the spend in the ledger",
    "fit": "fitting the generator",
    "sample": "sampling rows",
    "write": "writing",
    "close": "closing the spend",
    "evaluate": "comparing with the real data",
}


class Teller:
    """Says on disk how far the work is, not too often."""

    def __init__(self, folder: Path, job: jobs.Job):
        self._folder, self.job, self._told = folder, job, 0.0

    def __call__(self, step: str, fraction: float) -> None:
        words = _WORDS.get(step) or step.replace("pass", "reading the records, pass").replace("noise", "drawing noise,")
        new = words != self.job.doing
        self.job = replace(self.job, state=jobs.RUNNING, doing=words, fraction=fraction)
        self.job = replace(self.job, spent=self.job.spent or step == "spend")
        if new or time.monotonic() - self._told > _SELDOM:
            self._told = time.monotonic()
            jobs.write(self._folder, self.job)

    def end(self, state: str, message: str = "") -> None:
        """The last word."""
        fraction = 1.0 if state == jobs.DONE else self.job.fraction
        jobs.write(self._folder, replace(self.job, state=state, message=message, fraction=fraction))


def said(error: Exception) -> str:
    """What may be told about an error: our own messages quote no private value, and others are not quoted."""
    if isinstance(error, PointillistError):
        return str(error)
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return f"A file could not be used ({reason}). Check paths, permissions and free space."
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"A fault in pointillist ({type(error).__name__} at {Path(place.filename).name}:{place.lineno}). "
        "Please report it; leave the data out."
    )


def run(step: str, project: Project, ledger: Path | None, plan: str = "") -> bool:
    """Do the work of a step, on the plan of that id. Whether it was done."""
    folder = jobs.folder_of(project, step)
    with jobs.held(folder):
        tell = Teller(folder, jobs.read(folder) or jobs.Job(step, began=time.time(), plan=plan))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FactsFromDataWarning)  # the page asked about them
                named = project.plan_of(plan) if plan else None
                import_module(f"pointillist.studio.steps.{step}").work(project, named, tell, ledger)
        except Exception as error:
            tell.end(jobs.FAILED, said(error))
            return False
        tell.end(jobs.DONE)
        return True


def main() -> None:
    """As the server calls it."""
    step, folder, scratch, plan, *rest = sys.argv[1:]
    done = run(step, Project(Path(folder), Path(scratch)), Path(rest[0]) if rest else None, plan)
    sys.exit(0 if done else 1)


if __name__ == "__main__":
    main()
