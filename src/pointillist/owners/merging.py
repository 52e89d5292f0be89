"""Merging: parts of all owners to a release, or to the plan of the next round. Sees noisy or masked integers alone."""

import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError, UsageError
from pointillist.files import container
from pointillist.methods.measuring import as_measured
from pointillist.methods.planned_method import method_of
from pointillist.owners import join, part
from pointillist.owners.join import Join
from pointillist.owners.masks import added
from pointillist.owners.part import Part
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.noise import add_noise
from pointillist.privacy.owners import Trust
from pointillist.release import Measurement, Release

_FRAME = "pyarrow"
"""Owners may have held their tables in different frames."""


def merge(
    parts: Iterable[Part | Join | str | Path],
    plan: SharedPlan | str | Path,
    *,
    without: Sequence[int] = (),
    output: str | Path | None = None,
) -> SharedPlan | Release:
    """Add up what all owners sent: the plan of the next round comes out, and after the last round a release.

    Arguments:
        parts: one of every owner, or their files, all of one round; before the first round, what `join` wrote.
        plan: the plan that they were made with, or its file.
        without: with trust in nobody, owners whose first part never came: an empty table stands in their place.
        output: also write what comes out to this file, whole or not at all.

    A part of another plan, of another round, of an owner who is there already, or that was altered is refused.
    """
    plan = plan if isinstance(plan, SharedPlan) else SharedPlan.load(plan)
    given = [parts] if isinstance(parts, Part | Join | str | Path) else list(parts)
    if not given:
        raise UsageError("merge needs the parts of all owners: none is given.")
    made = _joined(given, plan, without) if _is_join(given[0]) else _merged(given, plan, without)
    if output is not None:
        container.write(output, made.to_bytes())
    return made


def _is_join(given: Part | Join | str | Path) -> bool:
    if isinstance(given, Part | Join):
        return isinstance(given, Join)
    return container.kind_of(given) == join.KIND


def _joined(given: Sequence[Part | Join | str | Path], plan: SharedPlan, without: Sequence[int]) -> SharedPlan:
    """The plan with all owners' keys."""
    if plan.keys or plan.measured:
        raise UsageError("owners have joined this plan already. Merge their parts.")
    if without:
        raise UsageError(
            "every owner of a plan joins, or none. Make a new plan for fewer owners: nothing has been spent."
        )
    found: dict[int, tuple[str, Join]] = {}
    for each in given:
        origin, own = (join.KIND, each) if isinstance(each, Join) else (str(each), None)
        own = own or Join.load(_path(each))
        if own.plan != plan.digest:
            raise ArtefactError(f"{origin}: joins another plan. Ask its owner to join this one.")
        if own.owner > plan.owners.count:
            raise ArtefactError(f"{origin}: is of owner {own.owner}, whom the plan does not have.")
        if not own.sound:
            raise ArtefactError(f"{origin}: was not signed by the key that it names, or was altered since.")
        _require_new(found, own.owner, origin)
        found[own.owner] = (origin, own)
    _require_all(found, plan, ())
    keys = [own.key for _, (_, own) in sorted(found.items())]
    if len(set(keys)) < len(keys):
        raise ArtefactError("two owners joined with the same key. Each must make a key of its own.")
    return plan.joined(keys)


def _merged(
    given: Sequence[Part | Join | str | Path], plan: SharedPlan, without: Sequence[int]
) -> SharedPlan | Release:
    """The plan after a round, or the release after the last one."""
    if plan.needs_keys:
        raise UsageError(
            "trust in the sum needs the owners' keys first: every owner runs pointillist join, and the files that it writes "
            "are merged."
        )
    found: dict[int, tuple[str, Part]] = {}
    for each in given:
        origin, own = (part.KIND, each) if isinstance(each, Part) else (str(each), None)
        own = own or Part.load(_path(each))
        own.require_of(plan, origin)
        _require_new(found, own.owner, origin)
        found[own.owner] = (origin, own)
    absent = _require_all(found, plan, without)
    empty = [_empty(plan) for _ in absent]
    total = added([*(own.values for _, own in found.values()), *empty])
    rows = _rows(total, plan)
    values = total[: plan.feature_map.dimension].copy()
    measured = Measurement(plan.feature_map, values, plan.plan.rounds[plan.round - 1].grid, plan.sigma)
    with container.sound("the plan"):  # a method is handed what may be anyone's
        return _after(plan, measured, rows, absent)


