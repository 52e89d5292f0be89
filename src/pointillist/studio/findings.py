"""Findings: what was read from the data, the most revealing first, as a worker leaves it for the page.

Counts of rows are the owner's: they lie in the scratch folder, and go when the studio ends.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from pointillist.curator.reviewing import Finding, review
from pointillist.schema import Schema
from pointillist.studio.project import Project, write_private


@dataclass(frozen=True)
class Noted:
    """A finding as the page shows it."""

    column: str
    fact: str
    rows: int | None
    text: str
    revealing: bool
    mendable: bool
    """Whether something safer is suggested."""


def note(project: Project, found: tuple[Finding, ...]) -> None:
    """Leave findings for the page, and what would be safer."""
    noted = [
        asdict(Noted(each.column, each.fact, each.rows, each.text, each.revealing, each.safer is not None))
        for each in found
    ]
    safer = [None if each.safer is None else _plain(each) for each in found]
    write_private(project.scratch / "findings.json", json.dumps({"noted": noted, "safer": safer}))


def noted(project: Project, schema: Schema) -> list[Noted]:
    """The findings that still speak of the schema; without counts if they are gone, or if none were made."""
    try:
        facts = json.loads((project.scratch / "findings.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return [
            Noted(each.column, each.fact, each.rows, each.text, each.revealing, each.safer is not None)
            for each in review(schema)
        ]
    return [Noted(**each) for each in facts["noted"] if _stands(schema, each)]


def safer(project: Project, schema: Schema, wanted: list[tuple[str, str]]) -> Schema:
    """The schema with what was suggested in place of these facts: pairs of a column and a fact."""
    try:
        facts = json.loads((project.scratch / "findings.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        facts = {"noted": [], "safer": []}
    whole = schema.model_dump(mode="json")
    for each, value in zip(facts["noted"], facts["safer"], strict=True):
        if value is not None and (each["column"], each["fact"]) in wanted and _stands(schema, each):
            whole["columns"][each["column"]][each["fact"]] = value
    return Schema.parse(whole, origin="schema")


def _plain(finding: Finding) -> Any:
    assert finding.safer is not None
    return finding.safer.model_dump(mode="json")[finding.fact]


def _stands(schema: Schema, noted: dict[str, Any]) -> bool:
    """Whether the schema still has the fact as one that was read from the data."""
    name = noted["column"]
    if not name:
        return noted["fact"] in schema.read_from_data
    return name in schema.columns and noted["fact"] in schema.columns[name].read_from_data
