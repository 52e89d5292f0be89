"""Masks: uniform integers that hide a part, and cancel in the sum of all parts.

Every two owners have a secret in common. From it, the plan as it stands in this round, and who the two are, both derive the
same stream of 64-bit integers; the one with the lower number adds it, the other takes it away. Sums are integers modulo
2^64, so all of it cancels exactly, and only when every part is there. An owner with another copy of the plan has other
masks: then nothing cancels, and nothing can be read.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pointillist.errors import ArtefactError
from pointillist.owners import cipher
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.public_key import PublicKey

Words = NDArray[np.uint64]


def masked(values: NDArray[np.int64], key: OwnerKey, keys: Sequence[PublicKey], plan: bytes) -> NDArray[np.int64]:
    """An owner's integers with all of its masks on. `plan` is the hash of the plan in this round, `keys` are all owners'."""
    words = values.view(np.uint64).copy()
    for number, other in enumerate(keys, 1):
        if number < key.owner:
            words -= _pair_mask(key, number, other, plan, values.size)
        elif number > key.owner:
            words += _pair_mask(key, number, other, plan, values.size)
    return words.view(np.int64)


def added(parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The sum of all parts modulo 2^64, in which masks cancel."""
    words = np.zeros(parts[0].size, dtype=np.uint64)
    for part in parts:
        words += part.view(np.uint64)
    return words.view(np.int64)


def _pair_mask(key: OwnerKey, number: int, other: PublicKey, plan: bytes, size: int) -> Words:
    """The stream that two owners have in common in this round of this plan, and nowhere else."""
    try:
        secret = key.shared_with(other)
    except ValueError:
        raise ArtefactError(f"the key of owner {number} in the plan is no key that anyone could have made") from None
    low, high = sorted(((key.owner, key.public), (number, other)), key=lambda each: each[0])
    who = b"".join(each.to_bytes(4, "big") + public.agreement for each, public in (low, high))
    own = cipher.derived(secret, b"pointillist mask 1" + plan + who)
    return np.frombuffer(cipher.stream(own, 8 * size), dtype="<u8").astype(np.uint64)
