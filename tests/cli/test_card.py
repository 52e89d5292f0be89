"""`pointillist card`."""

from pathlib import Path

from tests.fixtures.command_line import Run

import pointillist as pt


def test_card(run: Run, judged: pt.Schema) -> None:
    outcome = run("card", "people.release", "-o", "card.md")
    assert outcome.code == 0
    assert "may be shared" in outcome.shown
    assert Path("card.md").read_text().startswith("# people: data card")
    assert run("card", "people.release", "-o", "card.md").code == 2
    assert run("card", "people.toml", "-o", "card.html").code == 6
    assert run("card", "people.release", "-o", "card.pdf").code == 2
