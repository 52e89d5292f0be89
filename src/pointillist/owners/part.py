"""Part: what one owner sends in one round. Noisy integers, masked where only their sum is trusted."""

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError
from pointillist.files import container
from pointillist.files.facts import optional, text, whole
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.owners import MOST_OWNERS

KIND, FORMAT = "part", 1
_LETTERS, _MOST_ROUNDS = 128, 1000


@dataclass(frozen=True, eq=False)
class Part:
    """What one owner sends in one round."""

    plan: str
    """The id of the plan ..."""
    digest: bytes
    """... and what it stood at."""
    owner: int
    round: int
    values: NDArray[np.int64] = field(repr=False)
    """Noisy sums in grid units, and then the number of rows where that is public; with masks on, if the plan says so."""
    signature: bytes | None = field(repr=False, default=None)
    """The owner's, where the owners have keys."""

    @classmethod
    def of(cls, plan: SharedPlan, owner: int, values: NDArray[np.int64], key: OwnerKey | None) -> Self:
        """A part, signed where there is a key."""
        made = cls(plan.id, plan.digest, owner, plan.round, values)
        return made if key is None else replace(made, signature=key.sign(made.message))

    @property
    def message(self) -> bytes:
        """What is signed."""
        numbers = self.owner.to_bytes(4, "big") + self.round.to_bytes(4, "big")
        content = hashlib.sha256(np.ascontiguousarray(self.values, dtype="<i8").tobytes()).digest()
        return b"pointillist part 1" + self.digest + numbers + content

    def require_of(self, plan: SharedPlan, origin: str) -> None:
        """Refuse a part that is not of this plan and this round, or not its owner's."""
        if self.plan != plan.id:
            raise ArtefactError(f"{origin}: is a part of another plan. Ask its owner for the part of this one.")
        if self.round != plan.round:
            raise ArtefactError(
                f"{origin}: is a part of round {self.round}, and the plan is at round {plan.round}. Name the plan that the "
                "part was made with."
            )
        if self.digest != plan.digest:
            raise ArtefactError(
                f"{origin}: was made with another copy of the plan, which is not the same. Give all owners the same file."
            )
        if not 1 <= self.owner <= plan.owners.count or self.owner in plan.absent:
            raise ArtefactError(f"{origin}: is of owner {self.owner}, whom the plan does not have.")
        if self.values.shape != (plan.size,):
            raise ArtefactError(f"{origin}: has another number of sums than the plan. Ask its owner for a fresh copy.")
        if plan.keys and not (
            self.signature is not None and plan.keys[self.owner - 1].signed(self.signature, self.message)
        ):
            raise ArtefactError(
                f"{origin}: was not signed by owner {self.owner}, or was altered since. Ask its owner for a fresh copy."
            )

    def to_bytes(self) -> bytes:
        facts: dict[str, Any] = {
            "kind": KIND,
            "plan": self.plan,
            "digest": self.digest.hex(),
            "owner": self.owner,
            "round": self.round,
            "signature": None if self.signature is None else self.signature.hex(),
        }
        return container.pack(KIND, FORMAT, facts, {"values": self.values})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what an owner sent. Whether it belongs to a plan is for `require_of`."""
        return container.read(path, KIND, FORMAT, cls._from_content)

    @classmethod
    def _from_content(cls, facts: dict[str, Any], arrays: container.Arrays, origin: str) -> Self:
        if arrays["values"].ndim != 1 or arrays["values"].dtype != np.int64:
            raise ValueError("values must be a row of integers")
        signature = optional(facts, "signature", lambda one, name: bytes.fromhex(text(one, name, _LETTERS)))
        return cls(
            text(facts, "plan", _LETTERS),
            bytes.fromhex(text(facts, "digest", _LETTERS)),
            whole(facts, "owner", 1, MOST_OWNERS),
            whole(facts, "round", 1, _MOST_ROUNDS),
            arrays["values"],
            signature,
        )
