"""The report: sections in their order, and several writers in one."""

from markupsafe import Markup

from pointillist.pages.blocks import Card, Cards, Items, Text, html
from pointillist.pages.report import Report, Section, arranged

APART = Section("apart", "Can they be told apart?", "Apart", 20)
FIRST = Section("first", "First", "First", 10)
END = Section("end", "The end", "End")


def card(title: str) -> Cards:
    return Cards((Card(title, ()),))


def test_sentences_of_all_writers_make_one_paragraph() -> None:
    found = APART.saying("One.", blocks=[Text("Below.")]) + APART.saying(html("<b>{}</b>", "Two & three."))
    assert str(found.__html__()) == "<p>One. <b>Two &amp; three.</b></p>\n<p>Below.</p>"


def test_cards_that_meet_stand_side_by_side() -> None:
    found = APART.saying(blocks=[Text("a"), card("x")]) + APART.saying(blocks=[card("y"), Text("b")])
    assert len(found.blocks) == 3
    assert str(found.__html__()).count('<div class="cards">') == 1
    wide = Cards((Card("z", ()),), "wide-cards")
    assert len((APART.saying(blocks=[card("x")]) + APART.saying(blocks=[wide])).blocks) == 2


def test_lists_that_meet_are_one() -> None:
    found = END.saying(blocks=[Items((("a", "b"),))]) + END.saying(blocks=[Items((("", "c"),))])
    assert str(found.__html__()).count("<ul>") == 1


def test_sections_stand_by_their_places_and_ends_stay_ends() -> None:
    opening, closing = Section("open", "Open", "Open"), END
    found = arranged(
        [opening.saying("1")],
        [Section("new", "New", "New"), APART, END.saying("before"), FIRST, opening.saying("2")],
        [closing.saying("after")],
    )
    assert [each.anchor for each in found] == ["open", "first", "apart", "new", "end"]
    assert found[0].lead == ("1", "2")
    assert found[-1].lead == ("before", "after")


def test_a_whole_page() -> None:
    report = Report("<i>", Markup("Keep it."), "<i>: how good?", "3 rows.", (FIRST.saying("Hello."),), "For the owner.")
    page = report.to_html()
    assert page.startswith("<!doctype html")
    assert "<title>PRIVATE report: &lt;i&gt;</title>" in page
    assert "<strong>Private.</strong> Keep it." in page
    assert '<li><a href="#first">First</a></li>' in page
    assert '<section id="first">\n<h2>First</h2>\n<p>Hello.</p>\n</section>' in page
    assert "<script" not in page
