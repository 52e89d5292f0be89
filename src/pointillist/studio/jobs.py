"""Jobs: long work in worker processes. Their state is on disk, so a closed tab loses nothing and a reload shows it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pointillist.errors import UsageError
from pointillist.studio.project import Project, write_private

try:
    import fcntl
except ImportError:  # without locks, a worker is alive as long as this server knows it
    fcntl = None  # type: ignore[assignment]

_LOADING = 30
"""Seconds that a worker may take to load its libraries."""
WAITING, RUNNING, DONE, FAILED, STOPPED = "waiting", "running", "done", "failed", "stopped"


@dataclass(frozen=True)
class Job:
    """How far work for a step is."""

    step: str
    state: str = WAITING
    doing: str = ""
    fraction: float = 0.0
    message: str = ""
    began: float = 0.0
    at: float = 0.0
    spent: bool = False
    """Whether the ledger was asked to record a spend: from then on it may count."""
    plan: str = ""
    """Which plan it works on: that which was shown, whatever is planned meanwhile."""

    @property
    def active(self) -> bool:
        return self.state in (WAITING, RUNNING)

    @property
    def percent(self) -> int:
        return round(100 * min(1.0, max(0.0, self.fraction)))

    @property
    def seconds(self) -> int:
        return round((time.time() if self.active else self.at) - self.began)


def folder_of(project: Project, step: str) -> Path:
    """Where a job's state is."""
    return project.folder / "jobs" / step


def read(folder: Path) -> Job | None:
    """The state of a job; none if there never was one."""
    try:
        return Job(**json.loads((folder / "state.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write(folder: Path, job: Job) -> None:
    """Whole or not at all: whoever reads it never sees half."""
    write_private(folder / "state.json", json.dumps(asdict(replace(job, at=time.time()))))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """The worker's lock, for as long as it lives, however it ends."""
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def _alive(folder: Path) -> bool:
    """Whether some worker holds its lock."""
    if fcntl is None:
        return True
    try:
        lock = os.open(folder / "lock", os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(lock)
    return False


def _young(job: Job) -> bool:
    """Whether another server's worker may still be on its way to its lock."""
    return job.state == WAITING and time.time() - job.began < _LOADING


class Jobs:
    """The workers that this server started."""

    def __init__(self) -> None:
        self._workers: dict[Path, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()

    def start(self, project: Project, step: str, ledger: Path | None = None, plan: str = "") -> bool:
        """Start the worker of a step on a plan, unless one is at work. Whether this call started it."""
        folder = folder_of(project, step)
        with self._lock:
            now = self.state(project, step)
            if now is not None and now.active:
                return False
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            job = Job(step, began=time.time(), plan=plan)
            write(folder, job)
            places = [str(project.folder), str(project.scratch), plan, *([] if ledger is None else [str(ledger)])]
            try:
                self._workers[folder] = subprocess.Popen(
                    [sys.executable, "-m", "pointillist.studio.worker", step, *places],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,  # a traceback may quote a private value
                    start_new_session=True,  # an interrupt at the terminal ends the server, which ends its workers in order
                )
            except OSError as error:
                said = f"The worker could not be started ({error.strerror}). Nothing was done."
                write(folder, replace(job, state=FAILED, message=said))
                raise UsageError(said) from None
            return True

    def state(self, project: Project, step: str) -> Job | None:
        """How far it is; a worker that has gone without a word was ended from outside."""
        folder = folder_of(project, step)
        with self._lock:  # a worker that is being started is not known yet
            job = read(folder)
            if job is None or not job.active:
                return job
            worker = self._workers.get(folder)
            gone = worker.poll() is not None if worker is not None else not (_alive(folder) or _young(job))
            job = read(folder) or job  # it may have had its last word since
            if gone and job.active:
                job = replace(job, state=STOPPED, message=_ended(job))
                write(folder, job)
            return job

    def stop(self, project: Project, step: str) -> None:
        """End a worker. What is spent by then stays spent."""
        worker = self._workers.get(folder_of(project, step))
        if worker is not None and worker.poll() is None:
            with suppress(ProcessLookupError):
                worker.send_signal(signal.SIGTERM)
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self.state(project, step)

    def close(self) -> None:
        """End all workers, but for one that has spent budget: what was paid for is not thrown away."""
        for folder, worker in self._workers.items():
            job = read(folder)
            if worker.poll() is None and not (job is not None and job.spent):
                worker.terminate()
            worker.wait()


def _ended(job: Job) -> str:
    if job.step != "release":
        return "Stopped. Nothing was lost: start it again when you like."
    if job.spent:
        return "Stopped after the spend was recorded: it counts, and there is no release. The ledger has it as open."
    return "Stopped before anything was spent. Plan it again when you like."
