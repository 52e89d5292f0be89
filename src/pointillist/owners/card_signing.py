"""Card signing: an Ed25519 signature under a card, made with a key of the same kind that owners have for a plan."""

import json
from datetime import UTC, datetime
from pathlib import Path

from pointillist.errors import UsageError
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.public_key import PublicKey
from pointillist.pages.card_file import CardFile, Signature

_PLAN = "cards"
"""What a key for cards has in the place of a plan's id, which has 32 letters: no plan takes such a key."""
_LONGEST = 200


def make_key(path: str | Path) -> OwnerKey:
    """A new key to sign cards with, in a new file that is its owner's alone to read."""
    return OwnerKey.make(path, _PLAN, 1)


def sign(card: CardFile, key: OwnerKey, signer: str) -> CardFile:
    """The card with one more signature under it, by whoever `signer` names."""
    if not 0 < len(signer.strip()) <= _LONGEST:
        raise UsageError(f"--name must say who signs, in 1 to {_LONGEST} letters.")
    at, public = datetime.now(UTC).isoformat(timespec="seconds"), key.public.to_text()
    unsigned = Signature(signer.strip(), at, public, "")
    made = key.sign(_message(card, unsigned)).hex()
    return card.with_signature(Signature(unsigned.signer, at, public, made))


def holds(card: CardFile, signature: Signature) -> bool:
    """Whether a signature is its key's, under this very card, by this name and at this time."""
    try:
        key, made = PublicKey.parse(signature.key), bytes.fromhex(signature.signature)
    except ValueError:
        return False
    return key.signed(made, _message(card, signature))


def _message(card: CardFile, signature: Signature) -> bytes:
    """What is signed. The first words tell it from all else that such keys sign."""
    stated = json.dumps([signature.signer, signature.at, signature.key], ensure_ascii=True)
    return b"pointillist card 1" + card.digest + stated.encode()
