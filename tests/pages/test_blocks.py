"""Blocks of a page: escaped wherever text stands, and readable by those who hear the page."""

import pytest
from markupsafe import Markup

from pointillist.pages.blocks import (
    REAL_AND_SYNTHETIC,
    Action,
    Actions,
    Block,
    Card,
    Cards,
    Code,
    Details,
    Grade,
    Items,
    Legend,
    Table,
    Text,
    Titled,
    badge,
    html,
    scrolled,
)

ODD = '<script>alert("x")</script>&'
CHART = Markup('<svg role="img"></svg>')


@pytest.mark.parametrize(
    "block",
    [
        Text(ODD),
        Code(ODD),
        Actions((Action(ODD, "poor", ODD, ODD),)),
        Text(ODD, "note"),
        Legend((("real", ODD),)),
        Table.of(ODD, [(ODD,)], ODD),
        Details(ODD, Text(ODD)),
        Titled(ODD, Text(ODD)),
        Card(ODD, (Text(ODD),), ODD, ODD),
        Cards((Card(ODD, ()),)),
        Grade(ODD, "good", ODD, ODD, ODD),
        Items(((ODD, ODD), ("", ODD))),
    ],
)
def test_text_is_escaped_everywhere(block: Block) -> None:
    found = block.__html__()
    assert isinstance(found, Markup)
    assert "<script" not in found
    assert "&lt;script&gt;" in found
    assert "&amp;lt;" not in found  # and only once


def test_what_is_html_already_stays_so() -> None:
    assert str(Text(html("a <strong>{}</strong>", "<b>")).__html__()) == "<p>a <strong>&lt;b&gt;</strong></p>"
    assert str(CHART) in Card("Title", (CHART,)).__html__()


def test_a_table() -> None:
    found = str(Table.of("model|#real|*synthetic", [("tree", "0.9", "0.8"), ("all", "one")], "Scores").__html__())
    assert 'role="region" aria-label="Scores"' in found
    assert '<th scope="col">model</th><th scope="col" class="n">real</th><th scope="col" class="n">' in found
    assert '<th scope="row">tree</th><td class="n">0.9</td><td class="n synth">0.8</td>' in found
    assert '<th scope="row">all</th><td class="n" colspan="2">one</td>' in found  # a short row fills the rest
    assert "region" not in Table.of("a", [("b",)]).__html__()


def test_cards() -> None:
    found = str(
        Cards((Card("One", (CHART,), "0.1", "a distance", big=True), Card("", (CHART,))), "wide-cards").__html__()
    )
    assert found.startswith('<div class="wide-cards">')
    assert '<figure class="card big"><header><h3>One</h3><span class="figure" title="a distance">0.1</span>' in found
    assert '<figure class="card"><svg' in found


def test_small_parts() -> None:
    assert badge("poor") == '<span class="grade poor">poor</span>'
    assert 'tabindex="0"' in scrolled(CHART, "wide")
    assert str(Legend(REAL_AND_SYNTHETIC).__html__()).count("<span>") == 2
    assert str(Items((("Term", "what it is"), ("", "alone"))).__html__()).count("<li>") == 2
    assert str(Titled("", CHART).__html__()) == str(CHART)


def test_what_to_do_is_a_list_in_its_order() -> None:
    page = str(Actions((Action("rules", "poor", "State it.", "a <= b"), Action("pairs", "fair", "Look."))).__html__())
    assert page.count("<li>") == 2
    assert page.index("rules") < page.index("pairs")
    assert "<pre><code>a &lt;= b</code></pre>" in page
    assert page.count("<pre>") == 1  # where there is nothing to paste, no empty box
