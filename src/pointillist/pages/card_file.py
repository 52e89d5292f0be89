"""Card file: a card's machine-readable twin, with the signatures under it."""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn, Self

from pointillist.errors import ArtefactError
from pointillist.files import container
from pointillist.files.facts import listed, table, text
from pointillist.files.paths import checked

KIND = "card"
_LARGEST, _MOST_SIGNATURES = 1 << 24, 100


@dataclass(frozen=True)
class Signature:
    """Who signed, when, under which key. Whether it holds is for `owners.card_signing` to say."""

    signer: str
    at: str
    key: str
    """The signer's public key."""
    signature: str

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        at, key, signature = text(facts, "at", 100), text(facts, "key", 128), text(facts, "signature", 128)
        return cls(text(facts, "signer", 200), at, key, signature)


@dataclass(frozen=True)
class CardFile:
    """The facts of a card as they stand in its file, word for word, and the signatures that cover them."""

    facts: dict[str, Any]
    signatures: tuple[Signature, ...] = ()

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a card; what two programs could read differently is refused."""
        path = checked(path, ArtefactError)
        try:
            if path.stat().st_size > _LARGEST:
                raise ValueError("it is too large")
            content = path.read_text(encoding="utf-8")
            facts = json.loads(content, object_pairs_hook=_once, parse_constant=_no_number)
            if not isinstance(facts, dict) or facts.get("kind") != KIND:
                raise ValueError("its kind is another")
            signatures = listed({"signatures": facts.pop("signatures", [])}, "signatures", table, _MOST_SIGNATURES)
            found = cls(facts, tuple(Signature.from_json(each) for each in signatures))
            found.digest  # noqa: B018  (texts that cannot be written are found here)
            return found
        except FileNotFoundError:
            raise ArtefactError(f"{path}: no such file. Write one with: pointillist card RELEASE -o {path}") from None
        except OSError as error:
            raise ArtefactError(f"{path}: cannot be read ({error.strerror}).") from None
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ArtefactError(
                f"{path}: is not a card, or damaged. Write one with: pointillist card RELEASE -o card.json"
            ) from None

    @cached_property
    def digest(self) -> bytes:
        """What signatures cover: the facts, whichever way they are laid out in the file."""
        plain = json.dumps(self.facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(plain.encode()).digest()

    def with_signature(self, signature: Signature) -> Self:
        return replace(self, signatures=(*self.signatures, signature))

    def save(self, path: str | Path) -> None:
        """Write the card, whole or not at all."""
        signed = {"signatures": [asdict(each) for each in self.signatures]} if self.signatures else {}
        content = json.dumps({**self.facts, **signed}, ensure_ascii=False, indent=2, allow_nan=False)
        container.write(path, f"{content}\n".encode())


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("it states a fact twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
