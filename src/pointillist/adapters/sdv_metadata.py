"""SDV's metadata: which columns a table has, and of which kind; read from a dictionary, a JSON file or SDV's own object."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointillist.errors import UsageError
from pointillist.schema import Schema

KINDS = {
    "numerical": ("integer", "real", "derived", "duration"),
    "categorical": ("categorical", "ordinal", "boolean", "integer"),
    "boolean": ("boolean", "categorical"),
    "datetime": ("datetime",),
}
"""Kinds of columns that one of SDV's types may be. All other types are names of people and things: those are left out."""


@dataclass(frozen=True)
class Metadata:
    """A single table's columns."""

    columns: dict[str, dict[str, Any]]

    @classmethod
    def read(cls, given: Any) -> "Metadata":
        """Of one table: SDV's version with a list of tables, or the older one of a single table."""
        origin = str(given) if isinstance(given, str | Path) else "metadata"
        try:
            facts = json.loads(Path(given).read_text("utf-8")) if isinstance(given, str | Path) else given
        except (OSError, ValueError):
            raise UsageError(f"{origin}: is not a JSON file that can be read. SDV writes one: save_to_json.") from None
        facts = facts.to_dict() if hasattr(facts, "to_dict") else facts
        tables = facts.get("tables", {"": facts}) if isinstance(facts, dict) else {}
        if len(tables) != 1:
            raise UsageError(f"{origin}: describes {len(tables)} tables. Give the metadata of one table.")
        columns = next(iter(tables.values())).get("columns")
        if not columns or not all(isinstance(each, dict) and "sdtype" in each for each in columns.values()):
            raise UsageError(f"{origin}: names no columns, or a column without an sdtype.")
        return cls(dict(columns))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that name people or things: identifiers, addresses, telephone numbers."""
        return tuple(name for name, facts in self.columns.items() if facts["sdtype"] not in KINDS)

    def require(self, schema: Schema) -> None:
        """Refuse a schema that speaks of other columns, or of other kinds of columns."""
        if set(self.columns) != set(schema.columns):
            odd = sorted(set(self.columns) ^ set(schema.columns))[0]
            raise UsageError(f"column {odd!r} stands only in one of metadata and schema. Describe it in both.")
        for name, column in schema.measured.items():
            allowed = KINDS.get(self.columns[name]["sdtype"], ())
            if column.kind not in allowed:
                raise UsageError(
                    f"column {name!r} is {self.columns[name]['sdtype']} in the metadata and {column.kind} in the schema. "
                    f"{'Make it one of ' + ', '.join(allowed) if allowed else 'Set it to kind = ignore'} in the schema, "
                    "or correct the metadata."
                )

    def without(self, names: set[str]) -> dict[str, Any]:
        """As a dictionary for SDV's and SDMetrics' reports, without some columns."""
        return {"columns": {name: dict(facts) for name, facts in self.columns.items() if name not in names}}
