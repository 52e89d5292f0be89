"""Signatures under a card: they hold for what was signed, and for nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from pointillist.errors import UsageError
from pointillist.owners.card_signing import holds, make_key, sign
from pointillist.owners.owner_key import OwnerKey
from pointillist.pages.card_file import CardFile

CARD = CardFile({"kind": "card", "epsilon": 1.0})


@pytest.fixture
def key(tmp_path: Path) -> OwnerKey:
    made = make_key(tmp_path / "officer.key")
    assert (tmp_path / "officer.key").stat().st_mode & 0o777 == 0o600
    return OwnerKey.load(made.path)


def test_a_signature_holds_for_this_card_name_time_and_key(key: OwnerKey, tmp_path: Path) -> None:
    signed = sign(CARD, key, " A. Berg ")
    (made,) = signed.signatures
    assert made.signer == "A. Berg"
    assert holds(signed, made)
    other = make_key(tmp_path / "other.key").public.to_text()
    assert not holds(CardFile({**CARD.facts, "epsilon": 2.0}), made)
    changes = ({"signer": "B"}, {"at": "never"}, {"key": other}, {"signature": "00" * 64}, {"signature": "x"})
    assert not any(holds(signed, replace(made, **change)) for change in changes)


def test_several_may_sign(key: OwnerKey) -> None:
    twice = sign(sign(CARD, key, "owner"), key, "officer")
    assert [each.signer for each in twice.signatures] == ["owner", "officer"]
    assert all(holds(twice, each) for each in twice.signatures)


def test_somebody_must_sign(key: OwnerKey) -> None:
    with pytest.raises(UsageError, match="--name"):
        sign(CARD, key, "  ")
