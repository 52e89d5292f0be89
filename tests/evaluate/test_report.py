"""The owner's page: the promise and the verdict first, the audit and a glossary last."""

import html
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.evaluate.audit.finding import Audit, Finding
from pointillist.evaluate.report import report

People = Callable[..., pa.Table]
FINDING = Finding("white-box", 0.93, 0.95, False, "It saw 93 % of <it>.", {}, False)
AUDIT = Audit("people", "abc", None, "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.268, (FINDING,), ("A note.",))


@pytest.fixture
def found(schema: pt.Schema, people: People) -> pt.Evaluation:
    return pt.evaluate(people(60, 1), people(60, 2), schema)


def test_sections_in_their_order(found: pt.Evaluation) -> None:
    assert [each.anchor for each in report(found).sections] == [
        "privacy", "verdict", "columns", "dependence", "apart", "audit", "reading",
    ]  # fmt: skip
    assert all(each.heading and each.contents for each in report(found).sections)


def test_without_a_release_or_an_audit_it_says_so(found: pt.Evaluation) -> None:
    page = found.to_html()
    assert "No release was given" in page
    assert "No audit was run." in page
    assert all(html.escape(note, quote=False) in page or note in html.unescape(page) for note in found.notes)


def test_an_audit_is_shown_finding_by_finding(found: pt.Evaluation) -> None:
    page = replace(found, audit=AUDIT).to_html()
    assert '<span class="grade good">good</span> Passed' in page
    assert "It saw 93 % of &lt;it&gt;." in page
    assert "A note." in page
    broken = replace(AUDIT, findings=(replace(FINDING, violated=True),))
    assert '<span class="grade poor">poor</span> VIOLATED' in replace(found, audit=broken).to_html()


def test_the_glossary_ends_with_what_grades_are(found: pt.Evaluation) -> None:
    page = found.to_html()
    last = page[page.index('id="reading"') :]
    assert last.index("Total variation distance") < last.index("AUROC") < last.index("Grades follow the rules")
    assert last.count("<ul>") == 1
