"""Worker: a process that tries inputs one after the other, and may die of one.

It reads a line of JSON for each input (kind, seed, number, folder) and answers with a line (how it ended, and why). It has
a limit on memory, and on the time that one input may take; whoever started it sees which input it died of.
"""

import json
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from benchmarks.fuzz.kind import Kind, Refused
from pointillist.errors import PointillistError

MEMORY = 3 << 30
"""Bytes that may come on top of what the program itself needs."""
SECONDS = 30.0
"""Of processor time, for one input."""


def main(kinds: Mapping[str, Kind], prepare: Callable[[], object], seconds: float = SECONDS) -> None:
    """Try inputs until there are no more. What they are made of is made before any limit is set and any clock runs."""
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):  # what the product prints is looked at elsewhere
        os.dup2(silence, stream)
    warnings.simplefilter("ignore")
    prepare()
    _limit_memory()
    for line in sys.stdin:
        kind, seed, number, folder = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, seconds)  # nobody handles it: it ends the process, whatever that is doing
        ended, why = tried(kinds[kind], seed, number, Path(folder))
        signal.setitimer(signal.ITIMER_PROF, 0)
        answers.write(json.dumps([ended, why]) + "\n")
        answers.flush()


def tried(kind: Kind, seed: int, number: int, folder: Path) -> tuple[str, str]:
    """How an input ended: accepted, refused or failed; and why."""
    try:
        kind.attempt(seed, number, folder)()
    except (PointillistError, Refused) as error:
        return ("refused", type(error).__name__) if str(error).strip() else ("failed", "an error without a message")
    except BaseException as error:
        places = traceback.extract_tb(error.__traceback__)
        ours = [each for each in places if f"{os.sep}pointillist{os.sep}" in each.filename] or places
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
        return "failed", f"{type(error).__name__} at {where}: {str(error)[:300]}"
    return "accepted", ""


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
