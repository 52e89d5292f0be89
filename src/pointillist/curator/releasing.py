"""Releasing: cap → clip → embed → noise → Release. The one place where private rows become public numbers.

The first three are one pass over the rows, in integers. What it does with a row stands in `job`; where it runs, an engine
knows.
"""

import uuid
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from pointillist.curator.clipping import Integers
from pointillist.curator.job import EmbeddingJob
from pointillist.curator.overlap import require_no_copy
from pointillist.engines import Engine, engine_for, opened
from pointillist.errors import (
    ArtefactError,
    LedgerError,
    PointillistError,
    UsageError,
    without_context,
)
from pointillist.features import FeatureMap
from pointillist.files.container import Pending, reserve
from pointillist.methods import Method, method_for
from pointillist.methods.base import CopiesRows
from pointillist.methods.measuring import as_measured, require_planned
from pointillist.plan import Plan, Request
from pointillist.privacy.budget import DEFAULT_DELTA, Budget
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours, short
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.ledger_file import Identity
from pointillist.privacy.noise import add_noise
from pointillist.privacy.owners import Owners
from pointillist.progress import Progress, silent
from pointillist.reading.base import Report, Source
from pointillist.reading.opening import open_schema
from pointillist.release import Measurement, Release
from pointillist.schema import Schema
from pointillist.watching import watched


def plan(
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    target: str | Sequence[str] | None = None,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    method: str | Method | None = None,
    owners: Owners | None = None,
) -> Plan:
    """What a release would measure and at which noise, also of several owners. Sees no data and spends nothing."""
    schema = open_schema(schema)
    request = requested(schema, epsilon=epsilon, delta=delta, target=target, neighbours=neighbours, owners=owners)
    return method_for(schema, method).plan(request)


def requested(
    schema: Schema,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    target: str | Sequence[str] | None = None,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    owners: Owners | None = None,
) -> Request:
    """What is asked for, if it makes sense: a target that is measured, and a budget that is one."""
    targets = _targets(target)
    for name in targets:
        schema.require_column(name, role="target")
    try:
        budget = Budget(float(epsilon), float(delta))
    except (TypeError, ValueError):
        raise UsageError(f"epsilon and delta must be numbers, not {epsilon!r} and {delta!r}.") from None
    return Request(schema, budget, Neighbours.parse(neighbours), targets, owners)


@watched
@without_context
def release(
    table: Any,
    schema: Schema | str | Path,
    *,
    epsilon: float,
    delta: float = DEFAULT_DELTA,
    target: str | Sequence[str] | None = None,
    neighbours: str | Neighbours = Neighbours.ADD_REMOVE,
    method: str | Method | None = None,
    ledger: Ledger | str | Path | None = None,
    output: str | Path | None = None,
    progress: Progress = silent,
    threads: int | None = None,
    engine: Engine | str | None = None,
) -> Release:
    """Measure a private table once, with noise: the only call that publishes anything about its rows.

    Arguments:
        table: a path (CSV, Parquet file or folder, Arrow), a pandas, polars or pyarrow table, a DuckDB relation, or
            `pointillist.sql(...)`; an address ("postgresql://host/db?table=people", "s3://bucket/people.parquet"), or
            `pointillist.database(...)`; for images a folder of class folders, an npz or npy file, a table with a column of
            encoded images, or `pointillist.images(...)`.
        schema: the public facts about it, reviewed; or the path of its TOML file.
        epsilon: the promise, for the whole release ...
        delta: ... and the chance beside it, well below one over the number of rows.
        target: a column that receivers will want to predict, or several, the most important one first; dependence on
            it is measured more finely.
        neighbours: "add-remove" (default) or "replace-one" (the number of rows is public).
        method: how it is measured; by default "mosaic" for tables and "spectral" for images.
        ledger: where the spend is recorded; by default the user's own ledger.
        output: also write the release to this file, whole or not at all.
        threads: how many may work at a time; of a cluster, into how many tasks a pass is cut, at most.
        engine: what runs the pass over the rows, by its name or itself; by default "spark" for Spark's frames, "dask" for
            Dask's, and "local", on the cores of this machine, for all else.

    Facts that `draft` read from the rows are published with the schema: a `FactsFromDataWarning` names them.
    Nothing is spent by a call that fails before noise is drawn; by then every row has been read and checked once. If the
    file or the ledger fails after that, the release is not lost: it is the error's attribute `made`.
    """
    schema = open_schema(schema)
    recipe = method_for(schema, method)
    schema.require_reviewed()
    schema.warn_of_vouched()
    settled = plan(schema, epsilon=epsilon, delta=delta, target=target, neighbours=neighbours, method=recipe)
    opening, chosen = opened(table, engine, threads)
    with opening.held() as source:
        source.require([*schema.measured, *([schema.person.column] if schema.person else [])])
        exact = _count_is_public(settled, source)
        book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
        _require_paid(schema, book)
        seen = book.check(schema.name, settled.guarantee)
        if isinstance(recipe, CopiesRows) and recipe.copied_rows is not None:
            progress("compare", 0.0)
            require_no_copy(recipe.copied_rows, source, schema)
        made = _made(source, settled, recipe, exact, (book, seen), output, progress, chosen)
    progress("done", 1.0)
    return made


