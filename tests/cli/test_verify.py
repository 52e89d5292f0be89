"""`pointillist verify`."""

import json
from dataclasses import replace
from pathlib import Path

from tests.fixtures.command_line import Run

import pointillist as pt
from pointillist.pages.card_file import CardFile


def test_verify(run: Run, judged: pt.Schema) -> None:
    Path("rows.csv").write_text("age\n1\n")
    assert run("card", "people.release", "--data", "rows.csv", "--by", "B", "-o", "card.json").code == 0
    held = ("--release", "people.release", "--schema", "people.toml", "--data", "rows.csv")
    unsigned = run("verify", "card.json", *held)
    assert unsigned.code == 1
    assert "Nobody has signed" in unsigned.shown
    assert run("sign", "card.json", "--key", "my.key", "--name", "A. Berg", "--new-key").code == 0
    key = CardFile.load("card.json").signatures[0].key
    assert run("verify", "card.json", *held, "--signer", key).code == 0
    assert run("card", "card.json", "-o", "card.html").code == 0
    assert "A. Berg" in Path("card.html").read_text(encoding="utf-8")
    assert run("card", "card.json", "--by", "C", "-o", "other.html").code == 2

    Path("rows.csv").write_text("age\n2\n")
    assert run("verify", "card.json", *held).code == 1
    facts = json.loads(Path("card.json").read_text(encoding="utf-8"))
    facts["person"]["advantage"] /= 2
    Path("card.json").write_text(json.dumps(facts))
    shown = run("verify", "card.json").shown
    assert "does not hold" in shown
    assert "do not follow" in shown
    assert run("card", "card.json", "-o", "other.html").code == 6


def test_a_card_that_counts_fewer_people_than_its_release_is_found(run: Run, judged: pt.Schema) -> None:
    """Signed, with figures that follow from what it says: but the release says otherwise."""
    made = pt.Card.of(pt.Release.load("people.release"))
    for number, change in enumerate(({}, {"most": made.most // 2}, {"schema": "0" * 64})):
        replace(made, **change).save(f"{number}.json")
        options = ("--key", f"{number}.key", "--name", "A. Berg", "--new-key")
        assert run("sign", f"{number}.json", *options).code == 0
        shown = run("verify", f"{number}.json", "--release", "people.release").shown
        assert "number of people" in shown
        assert "do not follow" not in shown
        assert ("is the release whose promise the card states" in shown) == (not change)
