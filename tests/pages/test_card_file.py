"""A card's file: read strictly, hashed whichever way it is laid out."""

import json
from pathlib import Path

import pytest

from pointillist.errors import ArtefactError
from pointillist.pages.card_file import CardFile, Signature

FACTS = {"kind": "card", "name": "p", "epsilon": 0.1}


def test_the_digest_is_of_the_facts_alone(tmp_path: Path) -> None:
    plain = CardFile(FACTS)
    signed = plain.with_signature(Signature("me", "now", "00", "00"))
    signed.save(tmp_path / "card.json")
    again = CardFile.load(tmp_path / "card.json")
    assert again == signed
    assert again.digest == plain.digest
    (tmp_path / "other.json").write_text(json.dumps(dict(reversed(FACTS.items()))))
    assert CardFile.load(tmp_path / "other.json").digest == plain.digest
    assert CardFile({**FACTS, "epsilon": 0.2}).digest != plain.digest


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"kind": "report"}',
        '{"kind": "card", "kind": "card"}',
        '{"kind": "card", "e": NaN}',
        '{"kind": "card", "e": 1e999}',
        '{"kind": "card", "e": "\\ud800"}',
        '{"kind": "card", "signatures": [{}]}',
        "[" * 100_000,
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "card.json").write_text(content)
    with pytest.raises(ArtefactError, match=r"card\.json: is not a card"):
        CardFile.load(tmp_path / "card.json")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="no such file"):
        CardFile.load(tmp_path / "card.json")
