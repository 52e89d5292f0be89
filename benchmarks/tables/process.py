"""Process: one command with a time limit, and what it cost."""

import json
import os
import signal
import subprocess
import sys
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


_LAUNCHER = """
import json, os, signal, sys
child = os.fork()
if child == 0:
    os.setsid()
    os.execvp(sys.argv[2], sys.argv[2:])
def stop(*_):
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
signal.signal(signal.SIGTERM, stop)
_, status, usage = os.wait4(child, 0)
stop()
facts = {"code": os.waitstatus_to_exitcode(status), "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss}
with open(sys.argv[1], "w") as stream:
    json.dump(facts, stream)
"""
"""A small process between the bench and a job: the peak memory of a child counts that of the process it was forked from."""


def call(command: list[str], *, log: Path, limit: float, extra: dict[str, str] | None = None) -> Outcome:
    """Run a command on one thread; what it prints goes to `log`. At the limit it is stopped with all its children."""
    start = time.monotonic()
    facts = log.with_suffix(".usage.json")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(facts), *command],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **_ONE_THREAD, **(extra or {})},
        )
        late = False
        try:
            process.wait(limit)
        except subprocess.TimeoutExpired:
            late = True
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    wall = time.monotonic() - start
    usage = json.loads(facts.read_text(encoding="utf-8"))
    if late:
        return _outcome("timeout", f"stopped after {limit:g} s", usage, wall)
    if usage["code"]:
        return _outcome("failed", _reason(log, usage["code"]), usage, wall)
    return _outcome("done", "", usage, wall)


def _outcome(status: str, reason: str, usage: dict[str, float], wall: float) -> Outcome:
    return Outcome(status, reason, round(usage["cpu"], 2), round(wall, 2), round(usage["peak"] / 1024, 1))


def _reason(log: Path, code: int) -> str:
    if code < 0:
        return f"ended by signal {signal.Signals(-code).name}"
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[-1][:300] if lines else f"ended with code {code} and no message"
