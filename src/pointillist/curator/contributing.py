"""Contributing: one owner's part of a release that several make together. Cap → clip → embed → noise → mask → part.

The same pass as for a release alone, and the same kind of noise; `owners` has what all of them share. The whole plan is
booked in the owner's ledger with the first part, before its noise is drawn. A later part costs nothing more and is booked,
too: a round is contributed to once.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointillist.curator.booking import Booking
from pointillist.curator.releasing import commit, embed
from pointillist.engines import Engine, opened
from pointillist.errors import ArtefactError, DataError, PointillistError, UsageError, without_context
from pointillist.files.container import reserve
from pointillist.owners.masks import masked
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.part import Part
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.ledger import Ledger
from pointillist.privacy.noise import add_noise
from pointillist.privacy.owners import Trust
from pointillist.progress import Progress, silent
from pointillist.reading.base import Source
from pointillist.watching import watched

_LARGEST = 1 << 62
"""The sum of all parts stays below this, noise aside."""
_SPENT = "the spend was already recorded, and counts"


@watched
@without_context
def contribute(
    table: Any,
    plan: SharedPlan | str | Path,
    owner: int,
    *,
    output: str | Path,
    key: str | Path | None = None,
    agreed: str | None = None,
    account: str | None = None,
    ledger: Ledger | str | Path | None = None,
    progress: Progress = silent,
    threads: int | None = None,
    engine: Engine | str | None = None,
) -> Part:
    """Measure one owner's private table for a plan that several follow: a part to send, whole or not at all.

    Arguments:
        table: the owner's private table, as for `release`.
        plan: the plan as it stands before this round, or its file.
        owner: which owner this is, from 1.
        output: the file to write, which goes to the collector.
        key: the file of this owner's key, as `join` made it, where the owners have joined.
        agreed: with trust in the sum, the plan's fingerprint as the other owners read it to you, in the first round: who
            collects the parts could have put keys of its own into your copy of the plan.
        account: the account of your ledger that this is booked to; by default the plan's name for the data set.
        ledger: where the spend is recorded; by default the user's own ledger.

    The promise of the whole plan is booked with the first part. Nothing is spent by a call that fails before noise is
    drawn; by then every row has been read and checked once. Each round can be contributed to once.
    """
    plan = plan if isinstance(plan, SharedPlan) else SharedPlan.load(plan)
    plan.require_owner(owner)
    own = _key(plan, owner, key, agreed)
    source, run = opened(table, engine, threads)
    _require_fit(source, plan)
    book = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    booking = Booking(book, plan, owner, account)
    with reserve(output, 8 * plan.size + (1 << 14)) as pending:
        with source.held() as now:
            values = _summed(now, plan, progress, run)
        progress("spend", 0.0)
        booking.record()
        if own is not None:
            own.use(plan.round, plan.terms)
        progress(f"noise {plan.round} of {plan.rounds}", 0.0)
        sums = plan.feature_map.dimension
        values[:sums] = add_noise(values[:sums], plan.owners.part_sigma(plan.sigma))
        if own is not None and plan.owners.trust is Trust.SUM:
            values = masked(values, own, plan.keys, plan.digest)
        made = Part.of(plan, owner, values, own)
        progress("write", 0.0)
        commit(pending, made, "part", _SPENT)
        progress("close", 0.0)
        booking.finish(made, output)
    progress("done", 1.0)
    return made


def _key(plan: SharedPlan, owner: int, path: str | Path | None, agreed: str | None) -> OwnerKey | None:
    """The owner's key, if the plan has keys and this one may be used for this round."""
    if plan.needs_keys:
        raise UsageError(
            "trust in the sum needs the owners' keys first: every owner runs pointillist join, and the collector merges "
            "what they send to a plan with keys."
        )
    if not plan.keys:
        if path is not None:
            raise UsageError("the owners have not joined this plan, so no key is needed: leave --key out.")
        return None
    if path is None:
        raise UsageError("--key is needed: the file of this owner's key, as pointillist join made it.")
    own = OwnerKey.load(path)
    if own.plan != plan.id or own.owner != owner:
        raise UsageError(f"{path}: is owner {own.owner}'s key for {'this' if own.plan == plan.id else 'another'} plan.")
    if own.public != plan.keys[owner - 1]:
        raise ArtefactError(
            f"the plan has another key for owner {owner} than {path} holds: somebody put it there. Contribute nothing to "
            "this plan, and ask the other owners."
        )
    if plan.round in own.rounds:
        raise own.spent(plan.round)
    if own.agreed is not None:
        if own.agreed != plan.terms:
            raise ArtefactError(
                "the plan's terms or keys are not those that this key was first used for. Contribute nothing to it, and "
                "ask the other owners."
            )
    elif plan.owners.trust is Trust.SUM:
        _require_agreed(plan, agreed)
    return own


def _require_agreed(plan: SharedPlan, agreed: str | None) -> None:
    """Masks hide a part from the collector only if the keys in the plan are the owners' own."""
    if agreed is None:
        raise UsageError(
            f"the fingerprint of this plan is {plan.fingerprint}. Compare it with the other owners', by a way that the "
            "collector has no hand in: if it is the same, the keys in it are theirs. Then pass it as --agreed."
        )
    if not plan.is_agreed(agreed):
        raise UsageError(
            f"the fingerprint of this plan is {plan.fingerprint}, and not what the other owners have: it is another plan, "
            "or has other keys. Contribute nothing to it, and ask the other owners."
        )


def _require_fit(source: Source, plan: SharedPlan) -> None:
    """Refuse a table that has not what the plan needs."""
    schema = plan.plan.request.schema
    source.require([*schema.measured, *([schema.person.column] if schema.person else [])])
    strict = [name for name in schema.measured if getattr(schema.columns[name], "out_of_domain", "") == "error"]
    if (
        strict
    ):  # whether a part comes at all would tell the collector of values beyond a bound of the collector's choice
        raise UsageError(
            f'column {strict[0]!r} of this plan\'s schema has out_of_domain = "error": whether you can contribute would '
            "show whether a value is outside. Ask for a plan that clips, or has a category for others. Nothing was spent."
        )
    if plan.counts_rows and not source.whole:
        raise UsageError(
            f"{source.name}: under replace-one the number of rows is told, and that of what may be a selection (a query, a "
            "relation, a dataset, a lazy frame) is not public. Name a file, or make the plan with add-remove."
        )
    if not plan.counts_rows and not any(block.counts for each in plan.plan.rounds for block in each.blocks):
        raise UsageError(
            "the plan counts nothing, and the number of rows is not public. Ask for a plan that counts rows."
        )


def _summed(source: Source, plan: SharedPlan, progress: Progress, engine: Engine) -> NDArray[np.int64]:
    """The exact sums, and then the number of rows where it is public. Secret."""
    step = f"pass {plan.round} of {plan.rounds}"
    progress(step, 0.0)
    schema, planned = plan.plan.request.schema, plan.plan.rounds[plan.round - 1]
    try:
        sums, rows = embed(source, schema, plan.feature_map, planned.grid, None, engine, partial(progress, step))
    except PointillistError as error:
        if plan.round == 1:
            raise
        raise type(error)(f"{error} {_SPENT[0].upper()}{_SPENT[1:]}.") from None
    if int(np.abs(sums).max(initial=0)) > _LARGEST // plan.owners.count:
        raise DataError(f"{source.name}: has more rows than {plan.owners.count} owners can add up.")
    return np.append(sums, rows) if plan.counts_rows else sums
