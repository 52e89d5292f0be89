"""Public key: what the others know an owner by. One half agrees on masks (X25519), the other checks signatures (Ed25519)."""

from dataclasses import dataclass
from typing import Self

from pointillist.owners import cipher


@dataclass(frozen=True)
class PublicKey:
    """An owner's public key, for one plan."""

    agreement: bytes
    signing: bytes

    def __post_init__(self) -> None:
        if len(self.agreement) != cipher.KEY_BYTES or len(self.signing) != cipher.KEY_BYTES:
            raise ValueError("a key must have 64 bytes")

    def to_text(self) -> str:
        return (self.agreement + self.signing).hex()

    @classmethod
    def parse(cls, text: str) -> Self:
        """The inverse of `to_text`; what is no key is a `ValueError`."""
        content = bytes.fromhex(text)
        return cls(content[: cipher.KEY_BYTES], content[cipher.KEY_BYTES :])

    def signed(self, signature: bytes, message: bytes) -> bool:
        """Whether its owner signed a message."""
        return cipher.signed(self.signing, signature, message)
