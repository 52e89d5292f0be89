"""The crosswalk leads to parts of the card that are there."""

from importlib.resources import files

from pointillist.pages.crosswalk import CROSSWALK, ISO, NIST


def test_every_answer_leads_to_a_part_of_the_page() -> None:
    page = (files("pointillist.pages") / "templates" / "card.html").read_text(encoding="utf-8")
    assert [each.subject for each in CROSSWALK if each.section and f'id="{each.section}"' not in page] == []


def test_both_standards_are_covered_once() -> None:
    assert {each.standard for each in CROSSWALK} == {NIST, ISO}
    assert len({(each.standard, each.subject) for each in CROSSWALK}) == len(CROSSWALK)
    clauses = [each.subject.split()[0] for each in CROSSWALK if each.standard == ISO]
    assert clauses == ["6.2", "6.3", "7.2", "7.3", "8.2", "8.3", "9.2", "9.3", "9.4"]
