"""Auditing: attacks on the real pipeline, and a lower bound on epsilon from each, beside the promised epsilon."""

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pointillist.errors import UsageError, without_context
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline, Pipeline
from pointillist.evaluate.audit.canaries import canaries
from pointillist.evaluate.audit.finding import NOTE, PRIVATE, Audit, Finding
from pointillist.evaluate.audit.membership import membership
from pointillist.evaluate.audit.white_box import white_box
from pointillist.methods import Method, method_for
from pointillist.privacy.budget import DEFAULT_DELTA
from pointillist.privacy.guarantee import Neighbours
from pointillist.progress import Progress, silent
from pointillist.reading.opening import open_schema
from pointillist.schema import Schema
from pointillist.schema.fingerprint import fingerprint
from pointillist.watching import watched

ATTACKS = ("white-box", "canaries", "membership")
RUNS, SHADOWS = 30, 6
"""Releases on each side of the white-box attack, and shadow runs of the membership attack, unless asked for otherwise."""
THOROUGH = 200, 24
"""The same for whoever has the time."""
_RELEASE, _ONE_RUN, _SHADOW = 5, 20, 8
"""What a run of each attack costs, roughly, in releases of a made-up table: for the time left."""


@watched
@without_context
def audit(
    table: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    target: str | None = None,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    method: str | Method = "mosaic",
    attacks: Sequence[str] | None = None,
    runs: int = RUNS,
    shadows: int = SHADOWS,
    confidence: float = 0.95,
    seed: int = 0,
    pipeline: Pipeline | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack the release that these settings would make, and report what each attack can show.

    Arguments:
        table: private rows, or None to attack with rows made up from the schema alone (no membership attack then).
        schema: as for `release`.
        epsilon: as for `release`.
        delta: as for `release`.
        target: as for `release`.
        neighbours: as for `release`.
        method: as for `release`.
        attacks: some of "white-box", "canaries" and "membership"; by default all that the table allows.
        runs: releases on each side of the white-box attack; the finding says how much so many can show.
        shadows: runs of the whole pipeline from which the membership attack learns.
        confidence: of the lower bounds.
        seed: for the choice of rows and coin tosses; the noise has none.

    Nothing is published, so nothing is spent: no release is kept, and the ledger is not touched.
    """
    schema = open_schema(schema)
    schema.require_table("audit")
    schema.require_reviewed()
    chosen = tuple(attacks) if attacks is not None else ATTACKS if table is not None else ATTACKS[:2]
    _check(chosen, table, runs, shadows, confidence)
    audited = AuditedPipeline(
        schema=schema,
        epsilon=float(epsilon),
        delta=float(delta),
        target=target,
        neighbours=Neighbours.parse(neighbours),
        method=method_for(schema, method),
        pipeline=pipeline or Pipeline(),
    )
    attack: dict[str, Callable[[Progress], tuple[Finding, ...]]] = {
        "white-box": lambda told: white_box(audited, runs=runs, confidence=confidence, progress=told),
        "canaries": lambda told: canaries(table, audited, confidence=confidence, seed=seed, progress=told),
        "membership": lambda told: membership(
            table, audited, shadows=shadows, confidence=confidence, seed=seed, progress=told
        ),
    }
    costs = {"white-box": _RELEASE * runs, "canaries": _ONE_RUN, "membership": _SHADOW * (1 + shadows)}
    parts = _parts(progress, {name: costs[name] for name in ATTACKS if name in chosen})
    findings = tuple(finding for name, told in parts.items() for finding in attack[name](told))
    return _audit(audited, findings)


def _audit(audited: AuditedPipeline, findings: tuple[Finding, ...]) -> Audit:
    """The findings, beside what was promised."""
    promise = audited.promise
    private = any(finding.private for finding in findings)
    return Audit(
        dataset=audited.schema.name,
        schema=fingerprint(audited.schema),
        target=audited.target,
        method=audited.method.name,
        neighbours=promise.neighbours.value,
        unit=promise.unit,
        epsilon=promise.epsilon,
        delta=promise.delta,
        mu=promise.mu,
        findings=findings,
        notes=(NOTE, PRIVATE) if private else (NOTE,),
    )


def _parts(progress: Progress, costs: dict[str, int]) -> dict[str, Progress]:
    """For each attack what it tells its progress to: passed on, and added up to how far the whole audit is."""

    def part(before: int, cost: int) -> Progress:
        def told(step: str, fraction: float) -> None:
            progress(step, fraction)
            progress("audit", (before + cost * fraction) / sum(costs.values()))

        return told

    ends = itertools.accumulate(costs.values())
    return {name: part(end - costs[name], costs[name]) for name, end in zip(costs, ends, strict=True)}


def _check(attacks: tuple[str, ...], table: Any, runs: int, shadows: int, confidence: float) -> None:
    unknown = [name for name in attacks if name not in ATTACKS]
    if unknown or not attacks:
        raise UsageError(f"attack {unknown[0] if unknown else ''!r} is not known. Known are {', '.join(ATTACKS)}.")
    if "membership" in attacks and table is None:
        raise UsageError("the membership attack needs a table: it is on the synthetic data of real rows.")
    if runs < 10:
        raise UsageError(f"runs must be at least 10, not {runs}: fewer show nothing.")
    if shadows < 0:
        raise UsageError(f"shadows must not be negative, not {shadows}.")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence must lie from 0.5 to 1, not {confidence}.")