def _require_paid(schema: Schema, book: Ledger) -> None:
    """Refuse facts that are said to be bought, and are not at that price in the account which this release is booked to."""
    paid = schema.purchase
    if paid is not None and not book.holds(paid.id, schema.name, Budget(paid.epsilon, paid.delta)):
        raise LedgerError(
            f"{book.path}: the schema of {schema.name!r} has facts that a draft bought at ε = {paid.epsilon:g}, δ = "
            f"{short(paid.delta)}, and the account {schema.name!r} has no such spend. Name the ledger of the draft with "
            "--ledger, and leave the schema's name and its [purchase] as they were; or remove [purchase] and mark the facts "
            "read_from_data instead of bought. Nothing was spent."
        )


def _made(
    source: Source,
    settled: Plan,
    recipe: Method,
    exact: bool,
    spending: tuple[Ledger, Identity | None],
    output: str | Path | None,
    progress: Progress,
    engine: Engine,
) -> Release:
    """Measure, and write what was made: space for it is taken first, and the spend is closed last."""
    release_id, (book, seen), request = str(uuid.uuid4()), spending, settled.request
    purpose = f"{recipe.name}, target {', '.join(request.targets)}" if request.targets else recipe.name
    purpose += "" if source.version is None else f", {source.version}"
    record = partial(
        book.record, request.schema.name, settled.guarantee, release=release_id, purpose=purpose, seen=seen
    )
    with reserve(output, _size(settled)) if output is not None else nullcontext() as pending:
        measured, rows = _measured(source, settled, recipe, record, progress, engine)
        settled = as_measured(settled, recipe, measured)
        made = Release(
            id=release_id,
            created=Release.now(),
            schema=request.schema,
            guarantee=settled.guarantee,
            target=request.target,
            plan=settled.published(),
            rows=rows if exact else None,
            frame=source.frame,
            measurements=measured,
        )
        if pending is not None:
            progress("write", 0.0)
            commit(pending, made, "release", _spent(made))
        progress("close", 0.0)
        finish(book, made, "release", output)
    return made