def _after(plan: SharedPlan, total: Measurement, rows: int | None, absent: Sequence[int]) -> SharedPlan | Release:
    settled, request = plan.plan, plan.plan.request
    recipe = method_of(request.schema, settled.method, settled.options, "the plan")
    measured = (*plan.measured, total)
    if plan.round < plan.rounds:
        return plan.next(total, recipe.feature_map(settled, measured), rows=rows, absent=absent)
    return Release(
        id=str(uuid.UUID(plan.id)),
        created=Release.now(),
        schema=request.schema,
        guarantee=settled.guarantee,
        target=request.target,
        plan=as_measured(settled, recipe, measured).published(),
        rows=rows,
        frame=_FRAME,
        measurements=measured,
    )


def _empty(plan: SharedPlan) -> NDArray[np.int64]:
    """The part of an owner without rows. It carries noise as any other, so that the sum has the noise that it states."""
    noise = add_noise(np.zeros(plan.feature_map.dimension, dtype=np.int64), plan.owners.part_sigma(plan.sigma))
    return np.concatenate([noise, np.zeros(plan.size - noise.size, dtype=np.int64)])


def _rows(total: NDArray[np.int64], plan: SharedPlan) -> int | None:
    """How many rows there are, where that is told; in every round the same."""
    if not plan.counts_rows:
        return None
    rows = int(total[-1])
    if rows < 0 or plan.rows not in (None, rows):
        raise ArtefactError(
            "the owners' numbers of rows do not agree with those of the first round: a table has changed between rounds, "
            "or an owner had another copy of the plan. Make a new plan."
        )
    return rows


def _require_new(found: dict[int, tuple[str, Part]] | dict[int, tuple[str, Join]], owner: int, origin: str) -> None:
    if owner in found:
        raise ArtefactError(
            f"{origin}: is of owner {owner}, like {found[owner][0]}. Every owner counts once: leave one of them out."
        )


def _require_all(
    found: dict[int, tuple[str, Part]] | dict[int, tuple[str, Join]], plan: SharedPlan, without: Sequence[int]
) -> tuple[int, ...]:
    """The owners that the sum goes without; whoever else is missing stops the merge."""
    for owner in without:
        plan.require_owner(owner)
        if owner in found:
            raise UsageError(f"without owner {owner}: but its part is here. Leave out one or the other.")
    if without and (plan.owners.trust is Trust.SUM or plan.measured):
        raise UsageError(
            "the sum can go without an owner only in the first round, and with trust in nobody: masks cancel in the sum of "
            "all parts alone, and later rounds go with the rows of the first."
        )
    absent = tuple(sorted({*plan.absent, *without}))
    missing = [each for each in range(1, plan.owners.count + 1) if each not in found and each not in absent]
    if not missing:
        return absent
    names = ", ".join(map(str, missing))
    here = f"what owner {names} sent is missing ({len(found)} of {plan.owners.count - len(absent)} are here)."
    anew = "What was contributed to this plan stays spent."
    if found and any(isinstance(own, Join) for _, own in found.values()):
        raise UsageError(
            f"{here} Wait for it, or make a new plan for fewer owners; nothing has been spent on this one."
        )
    if plan.owners.trust is Trust.SUM:
        raise UsageError(
            f"{here} Masks cancel in the sum of all parts alone, so nothing can be read without it. Wait for it; if it will "
            f"never come, make a new plan for the owners who are there. {anew}"
        )
    if plan.measured:
        raise UsageError(
            f"{here} Wait for it; if it will never come, make a new plan for the owners who are there. {anew}"
        )
    raise UsageError(f"{here} Wait for it, or go on without: --without {' --without '.join(map(str, missing))}.")


def _path(given: Part | Join | str | Path) -> str | Path:
    if isinstance(given, Part | Join):
        raise UsageError("merge takes parts of one kind: what join wrote, or what contribute wrote.")
    return given
