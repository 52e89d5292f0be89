"""Owner key: an owner's secret for one plan, in a file of its own that nobody else may read.

The file also remembers which rounds the key has masked, and what the owners had agreed on: each round is a line that is
added, and on disk, before noise is drawn. Two different parts under one mask would give away their difference.
"""

import json
import os
import secrets
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.facts import text, whole
from pointillist.files.paths import checked
from pointillist.owners import cipher
from pointillist.owners.public_key import PublicKey
from pointillist.privacy.owners import MOST_OWNERS

_KIND, _FORMAT, _LARGEST = "owner key", 1, 1 << 20
_AGREEMENT, _SIGNING = b"pointillist owner: agreement", b"pointillist owner: signing"


@dataclass(frozen=True, eq=False)
class OwnerKey:
    """An owner's secret for one plan."""

    path: Path
    plan: str
    """The id of the plan."""
    owner: int
    secret: bytes = field(repr=False)

    @classmethod
    def make(cls, path: str | Path, plan: str, owner: int) -> Self:
        """A new key in a new file, which is its owner's alone to read (mode 0600)."""
        path, secret = checked(path, ArtefactError), secrets.token_bytes(cipher.KEY_BYTES)
        facts = {"kind": _KIND, "format": _FORMAT, "plan": plan, "owner": owner, "secret": secret.hex()}
        try:
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise UsageError(
                f"{path}: is there already, and a key is never written over: masks made with it would be lost. Name "
                "another file with --key."
            ) from None
        except OSError as error:
            raise ArtefactError(f"{path}: the key cannot be written ({error.strerror}).") from None
        with os.fdopen(number, "w", encoding="utf-8") as stream:
            stream.write(json.dumps(facts) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        return cls(path, plan, owner, secret)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a key; a file that others may read is refused, as what they know is no secret."""
        path = checked(path, ArtefactError)
        facts = _lines(path)[0]
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise ArtefactError(
                f"{path}: others than its owner may read this key. Say chmod 600; if anyone may have read it, join the plan "
                "anew with another key."
            )
        try:
            if facts["kind"] != _KIND or facts["format"] != _FORMAT:
                raise ValueError
            secret = bytes.fromhex(text(facts, "secret", 2 * cipher.KEY_BYTES))
            if len(secret) != cipher.KEY_BYTES:
                raise ValueError
            return cls(path, text(facts, "plan", 100), whole(facts, "owner", 1, MOST_OWNERS), secret)
        except (LookupError, TypeError, ValueError):
            raise ArtefactError(f"{path}: is not a key that pointillist made, or damaged.") from None

    @cached_property
    def public(self) -> PublicKey:
        """What others know it by."""
        agreement = cipher.agreement_key(cipher.derived(self.secret, _AGREEMENT))
        return PublicKey(agreement, cipher.signing_key(cipher.derived(self.secret, _SIGNING)))

    def sign(self, message: bytes) -> bytes:
        return cipher.signature(cipher.derived(self.secret, _SIGNING), message)

    def shared_with(self, other: PublicKey) -> bytes:
        """A secret that the two keys have in common, and nobody else. A `ValueError` for what is no good key."""
        return cipher.agreed_secret(cipher.derived(self.secret, _AGREEMENT), other.agreement)

    @property
    def rounds(self) -> tuple[int, ...]:
        """Which rounds it has been used for, counted from 1."""
        return tuple(each["round"] for each in _lines(self.path)[1:])

    @property
    def agreed(self) -> str | None:
        """The terms that it was first used for, as a hash."""
        return next((str(each["terms"]) for each in _lines(self.path)[1:]), None)

    def use(self, number: int, terms: str) -> None:
        """Record a round, durably, or refuse it: of two that race, the line that comes first counts."""
        own = secrets.token_hex(16)
        line = json.dumps({"round": number, "terms": terms, "by": own}) + "\n"
        try:
            with open(self.path, "ab", buffering=0) as stream:
                stream.write(line.encode())
                os.fsync(stream.fileno())
        except OSError as error:
            raise ArtefactError(f"{self.path}: the key cannot record its use ({error.strerror}).") from None
        first = next(each for each in _lines(self.path)[1:] if each["round"] == number)
        if first.get("by") != own:
            raise self.spent(number)

    def spent(self, number: int) -> UsageError:
        """For a round that it was used for before."""
        return UsageError(
            f"{self.path}: owner {self.owner} has contributed to round {number} of this plan already. Two parts under one "
            "mask would give away how they differ. Send the part that was written; if it is lost, the owners need a new "
            "plan."
        )


def _lines(path: Path) -> list[dict[str, Any]]:
    """The file's lines, of which the first is the key."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ValueError
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if not found or not all(isinstance(each, dict) for each in found):
            raise ValueError
        if not all(isinstance(each.get("round"), int) and isinstance(each.get("terms"), str) for each in found[1:]):
            raise ValueError
    except FileNotFoundError:
        raise ArtefactError(
            f"{path}: no such file. `pointillist join` makes an owner's key, `pointillist sign --new-key` one for cards."
        ) from None
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be read ({error.strerror}).") from None
    except (ValueError, RecursionError):
        raise ArtefactError(f"{path}: is not a key that pointillist made, or damaged.") from None
    return found