def _measured(
    source: Source,
    settled: Plan,
    recipe: Method,
    record: Callable[[], None],
    progress: Progress,
    engine: Engine,
) -> tuple[tuple[Measurement, ...], int]:
    """All rounds of a plan, each with its noise, and the number of rows, which is secret.

    The spend is recorded after the first pass, when every row has been read and checked, and before any noise is drawn.
    """
    measured: list[Measurement] = []
    rows = 0
    for number, each in enumerate(settled.rounds):
        feature_map = recipe.feature_map(settled, measured)
        step = f"pass {number + 1} of {len(settled.rounds)}"
        progress(step, 0.0)
        require_planned(feature_map, each)
        try:
            schema = settled.request.schema
            sums, rows = embed(source, schema, feature_map, each.grid, None, engine, partial(progress, step))
        except PointillistError as error:
            if number == 0:
                raise
            # Noise has been drawn, and this process has seen it: from here on the spend stands.
            raise type(error)(f"{error} The spend was already recorded, and counts.") from None
        if number == 0:
            progress("spend", 0.0)
            record()
        progress(f"noise {number + 1} of {len(settled.rounds)}", 0.0)
        sigma = settled.sigma(number)
        measured.append(Measurement(feature_map, add_noise(sums, sigma), each.grid, sigma))
        del sums
    return tuple(measured), rows


def _count_is_public(settled: Plan, source: Source) -> bool:
    """Whether the exact number of rows may be told; where it may not, a plan must count rows, with noise."""
    request = settled.request
    exact = request.neighbours is Neighbours.REPLACE_ONE and request.schema.person is None and source.whole
    if not exact and not any(block.counts for each in settled.rounds for block in each.blocks):
        raise UsageError(
            "the plan counts nothing, and the number of rows of what may be a selection (a query, a relation, a dataset, a "
            "lazy frame) is not public. Choose a count_share above 0."
        )
    return exact


def finish(book: Ledger, made: Any, what: str, output: str | Path | None = None) -> None:
    """Close the spend of what was made. It is good whatever comes of that, so an error says where it is."""
    safe = "is the attribute `made` of this error" if output is None else f"is safe in {output}"
    try:
        book.finish(made.id, f"The {what} was made before that, and {safe}; {_spent(made)}.")
    except LedgerError as error:
        error.made = made
        raise


def commit(pending: Pending, made: Any, what: str, spent: str) -> None:
    """Write what was made; space for it was taken before anything was spent, but its folder may have gone since."""
    try:
        pending.commit(made.to_bytes())
    except OSError as error:
        failed = ArtefactError(f"{pending.path}: the {what} cannot be written ({error.strerror}); {spent}.")
        failed.made = made
        raise failed from None


def _spent(made: Any) -> str:
    promise = made.guarantee
    return f"ε = {promise.epsilon:g}, δ = {short(promise.delta)} was spent on {made.schema.name!r}, and counts"


def _targets(target: str | Sequence[str] | None) -> tuple[str, ...]:
    if target is None or isinstance(target, str):
        return () if target is None else (target,)
    if not isinstance(target, Sequence) or not all(isinstance(name, str) for name in target):
        raise UsageError(f"target must be the name of a column, or a list of names, not {type(target).__name__}.")
    if len(set(target)) < len(target):
        raise UsageError("target names a column twice.")
    return tuple(target)


def embed(
    source: Source,
    schema: Schema,
    feature_map: FeatureMap,
    grid: Grid,
    threads: int | None = None,
    engine: Engine | str | None = None,
    report: Report = lambda fraction: None,
) -> tuple[Integers, int]:
    """The exact sum of a feature map over all rows, and their number: cap, clip and embed, as an engine runs it. Secret."""
    chosen = engine_for(source, engine, threads)
    job = EmbeddingJob(schema, feature_map, grid, source.name)
    total = chosen.run(source.partitions(chosen.partitions), job, report)
    source.require_unchanged()
    return job.sums(total), total.rows


def _size(settled: Plan) -> int:
    """Bytes that the release may need: its noisy numbers and, generously, its facts."""
    tables = sum(block.count for each in settled.rounds for block in each.blocks)
    facts = 4 * len(settled.request.schema.model_dump_json()) + 256 * tables
    return sum(each.dimension for each in settled.rounds) * 16 + facts + (1 << 16)
