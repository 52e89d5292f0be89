"""Auditing: attacks on the real pipeline, and a lower bound on epsilon from each, beside the promised epsilon."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pointillist.curator.reading import open_schema
from pointillist.errors import UsageError, without_context
from pointillist.evaluate.audit.canaries import canaries
from pointillist.evaluate.audit.finding import NOTE, PRIVATE, Audit, Finding, fingerprint
from pointillist.evaluate.audit.membership import membership
from pointillist.evaluate.audit.subject import Pipeline, Subject
from pointillist.evaluate.audit.white_box import white_box
from pointillist.methods import Method, method_named
from pointillist.privacy.budget import DEFAULT_DELTA, Neighbours
from pointillist.progress import Progress, silent
from pointillist.schema import Schema

ATTACKS = ("white-box", "canaries", "membership")


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
    runs: int = 100,
    confidence: float = 0.95,
    seed: int = 0,
    pipeline: Pipeline | None = None,
    progress: Progress = silent,
) -> Audit:
    """Attack the release that these settings would make, and report what each attack can show.

    Arguments:
        table: private rows, or None to attack with rows made up from the schema alone (no membership attack then).
        schema, epsilon, delta, target, neighbours, method: as for `release`.
        attacks: some of "white-box", "canaries" and "membership"; by default all that the table allows.
        runs: releases on each side of the white-box attack.
        confidence: of the lower bounds.
        seed: for the choice of rows and coin tosses; the noise has none.

    Nothing is published, so nothing is spent: no release is kept, and the ledger is not touched.
    """
    schema = open_schema(schema)
    schema.require_table("audit")
    schema.require_reviewed()
    chosen = tuple(attacks) if attacks is not None else ATTACKS if table is not None else ATTACKS[:2]
    _check(chosen, table, runs, confidence)
    subject = Subject(
        schema=schema,
        epsilon=float(epsilon),
        delta=float(delta),
        target=target,
        neighbours=Neighbours.parse(neighbours),
        method=method_named(method),
        pipeline=pipeline or Pipeline(),
    )
    promise = subject.promise
    work: dict[str, Callable[[], tuple[Finding, ...]]] = {
        "white-box": lambda: white_box(subject, runs=runs, confidence=confidence, progress=progress),
        "canaries": lambda: canaries(table, subject, confidence=confidence, seed=seed, progress=progress),
        "membership": lambda: membership(table, subject, confidence=confidence, seed=seed, progress=progress),
    }
    findings = tuple(finding for name in ATTACKS if name in chosen for finding in work[name]())
    private = any(finding.private for finding in findings)
    return Audit(
        dataset=schema.name,
        schema=fingerprint(schema),
        target=target,
        method=subject.method.name,
        neighbours=promise.neighbours.value,
        unit=promise.unit,
        epsilon=promise.epsilon,
        delta=promise.delta,
        mu=promise.mu,
        findings=findings,
        notes=(NOTE, PRIVATE) if private else (NOTE,),
    )


def _check(attacks: tuple[str, ...], table: Any, runs: int, confidence: float) -> None:
    unknown = [name for name in attacks if name not in ATTACKS]
    if unknown or not attacks:
        raise UsageError(f"attack {unknown[0] if unknown else ''!r} is not known. Known are {', '.join(ATTACKS)}.")
    if "membership" in attacks and table is None:
        raise UsageError("the membership attack needs a table: it is on the synthetic data of real rows.")
    if runs < 10:
        raise UsageError(f"runs must be at least 10, not {runs}: fewer show nothing.")
    if not 0.5 <= confidence < 1:
        raise UsageError(f"confidence must lie from 0.5 to 1, not {confidence}.")
