"""The crosswalk leads to parts of the card that are there, and says of each what this card has."""

from importlib.resources import files

import pytest

from pointillist.pages.account_statement import AccountStatement, Entry
from pointillist.pages.audited import Audited
from pointillist.pages.crosswalk import ISO, NIST, Answers, crosswalk
from pointillist.pages.deployment import Deployment

ENTRY = Entry("2026-01-02T00:00:00+00:00", "mosaic", 1.0, 1e-5, True)
ACCOUNT = AccountStatement("people", "2026-01-03T00:00:00+00:00", 3.0, 1e-5, 1.0, 0.27, 0.0, 0.0, (ENTRY,))
BARE = Answers(Deployment(), None, None, False, False, 1, 0)
FULL = Answers(Deployment(by="a", to="b", purpose="c"), ACCOUNT, Audited(0.93, 0.95, ("facts",)), True, True, 3, 2)


def answers(has: Answers) -> dict[str, str]:
    return {each.subject: each.answer for each in crosswalk(has)}


@pytest.mark.parametrize("has", [BARE, FULL], ids=["bare", "full"])
def test_every_answer_leads_to_a_part_of_the_page(has: Answers) -> None:
    page = (files("pointillist.pages") / "templates" / "card.html").read_text(encoding="utf-8")
    assert [each.subject for each in crosswalk(has) if each.section and f'id="{each.section}"' not in page] == []


@pytest.mark.parametrize("has", [BARE, FULL], ids=["bare", "full"])
def test_both_standards_are_covered_once(has: Answers) -> None:
    found = crosswalk(has)
    assert {each.standard for each in found} == {NIST, ISO}
    assert len({(each.standard, each.subject) for each in found}) == len(found)
    clauses = [each.subject.split()[0] for each in found if each.standard == ISO]
    assert clauses == ["6.2", "6.3", "7.2", "7.3", "8.2", "8.3", "9.2", "9.3", "9.4"]


def test_what_a_card_lacks_is_not_claimed() -> None:
    found = answers(BARE)
    assert found["Testing of the implementation"] == "no audit attached: no lower bound on ε"
    assert found["8.2 Assessing identifiability"].endswith("no audit attached: no lower bound on ε")
    assert found["Composition of several releases"].startswith("no account attached")
    assert found["9.3 After data are made available"].startswith("no account attached")
    assert found["Facts taken from the data without noise"] == "none"
    assert "not stated: by whom, to whom, what for" in found["6.3 Transparency and impact assessment"]
    assert found["9.2 Before data are made available"].endswith("of no file")
    assert found["Trust model"].startswith("central")


def test_what_a_card_has_is_told() -> None:
    found = answers(FULL)
    assert found["Testing of the implementation"] == "attacks proved ε ≥ 0.93 on made-up data"
    assert "1 spend and the cap" in found["Composition of several releases"]
    assert "ε = 2 is left" in found["9.3 After data are made available"]
    assert "read from the data" in found["Facts taken from the data without noise"]
    assert found["6.3 Transparency and impact assessment"].startswith("stated: what, by whom, to whom, what for; resid")
    assert found["9.2 Before data are made available"].endswith("of 2 files")
    assert found["Trust model"].startswith("3 owners")
