"""Whether what somebody holds is what was approved. tests/cli/test_verify.py walks it with a release."""

from pathlib import Path

import pytest

from pointillist.files.hashed_file import HashedFile
from pointillist.owners.card_check import checked_card
from pointillist.owners.card_signing import make_key, sign
from pointillist.pages.card_file import CardFile


@pytest.fixture
def signed(tmp_path: Path) -> tuple[CardFile, str]:
    (tmp_path / "rows.csv").write_text("a\n1\n")
    file = HashedFile.of(tmp_path / "rows.csv", "synthetic data")
    key = make_key(tmp_path / "key")
    return sign(CardFile({"kind": "card", "files": [file.to_json()]}), key, "officer"), key.public.to_text()


def test_files_and_signers(signed: tuple[CardFile, str], tmp_path: Path) -> None:
    card, key = signed
    other = tmp_path / "other.csv"
    other.write_text("a\n2\n")
    checks = checked_card(card, data=[tmp_path / "rows.csv", other], signers=[key.upper(), "00" * 64])
    by, told, stranger, statement, mine, not_mine = (each.holds for each in checks)
    assert (by, told, stranger) == (True, True, False)
    assert not statement  # this card says nothing about a person
    assert (mine, not_mine) == (True, False)


def test_synthetic_data_are_no_release(signed: tuple[CardFile, str], tmp_path: Path) -> None:
    card, _ = signed
    facts = {**card.facts, "files": [{**card.facts["files"][0], "role": "release"}]}
    checks = checked_card(CardFile(facts), data=[tmp_path / "rows.csv"])
    assert checks[0].sentence == "Nobody has signed this card."
    assert not checks[-1].holds
