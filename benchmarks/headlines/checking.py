"""Checking: areas side by side, each in a process of its own."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from typing import Any

from . import claim as claims
from .claim import Folder, Outcome
from .registry import ALONE, AREAS

Row = dict[str, Any]
_THREADS = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def row_of(outcome: Outcome) -> Row:
    claim = outcome.claim
    return {
        "claim": claim.name, "where": claim.where, "band": str(claim.band), "why": claim.band.why,
        "now": outcome.value, "status": outcome.status, "reason": outcome.reason,
        "cpu_seconds": round(outcome.cpu_seconds, 1), "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }  # fmt: skip


def work(area: str, data: Folder, quick: bool) -> list[Row]:
    """All claims of an area, one after another. Rows come back from its process; claims hold functions and stay there."""
    chosen = claims.quick(AREAS[area]) if quick else AREAS[area]
    return [row_of(claims.check(claim, data)) for claim in chosen]


def checked(areas: Iterable[str], data: Folder, quick: bool, jobs: int) -> Iterator[tuple[str, list[Row]]]:
    """Area by area; some side by side, each on one thread."""
    os.environ.update(_THREADS)
    areas = list(areas)
    for area in (each for each in areas if each in ALONE):
        yield area, work(area, data, quick)
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        waiting = {area: pool.submit(work, area, data, quick) for area in areas if area not in ALONE}
        for area, done in waiting.items():
            yield area, done.result()
