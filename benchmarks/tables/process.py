"""Process: one command with a time limit, and what it cost."""

import contextlib
import os
import resource
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    status: str
    """`done`, `failed` or `timeout`."""
    reason: str = ""
    """Why it is not done, in one line."""
    cpu_seconds: float = 0.0
    """User and system time, with that of all its children."""
    wall_seconds: float = 0.0
    peak_mb: float = 0.0
    """Most memory held at once by one process."""


def call(command: list[str], *, log: Path, limit: float, extra: dict[str, str] | None = None) -> Outcome:
    """Run a command on one thread; what it prints goes to `log`. At the limit it is stopped with all its children."""
    start = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **_ONE_THREAD, **(extra or {})},
        )
        late = False
        try:
            while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
                if not late and time.monotonic() - start > limit:
                    late = True
                    _stop(process.pid)
                time.sleep(0.05)
        except BaseException:
            _stop(process.pid)
            process.wait()
            raise
    _, status, usage = ended
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if code:
        _stop(process.pid)  # children that outlived it
    wall = time.monotonic() - start
    if late:
        return _outcome("timeout", f"stopped after {limit:g} s", usage, wall)
    if code:
        return _outcome("failed", _reason(log, code), usage, wall)
    return _outcome("done", "", usage, wall)


def _stop(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _outcome(status: str, reason: str, usage: resource.struct_rusage, wall: float) -> Outcome:
    cpu = usage.ru_utime + usage.ru_stime
    return Outcome(status, reason, round(cpu, 2), round(wall, 2), round(usage.ru_maxrss / 1024, 1))


def _reason(log: Path, code: int) -> str:
    if code < 0:
        return f"ended by signal {signal.Signals(-code).name}"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else f"ended with code {code} and no message"
