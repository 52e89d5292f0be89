"""Canaries: a lower bound on epsilon from ONE release (Steinke, Nasr, Jagielski 2023).

Made-up persons go into the table by the toss of a coin, each by its own. One release is made, and the attacker guesses
the tosses. Under (epsilon, delta)-privacy only so many guesses can be right. One run is cheap, and the bound is loose:
it stays below the truth even for the best attack, so the finding also says what the best would have been.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh

from pointillist.evaluate.arrays import Floats
from pointillist.evaluate.audit.audited_pipeline import AuditedPipeline
from pointillist.evaluate.audit.epsilon_bounds import best_one_run, ideal_one_run, one_run_epsilon, refutes
from pointillist.evaluate.audit.finding import ALARM, Finding
from pointillist.evaluate.tables.owned_rows import OwnedRows, read_rows, spread
from pointillist.features import Records
from pointillist.privacy.guarantee import Neighbours
from pointillist.progress import Progress, silent
from pointillist.release import Measurement, Release

MOST, LEAST = 1_000, 50
"""Canaries. Between the two there is one for every second level of the schema: more would hide behind each other."""
MOST_ROWS = 100_000
"""Of a larger table a random part is used: the release's noise, and with it the attack, stays the same."""


def canaries(
    table: Any,
    audited: AuditedPipeline,
    *,
    count: int | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Finding, ...]:
    """Attack one release of the table (of nothing, if there is none) with canaries among its rows."""
    generator = np.random.default_rng(seed)
    progress("canaries", 0.0)
    count = count or min(MOST, max(LEAST, sum(each.size for each in audited.levels) // 2))
    others = None if table is None else _rows(table, audited, seed)
    first = 0 if others is None else int(others.owners.max()) + 1
    chosen = spread(audited.schema, count, owner=first, generator=generator)
    member = generator.random(count) < 0.5
    # Where a person is replaced rather than added, every canary has a second self that takes its place.
    instead = None
    if audited.neighbours is Neighbours.REPLACE_ONE:
        instead = spread(audited.schema, count, owner=first, generator=generator)
    base = [] if others is None else [others.table()]
    mixed = [*base, *_mixed(chosen, instead, member)]
    progress("canaries", 0.1)
    release = audited.release(pa.concat_tables(mixed))
    progress("canaries", 0.5)
    background = [*base, *([instead.table()] if instead is not None else [])] or [chosen.table().slice(0, 0)]
    scores = _scores(release, audited, pa.concat_tables(background), chosen, instead)
    progress("canaries", 0.9)
    finding = _finding(scores, member, audited, confidence, private=table is not None)
    progress("canaries", 1.0)
    return (finding,)


def _rows(table: Any, audited: AuditedPipeline, seed: int) -> OwnedRows:
    rows = read_rows(table, audited.schema).rows(audited.schema)
    if len(rows) <= MOST_ROWS:
        return rows
    return rows.take(np.random.default_rng(seed).choice(len(rows), MOST_ROWS, replace=False))


def _mixed(chosen: OwnedRows, instead: OwnedRows | None, member: NDArray[np.bool_]) -> list[pa.Table]:
    """The canaries that go in and, where they are replaced, the second selves of the others."""
    inside = member[chosen.owners - chosen.owners.min()]
    tables = [chosen.take(inside).table()]
    if instead is not None:
        tables.append(instead.take(~inside).table())
    return tables


def _scores(
    release: Release, audited: AuditedPipeline, background: pa.Table, chosen: OwnedRows, instead: OwnedRows | None
) -> Floats:
    """For each canary the best linear estimate of its toss, from all noisy values and all that the attacker knows.

    The values are background + tosses @ moves + noise. With tosses of variance 1/4 and noise of variance s² the estimate
    solves (moves movesᵀ + 4 s²) x = moves (values - background - half of all moves): it allows for the noise, and for
    canaries that share cells with each other. The noise is measured where no canary reaches, not taken on trust.
    """
    count = len(np.unique(chosen.owners))
    overlap, pull = np.zeros((count, count)), np.zeros(count)
    energy, size = 0.0, 0
    for measurement in release.measurements:
        moves = _moves(measurement, release, chosen)
        if instead is not None:
            moves = moves - _moves(measurement, release, instead)
        rest = measurement.values / measurement.sigma - audited.exact(background, release.schema, measurement)
        rest = rest - np.asarray(moves.sum(axis=0)).ravel() / 2
        overlap += (moves @ moves.T).toarray()
        pull += moves @ rest
        energy, size = energy + float(rest @ rest), size + len(rest)
    spans, axes = eigh(overlap)
    along = axes.T @ pull
    real = spans > 1e-9 * spans[-1]
    free = size - int(real.sum())
    noise = max(1e-9, (energy - float((along[real] ** 2 / spans[real]).sum())) / free) if free > 0 else 1.0
    return np.asarray(axes @ np.where(real, along / (np.maximum(spans, 0.0) + 4 * noise), 0.0))


def _moves(measurement: Measurement, release: Release, rows: OwnedRows) -> Any:
    """What each person adds to each noisy value, in units of its noise; one row for each person."""
    records: Records = rows.sample(release.schema).records
    parts = []
    for block in measurement.blocks():
        scale = block.added / block.sigma
        if block.map.indicator:
            shape = (records.rows, block.map.dimension)
            cells = block.map.cells(records)
            parts.append(
                sparse.csr_array((np.full(records.rows, scale), (np.arange(records.rows), cells)), shape=shape)
            )
        else:
            parts.append(sparse.csr_array(block.map(records) * scale))
    owner = rows.owners - rows.owners.min()
    gather = sparse.csr_array((np.ones(records.rows), (owner, np.arange(records.rows))))
    return (gather @ sparse.hstack(parts)).tocsr()


def _finding(
    scores: Floats, member: NDArray[np.bool_], audited: AuditedPipeline, confidence: float, *, private: bool
) -> Finding:
    promise, count = audited.promise, len(scores)
    epsilon, guesses, correct = best_one_run(scores, member, promise.delta, 1 - confidence)
    violated = refutes(scores, member, audited.promises, ALARM)
    ideal = ideal_one_run(count, promise.mu, promise.delta, 1 - confidence)
    ceiling = one_run_epsilon(count, count, count, promise.delta, 1 - confidence)
    verdict = (
        f"{'VIOLATED' if violated else 'Consistent'}: ε ≥ {epsilon:.3g} at {confidence:.0%} confidence where "
        f"{promise.epsilon:g} is promised, from one release with {count:,} canaries ({correct} of {guesses} guesses right). "
        f"One run is loose: the best attack on noise as promised would show about ε ≥ {ideal:.2g}, and a release without "
        f"any noise {ceiling:.2g}."
    )
    measures = {
        "canaries": count,
        "guesses": guesses,
        "correct": correct,
        "best_achievable": ideal,
        "without_noise": ceiling,
    }
    return Finding("canaries", epsilon, confidence, violated, verdict, measures, private)
