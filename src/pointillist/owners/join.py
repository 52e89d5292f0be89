"""Join: an owner's public key for a plan, signed by that key."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from pointillist.errors import UsageError
from pointillist.files import container
from pointillist.files.facts import text, whole
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.public_key import PublicKey
from pointillist.owners.shared_plan import SharedPlan
from pointillist.privacy.owners import MOST_OWNERS

KIND, FORMAT = "join", 1
_LETTERS = 128


@dataclass(frozen=True)
class Join:
    """An owner's public key for a plan."""

    plan: bytes
    """The digest of the plan without keys."""
    owner: int
    key: PublicKey
    signature: bytes

    @property
    def message(self) -> bytes:
        return b"pointillist join 1" + self.plan + self.owner.to_bytes(4, "big") + self.key.agreement + self.key.signing

    @property
    def sound(self) -> bool:
        """Whether it was signed by the key that it names."""
        return self.key.signed(self.signature, self.message)

    def to_bytes(self) -> bytes:
        facts = {
            "kind": KIND,
            "plan": self.plan.hex(),
            "owner": self.owner,
            "key": self.key.to_text(),
            "signature": self.signature.hex(),
        }
        return container.pack(KIND, FORMAT, facts, {})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what an owner sent."""
        return container.read(path, KIND, FORMAT, cls._from_content)

    @classmethod
    def _from_content(cls, facts: dict[str, Any], arrays: container.Arrays, origin: str) -> Self:
        plan, signature = (bytes.fromhex(text(facts, name, _LETTERS)) for name in ("plan", "signature"))
        key = PublicKey.parse(text(facts, "key", _LETTERS))
        return cls(plan, whole(facts, "owner", 1, MOST_OWNERS), key, signature)


def join(plan: SharedPlan | str | Path, owner: int, *, key: str | Path, output: str | Path) -> Join:
    """Make an owner's key for a plan: the secret goes to the file `key`, the public half to `output`, for the collector.

    Arguments:
        plan: the plan, or its file, before owners have joined.
        owner: which owner this is, from 1.
        key: where to keep the secret, which stays with the owner (mode 0600). A key is for one plan.
        output: the file to send.
    """
    plan = plan if isinstance(plan, SharedPlan) else SharedPlan.load(plan)
    plan.require_owner(owner)
    if plan.keys or plan.measured:
        raise UsageError("owners have joined this plan already. Contribute to it, or start with a new one.")
    with container.reserve(output, 1 << 14) as pending:
        own = OwnerKey.make(key, plan.id, owner)
        unsigned = Join(plan.digest, owner, own.public, b"")
        made = Join(plan.digest, owner, own.public, own.sign(unsigned.message))
        pending.commit(made.to_bytes())
    return made
