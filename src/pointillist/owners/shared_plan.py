"""Shared plan: the file that all owners of one release follow, round by round. Public; it may come from anyone.

Its **terms** never change: the schema, the promise, what is measured at which noise, the owners and their trust. With the
owners' keys they are what owners agree on, and the `fingerprint` stands for them. Each round adds the noisy sums of the
rounds before, and states the very features that all are to add up next. `digest` stands for all of it: a part belongs to
one digest, and so do masks.

Whoever opens one does the sums again: a plan whose noise does not give the promise that it states is refused.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from pointillist.errors import ArtefactError, UsageError
from pointillist.features import FeatureMap
from pointillist.features.domain import Domain
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.files import container
from pointillist.files.facts import flag, listed, optional, table, text, texts, whole, wholes
from pointillist.methods.measuring import require_planned
from pointillist.owners.public_key import PublicKey
from pointillist.plan import Block, Plan, PublishedPlan, Request, Round
from pointillist.privacy.budget import Budget
from pointillist.privacy.guarantee import Guarantee, Neighbours
from pointillist.privacy.guarantee_check import Noisy, require_noise
from pointillist.privacy.owners import Owners, Trust
from pointillist.release import Measurement, described, measurements_of, require_same_unit
from pointillist.schema import Schema

KIND, FORMAT = "plan", 1
_ID_LETTERS, _MOST_ROWS, _CLOSE = 32, 1 << 48, 1e-9
_FLAGS = ("nonnegative", "positive", "counting")
_GROUP, _GROUPS = 8, 5
"""A fingerprint has 160 bits: fewer, and a collector could make up two plans that have the same."""


@dataclass(frozen=True, eq=False, repr=False)
class SharedPlan:
    """A plan that several owners follow, as it stands before one of its rounds."""

    id: str
    plan: Plan
    keys: tuple[PublicKey, ...]
    """The owners' keys, once they have joined."""
    absent: tuple[int, ...]
    """Owners in whose place there is an empty table, because their first part never came."""
    rows: int | None
    """How many rows all owners have together, where that is public and the first round has told it."""
    measured: tuple[Measurement, ...]
    """The noisy sums of the rounds before."""
    feature_map: FeatureMap
    """What this round adds up."""
    facts: dict[str, Any] = field(repr=False)
    """The content of its file, which hashes are taken of."""
    arrays: container.Arrays = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"<SharedPlan {self.id[:8]} of {self.plan.request.schema.name!r}: {self.owners.count} owners, "
            f"trust in {'nobody' if self.owners.trust is Trust.NOBODY else 'the sum'}, round {self.round} of {self.rounds}>"
        )

    @classmethod
    def of(cls, plan: Plan, feature_map: FeatureMap) -> Self:
        """A new one, before its first round."""
        published = plan.published().to_json()
        terms = {
            "id": uuid.uuid4().hex,
            "schema": plan.request.schema.to_json(),
            "guarantee": plan.guarantee.to_json(),
            "plan": published,
            "flags": [{name: getattr(each, name) for name in _FLAGS} for each in plan.rounds],
        }
        return cls._made(terms, (), (), None, (), feature_map)

    @classmethod
    def _made(
        cls,
        terms: dict[str, Any],
        keys: Sequence[PublicKey],
        absent: Sequence[int],
        rows: int | None,
        measured: Sequence[Measurement],
        feature_map: FeatureMap,
    ) -> Self:
        nodes, arrays = described(measured)
        parts, own = to_nodes(feature_map)
        facts = {
            "kind": KIND,
            "terms": terms,
            "keys": [key.to_text() for key in keys],
            "absent": list(absent),
            "rows": rows,
            "measurements": nodes,
            "feature_map": parts,
            "arrays": sorted(own),
        }
        arrays |= {f"next.map.{name}": array for name, array in own.items()}
        return cls._from_content(json.loads(json.dumps(facts)), arrays, "the plan")

    def joined(self, keys: Sequence[PublicKey]) -> Self:
        """The plan with the owners' keys."""
        return self._made(self.facts["terms"], keys, self.absent, self.rows, self.measured, self.feature_map)

    def next(
        self, total: Measurement, feature_map: FeatureMap, *, rows: int | None, absent: Sequence[int] = ()
    ) -> Self:
        """The plan before its next round, given the noisy sum of this one."""
        measured = (*self.measured, total)
        return self._made(self.facts["terms"], self.keys, absent, rows, measured, feature_map)

    @property
    def owners(self) -> Owners:
        owners = self.plan.request.owners
        assert owners is not None
        return owners

    @property
    def round(self) -> int:
        """The number of the round that comes next, from 1."""
        return len(self.measured) + 1

    @property
    def rounds(self) -> int:
        return len(self.plan.rounds)

    @property
    def needs_keys(self) -> bool:
        """Whether owners have to join before they contribute."""
        return self.owners.trust is Trust.SUM and not self.keys

    @property
    def counts_rows(self) -> bool:
        """Whether the exact number of rows is public, and told beside the sums."""
        request = self.plan.request
        return request.neighbours is Neighbours.REPLACE_ONE and request.schema.person is None

    @property
    def size(self) -> int:
        """How many integers a part has."""
        return self.feature_map.dimension + self.counts_rows

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise in the sum of all parts, on the grid."""
        return self.plan.sigma(self.round - 1)

    @cached_property
    def digest(self) -> bytes:
        """Stands for the whole file, whatever zip it is in."""
        content = hashlib.sha256(_canonical(self.facts))
        for name, array in sorted(self.arrays.items()):
            content.update(_canonical([name, array.dtype.str, list(array.shape)]))
            content.update(np.ascontiguousarray(array).tobytes())
        return content.digest()

    @cached_property
    def terms(self) -> str:
        """Stands for what never changes: the terms, and the keys once they are there."""
        return hashlib.sha256(_canonical([self.facts["terms"], self.facts["keys"]])).hexdigest()

    @property
    def fingerprint(self) -> str:
        """The same for people to compare."""
        return "-".join(self.terms[place * _GROUP : (place + 1) * _GROUP] for place in range(_GROUPS))

    def is_agreed(self, fingerprint: str) -> bool:
        """Whether someone's fingerprint is this plan's."""
        plain = self.fingerprint.replace("-", "")
        return "".join(fingerprint.lower().replace("-", "").split()) == plain

    def require_owner(self, owner: int) -> None:
        """Refuse a number that is no owner's."""
        if isinstance(owner, bool) or not isinstance(owner, int) or not 1 <= owner <= self.owners.count:
            raise UsageError(f"owner {owner!r}: the plan is for {self.owners.count} owners, numbered from 1.")
        if owner in self.absent:
            raise UsageError(f"owner {owner}: the plan goes on without this owner, whose first part never came.")

    def to_bytes(self) -> bytes:
        return container.pack(KIND, FORMAT, self.facts, self.arrays)

    def save(self, path: str | Path) -> None:
        """Write the plan to a file, whole or not at all."""
        container.write(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a plan. Runs no code from the file, and takes nothing in it on trust."""
        return container.read(path, KIND, FORMAT, cls._from_content)

    @classmethod
    def _from_content(cls, facts: dict[str, Any], arrays: container.Arrays, origin: str) -> Self:
        terms = table(facts, "terms")
        plan = _plan_of(terms, origin)
        own = {name: arrays[f"next.map.{name}"] for name in texts(facts, "arrays")}
        found = cls(
            id=text(terms, "id", _ID_LETTERS),
            plan=plan,
            keys=tuple(PublicKey.parse(each) for each in listed(facts, "keys", text)),
            absent=wholes(facts, "absent", 1, plan.guarantee.owners.count if plan.guarantee.owners else 0),
            rows=optional(facts, "rows", lambda one, name: whole(one, name, 0, _MOST_ROWS)),
            measured=measurements_of(facts, arrays),
            feature_map=from_nodes(list(listed(facts, "feature_map", table)), own),
            facts=facts,
            arrays=arrays,
        )
        found._check()
        return found

    def _check(self) -> None:
        """Refuse a plan whose parts do not belong together."""
        owners = self.owners
        if uuid.UUID(self.id).hex != self.id:
            raise ValueError("id must be 32 hexadecimal digits")
        if len(self.keys) not in (0, owners.count) or len(set(self.keys)) < len(self.keys):
            raise ValueError("keys must be none, or one for each owner")
        alone = len(self.absent) > owners.count - 1 or len(set(self.absent)) < len(self.absent)
        if alone or (self.absent and (owners.trust is not Trust.NOBODY or not self.measured)):
            raise ValueError("absent names owners that cannot be")
        if (self.rows is None) == (self.counts_rows and bool(self.measured)):
            raise ValueError("rows must be told where they are public, after the first round")
        if self.round > self.rounds:
            raise ValueError("no round is left")
        domain = Domain.of(self.plan.request.schema)
        for number, each in enumerate(self.measured):
            if each.grid != self.plan.rounds[number].grid or not _close(each.sigma, self.plan.sigma(number)):
                raise ValueError("bits and sigma of a round must be those of its sum")
        planned = self.plan.rounds[self.round - 1]
        empty = np.zeros(self.feature_map.dimension, dtype=np.int64)
        own = Measurement(self.feature_map, empty, planned.grid, self.sigma)
        for number, each in enumerate((*self.measured, own)):
            each.check(domain)
            try:
                require_planned(each.feature_map, self.plan.rounds[number])
            except RuntimeError as error:
                raise ArtefactError(str(error)) from None


def _plan_of(terms: Mapping[str, Any], origin: str) -> Plan:
    """The plan that terms state, if its noise gives what they promise."""
    schema = Schema.from_json(table(terms, "schema"), origin=origin)
    guarantee = Guarantee.from_json(table(terms, "guarantee"))
    published = PublishedPlan.from_json(table(terms, "plan"))
    if guarantee.owners is None:
        raise ValueError("owners are missing")
    schema.require_reviewed()
    require_same_unit(guarantee, schema)
    if not published.rounds:
        raise ValueError("a plan must have rounds")
    published.check(schema, [(each.grid, each.sigma) for each in published.rounds])
    flags = listed(terms, "flags", table)
    rounds = tuple(
        Round(each.share, tuple(map(_block, each.blocks)), each.grid, *(flag(own, name) for name in _FLAGS))
        for each, own in zip(published.rounds, flags, strict=True)
    )
    budget = Budget(guarantee.epsilon, guarantee.delta)
    request = Request(schema, budget, guarantee.neighbours, published.targets, guarantee.owners)
    plan = Plan(published.method, published.options, request, guarantee, rounds, published.notes, published.expected)
    sums = [
        Noisy(each.grid, plan.sigma(number), each.dimension, each.nonnegative, each.positive)
        for number, each in enumerate(rounds)
    ]
    require_noise(guarantee, sums, published.share)
    if not all(_close(plan.sigma(number), each.sigma) for number, each in enumerate(published.rounds)):
        raise ValueError("its noise is not what its promise calls for")
    return plan


def _block(published: Block) -> Block:
    """What is planned of a block, without what follows from it."""
    names = ("name", "count", "cells", "weight", "counts", "ones")
    return Block(**{name: getattr(published, name) for name in names})


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= _CLOSE * abs(other)


def _canonical(facts: Any) -> bytes:
    """The same bytes for the same facts, however they were written."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode() + b"\n"
