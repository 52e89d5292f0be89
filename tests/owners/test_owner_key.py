"""Owner keys: secret, never written over, and used once a round."""

import os
import stat
from pathlib import Path

import pytest

from pointillist.errors import ArtefactError, UsageError
from pointillist.owners.owner_key import OwnerKey

PLAN = "0" * 32


@pytest.fixture
def key(tmp_path: Path) -> OwnerKey:
    return OwnerKey.make(tmp_path / "2.key", PLAN, 2)


def test_a_key_is_its_owners_alone_to_read(key: OwnerKey) -> None:
    assert stat.S_IMODE(key.path.stat().st_mode) == 0o600
    assert key.secret.hex() not in repr(key)


def test_a_key_comes_back_as_it_was(key: OwnerKey) -> None:
    found = OwnerKey.load(key.path)
    assert (found.plan, found.owner, found.public) == (PLAN, 2, key.public)
    assert found.rounds == ()
    assert found.agreed is None


def test_two_keys_share_a_secret_that_a_third_has_not(key: OwnerKey, tmp_path: Path) -> None:
    other, third = (OwnerKey.make(tmp_path / f"{owner}.key", PLAN, owner) for owner in (1, 3))
    assert key.shared_with(other.public) == other.shared_with(key.public)
    assert third.shared_with(other.public) != key.shared_with(other.public) != third.shared_with(key.public)


def test_a_key_is_never_written_over(key: OwnerKey) -> None:
    before = key.path.read_bytes()
    with pytest.raises(UsageError, match="never written over"):
        OwnerKey.make(key.path, PLAN, 2)
    assert key.path.read_bytes() == before


def test_a_round_is_recorded_on_disk_and_once(key: OwnerKey) -> None:
    key.use(1, "terms")
    again = OwnerKey.load(key.path)
    assert again.rounds == (1,)
    assert again.agreed == "terms"
    with pytest.raises(UsageError, match="round 1 of this plan already"):
        again.use(1, "terms")
    again.use(2, "terms")
    assert set(key.rounds) == {1, 2}


def test_a_key_that_others_may_read_is_refused(key: OwnerKey) -> None:
    os.chmod(key.path, 0o640)
    with pytest.raises(ArtefactError, match="chmod 600"):
        OwnerKey.load(key.path)


@pytest.mark.parametrize("content", ["", "[]", "{}", "\0", '{"kind": "owner key", "format": 2}', "[" * 100_000])
def test_what_is_no_key(content: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.key"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ArtefactError, match=r"odd\.key: is not a key"):
        OwnerKey.load(path)


def test_a_line_that_was_cut_short_stops_the_key(key: OwnerKey) -> None:
    """Of a crash while it was written: whether the mask was used is not known, so it counts as used."""
    with open(key.path, "a") as stream:
        stream.write('{"round": 1, "ter')
    with pytest.raises(ArtefactError, match="damaged"):
        _ = OwnerKey.load(key.path).rounds


def test_no_file_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="no such file"):
        OwnerKey.load(tmp_path / "none.key")
    with pytest.raises(ArtefactError, match="cannot be written"):
        OwnerKey.make(tmp_path / "none" / "2.key", PLAN, 2)
