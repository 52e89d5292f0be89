"""What all pages share: figures as people write them, and templates that escape everything."""

import pytest

from pointillist.pages import cell, count, number, render, share


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0 %"), (0.0004, "< 0.1 %"), (0.012, "1.2 %"), (0.0994, "9.9 %"), (0.0996, "10 %"), (1.0, "100 %")],
)
def test_shares(value: float, text: str) -> None:
    assert share(value) == text


def test_figures() -> None:
    assert (number(0.12345), number(2, 1), number(None), number(float("inf"))) == ("0.123", "2.0", "–", "∞")
    assert count(1234567.0) == "1,234,567"


def test_a_cell_of_markdown_cannot_break_out() -> None:
    assert cell("a|b\n<script>\\") == "a\\|b &lt;script>\\\\"


def test_names_are_escaped_and_what_cannot_be_seen_is_written_out() -> None:
    page = render("gallery.html", name="<b>\u202e", images=3, sheets={}, today="2026-11-17", card=Promise())
    assert "<h1>&lt;b&gt;" in page
    assert "\u202e" not in page
    assert 'http-equiv="Content-Security-Policy"' in page


class Promise:
    """The least that the promise's macro asks of a card."""

    images, target, method, id, created, plainly, check = True, None, "m", "0" * 12, "today", "plainly", "check"
    measured = ()

    class guarantee:
        @staticmethod
        def sentence() -> str:
            return "A promise."
