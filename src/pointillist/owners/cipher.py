"""Cipher: the four primitives of the library `cryptography` that owners use, and no others. It is asked for only here."""

from pointillist.errors import UsageError

KEY_BYTES = 32


def _missing() -> UsageError:
    return UsageError("keys and masks of owners need cryptography. Install it with: pip install 'pointillist[owners]'")


def derived(secret: bytes, purpose: bytes) -> bytes:
    """32 bytes that depend on a secret and on what they are for: HKDF with SHA-256."""
    try:
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDF
    except ImportError:
        raise _missing() from None
    return HKDF(SHA256(), KEY_BYTES, salt=None, info=purpose).derive(secret)


def stream(key: bytes, size: int) -> bytes:
    """So many bytes of ChaCha20's key stream. A key is used for one stream alone, so the nonce is always 0."""
    try:
        from cryptography.hazmat.primitives.ciphers import Cipher
        from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
    except ImportError:
        raise _missing() from None
    return Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor().update(bytes(size))


def agreement_key(secret: bytes) -> bytes:
    """The public key of X25519."""
    try:
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
    except ImportError:
        raise _missing() from None
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def agreed_secret(secret: bytes, other: bytes) -> bytes:
    """What the holders of two keys of X25519 have in common. A `ValueError` for a key that gives nothing away but zeros."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(other))


def signing_key(secret: bytes) -> bytes:
    """The public key of Ed25519."""
    try:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise _missing() from None
    return Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def signature(secret: bytes, message: bytes) -> bytes:
    """Ed25519."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(secret).sign(message)


def signed(public: bytes, signature: bytes, message: bytes) -> bool:
    """Whether a signature is that of a message under a key."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise _missing() from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
