"""Findings: what was read from the data, the most revealing first, for the schema as it is now.

Counts of rows are the owner's: they lie in the scratch folder, by the column as it was described when they were made, and
go when the studio ends. So a column that was changed is counted again, and one that is as it was is not.
"""

import itertools
import json
import threading
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pointillist.curator.reviewing import Finding, review, urgency
from pointillist.errors import PointillistError
from pointillist.reading.base import Source
from pointillist.schema import Schema
from pointillist.studio.histograms import key_of
from pointillist.studio.project import Project, write_private

_counting = threading.Lock()
"""Several pages may ask at once: one reads the table, and the others find what it counted."""


@dataclass(frozen=True)
class Noted:
    """A finding as the page shows it."""

    column: str
    fact: str
    rows: int | None
    text: str
    revealing: bool
    rounded: bool
    safer: Any
    """What would say less, as a schema file has it; none where nothing is suggested."""

    @classmethod
    def of(cls, found: Finding) -> "Noted":
        safer = None if found.safer is None else found.safer.model_dump(mode="json")[found.fact]
        return cls(found.column, found.fact, found.rows, found.text, found.revealing, found.rounded, safer)

    @property
    def mendable(self) -> bool:
        """Whether something safer is suggested."""
        return self.safer is not None


def note(project: Project, schema: Schema, source: Source) -> None:
    """Count for all columns, and leave it for the page."""
    _keep(project, _counted(schema, list(schema.columns), source))


def gone(project: Project) -> bool:
    """Whether nothing was counted yet since the studio was started."""
    return not _file(project).exists()


def noted(project: Project, schema: Schema) -> list[Noted]:
    """The findings of the schema as it is now; without counts where the table does not give them."""
    known = _current(project, schema)
    counted = {name: found for name in schema.columns if (found := known.get(key_of(schema, name))) is not None}
    rest = [Noted.of(each) for each in review(schema) if each.column not in counted]
    return sorted(
        [*itertools.chain(*counted.values()), *rest], key=lambda each: urgency(each.fact, each.rows, each.rounded)
    )


def complete(project: Project, schema: Schema) -> bool:
    """Whether the rows behind all facts were counted. If not, there may be facts that few rows share."""
    known = _current(project, schema)
    return all(key_of(schema, name) in known for name in schema.columns if schema.columns[name].read_from_data)


def safer(project: Project, schema: Schema, wanted: list[tuple[str, str]]) -> Schema:
    """The schema with what was suggested in place of these facts: pairs of a column and a fact."""
    whole = schema.model_dump(mode="json")
    for each in noted(project, schema):
        if each.mendable and (each.column, each.fact) in wanted:
            whole["columns"][each.column][each.fact] = each.safer
    return Schema.parse(whole, origin="schema")


def _current(project: Project, schema: Schema) -> dict[str, list[Noted]]:
    """What is known by now, by column; what was changed since is counted. All anew is a worker's work."""
    with _counting:
        known = _load(project)
        missing = [
            name for name, each in schema.columns.items() if each.read_from_data and key_of(schema, name) not in known
        ]
        if not known or not missing:
            return known
        try:
            known |= _counted(schema, missing, project.source())
        except PointillistError:  # the page says that rows were not counted
            return known
        _keep(project, known)
        return known


def _counted(schema: Schema, names: list[str], source: Source) -> dict[str, list[Noted]]:
    """The findings of some columns, by key."""
    columns = {name: schema.columns[name] for name in names}
    only = schema.model_copy(update={"columns": columns, "constraints": (), "person": None})
    found = [Noted.of(each) for each in review(only, source if schema.image is None else None) if each.column]
    return {key_of(schema, name): [each for each in found if each.column == name] for name in names}


def _file(project: Project) -> Path:
    return project.scratch / "findings.json"


def _load(project: Project) -> dict[str, list[Noted]]:
    try:
        kept = json.loads(_file(project).read_text(encoding="utf-8"))
        return {key: [Noted(**each) for each in found] for key, found in kept.items()}
    except (FileNotFoundError, ValueError, TypeError):
        return {}


def _keep(project: Project, known: dict[str, list[Noted]]) -> None:
    write_private(_file(project), json.dumps({key: [asdict(each) for each in found] for key, found in known.items()}))
