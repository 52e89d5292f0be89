"""Masks: they cancel in the sum of all parts, and hide everything short of it."""

import secrets
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from pointillist.errors import ArtefactError
from pointillist.owners.masks import added, masked
from pointillist.owners.owner_key import OwnerKey
from pointillist.owners.public_key import PublicKey

FALSE_ALARM = 1e-7
"""Of each chi-square test here: how often it fails although parts are uniform."""
CONTENT = np.array([0, 1, -1, 12_345_678_901, -(2**62), 2**62], dtype=np.int64)
WORDS = st.integers(-(2**63), 2**63 - 1)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[OwnerKey]:
    folder = tmp_path_factory.mktemp("keys")
    return [OwnerKey.make(Path(folder / f"{owner}.key"), "0" * 32, owner) for owner in (1, 2, 3)]


def all_masked(contents: list[NDArray[np.int64]], keys: list[OwnerKey], plan: bytes) -> list[NDArray[np.int64]]:
    public = [key.public for key in keys]
    return [masked(content, key, public, plan) for content, key in zip(contents, keys, strict=True)]


@given(contents=st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=1, max_size=5))
def test_masks_cancel_exactly_modulo_two_to_the_64(contents: list[tuple[int, ...]], keys: list[OwnerKey]) -> None:
    parts = [np.array(values, dtype=np.int64) for values in zip(*contents, strict=True)]
    expected = [(sum(values) + 2**63) % 2**64 - 2**63 for values in contents]
    assert added(all_masked(parts, keys, secrets.token_bytes(32))).tolist() == expected


def uniform(words: NDArray[np.int64]) -> float:
    """The chance that uniform words look as uneven as these: over all their bytes, by place."""
    table = words.reshape(-1).view(np.uint8).reshape(-1, 8)
    counts = np.stack([np.bincount(column, minlength=256) for column in table.T])
    statistic = float((((counts - len(table) / 256) ** 2) / (len(table) / 256)).sum())
    return float(stats.chi2.sf(statistic, 8 * 255))


@pytest.fixture(scope="module")
def seen(keys: list[OwnerKey]) -> NDArray[np.int64]:
    """What a collector sees of the same contents under fresh masks, again and again: [time, owner, place]."""
    return np.array([all_masked([CONTENT] * 3, keys, secrets.token_bytes(32)) for _ in range(500)])


@pytest.mark.parametrize("owner", [0, 1, 2])
def test_masked_parts_are_uniform(owner: int, seen: NDArray[np.int64]) -> None:
    assert uniform(np.ascontiguousarray(seen[:, owner])) > FALSE_ALARM


@pytest.mark.parametrize("owner", [0, 1, 2])
def test_any_two_of_three_parts_are_uniform_together(owner: int, seen: NDArray[np.int64]) -> None:
    """Unmasking needs all of them."""
    others = [each for each in range(3) if each != owner]
    pairs = np.array([added([time[one] for one in others]) for time in seen])
    assert uniform(pairs) > FALSE_ALARM
    differences = np.array([added([time[others[0]], -time[others[1]]]) for time in seen])
    assert uniform(differences) > FALSE_ALARM


def test_the_test_of_uniformity_can_fail(seen: NDArray[np.int64]) -> None:
    whole = np.array([added(list(time)) for time in seen])
    assert (whole == 3 * CONTENT).all()
    assert uniform(whole) < FALSE_ALARM
    small = np.array([CONTENT + secrets.randbelow(1 << 40) for _ in range(500)])
    assert uniform(small) < FALSE_ALARM


def test_masks_of_two_rounds_have_nothing_in_common(keys: list[OwnerKey]) -> None:
    """The difference of two parts of one owner under two plans is uniform: a mask is never used again."""
    public = [key.public for key in keys]
    first, second = (
        np.array([masked(CONTENT, keys[0], public, secrets.token_bytes(32)) for _ in range(300)]) for _ in range(2)
    )
    assert uniform(first.view(np.uint64).__sub__(second.view(np.uint64)).view(np.int64)) > FALSE_ALARM


def test_nothing_cancels_for_owners_with_different_plans(keys: list[OwnerKey]) -> None:
    public = [key.public for key in keys]
    seen = np.array([
        added([masked(CONTENT, key, public, secrets.token_bytes(32)) for key in keys]) for _ in range(300)
    ])  # fmt: skip
    assert uniform(seen) > FALSE_ALARM


def test_nothing_cancels_where_a_key_was_exchanged(keys: list[OwnerKey], tmp_path: Path) -> None:
    stranger = OwnerKey.make(tmp_path / "stranger.key", "0" * 32, 3)
    public = [key.public for key in keys]
    forged = [*public[:2], stranger.public]
    plan = secrets.token_bytes(32)
    parts = [masked(CONTENT, keys[0], forged, plan), *(masked(CONTENT, key, public, plan) for key in keys[1:])]
    assert (added(parts) != 3 * CONTENT).all()


def test_a_key_that_nobody_can_have_made_is_refused(keys: list[OwnerKey]) -> None:
    public = [keys[0].public, PublicKey(bytes(32), bytes(32)), keys[2].public]
    with pytest.raises(ArtefactError, match="owner 2"):
        masked(CONTENT, keys[0], public, bytes(32))
