"""Report: an evaluation as one page for the data owner.

The page opens with the promise and the verdict and closes with the audit and a glossary. All between is the metrics'.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pointillist.evaluate.advice import PUBLIC
from pointillist.evaluate.evaluation import AnyEvaluation
from pointillist.pages import number, share
from pointillist.pages.blocks import Action, Actions, Block, Items, Table, Text, Titled, badge, html
from pointillist.pages.card import Card
from pointillist.pages.report import Report, Section, arranged

if TYPE_CHECKING:
    from pointillist.evaluate.audit.finding import Audit

PRIVACY = Section("privacy", "What was promised", "Privacy")
VERDICT = Section("verdict", "Verdict at a glance", "Verdict")
AUDIT = Section("audit", "Audit", "Audit")
GLOSSARY = Section("reading", "How to read this page", "How to read this")
"""Sections of every page; metrics may write into them, too."""


@dataclass(frozen=True)
class Words:
    """How a page speaks of what was compared."""

    record: str
    """row or image."""
    warning: Block
    """Why the page is private."""
    heading: str
    summary: str
    sampled: str
    """What the promise holds for."""
    no_audit: Block
    grades: str
    """What grades are, and are not."""
    foot: str


def report(it: AnyEvaluation) -> Report:
    """The whole page."""
    words = it.words
    opening = (_promise(it, words), _verdict(it))
    closing = (_audit(it.audit, words), GLOSSARY.saying(blocks=[Items((("", words.grades),))]))
    return Report(
        it.name, words.warning, words.heading, words.summary, arranged(opening, it.sections(), closing), words.foot
    )


def _promise(it: AnyEvaluation, words: Words) -> Section:
    if it.release is None:
        missing = html(
            "No release was given, so this page cannot say what was promised. Pass it with <code>--release</code>."
        )
        return PRIVACY.saying(blocks=[Text(missing, "note")])
    return PRIVACY.saying(blocks=[Card.of(it.release).promise(), Text(words.sampled, "soft")])


def _verdict(it: AnyEvaluation) -> Section:
    notes = [Text(note, "note") for note in it.notes]
    return VERDICT.saying(blocks=[Text(it.verdict.sentence, "lead"), it.verdict.cards(), *_advice(it), *notes])


def _advice(it: AnyEvaluation) -> list[Block]:
    """What to do, in this order."""
    found = it.verdict.advice
    if not found:
        return []
    actions = tuple(Action(question, grade, each.text, each.code) for question, grade, each in found)
    public = [Text(PUBLIC, "soft")] if any(each.in_schema for _, _, each in found) else []
    return [Titled("What to do, the most urgent first", Actions(actions)), *public]


def _audit(audit: "Audit | None", words: Words) -> Section:
    if audit is None:
        return AUDIT.saying(words.no_audit)
    passed = html("{} {}", badge("good" if audit.passed else "poor"), audit.sentence())
    what = f"Of {audit.dataset}, {audit.method}, ε = {audit.epsilon:g}, {audit.neighbours}, unit {audit.unit}."
    rows = [
        (each.attack, number(each.epsilon, 2), number(audit.epsilon, 2), share(each.confidence),
         "the owner" if each.private else "anyone", each.sentence)
        for each in audit.findings
    ]  # fmt: skip
    table = Table.of(
        "attack|#ε is at least|#promised ε|#confidence|may be shown to|finding", rows, "Findings of the audit"
    )
    notes = [Text(note, "soft") for note in audit.notes]
    return AUDIT.saying(blocks=[Text(passed, "lead"), Text(what, "soft"), table, *notes])
