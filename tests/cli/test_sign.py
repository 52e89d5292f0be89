"""`pointillist sign`."""

from pathlib import Path

from tests.fixtures.command_line import Run

import pointillist as pt
from pointillist.pages.card_file import CardFile


def test_sign(run: Run, judged: pt.Schema) -> None:
    assert run("card", "people.release", "-o", "card.json").code == 0
    signing = ("sign", "card.json", "--key", "my.key", "--name", "A. Berg")
    assert run(*signing).code == 6  # there is no key
    made = run(*signing, "--new-key")
    assert made.code == 0
    (signature,) = CardFile.load("card.json").signatures
    assert signature.key in made.shown
    assert run(*signing, "--new-key").code == 2  # a key is never written over
    assert run(*signing).code == 0
    assert len(CardFile.load("card.json").signatures) == 2
    assert run("sign", "people.release", "--key", "my.key", "--name", "A").code == 6
    assert Path("my.key").stat().st_mode & 0o077 == 0
