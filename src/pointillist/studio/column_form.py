"""Column form: what may be set about a column, as fields of a form, and a column made of what was filled in.

The fields are those that the kind has, so a new kind brings its own. What the owner changes is no longer read from the
data: it is the owner's word.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pointillist.errors import SchemaError
from pointillist.schema import Schema
from pointillist.schema.kinds import KINDS, AnyColumn

_MARKS = ("read_from_data", "bought")
_LATER = ("kind", "missing", *_MARKS)
"""Fields that are not in the list: the kind is chosen above it, and missing has a box of its own below."""
_ADVANCED = frozenset(
    {"bins", "scale", "out_of_domain", "other_label", "format", "resolution", "clock", "only", "repeats"}
)
_LISTS = frozenset({"categories", "special", "only", "codes"})


@dataclass(frozen=True)
class Field:
    """One thing to fill in."""

    name: str
    value: str
    read: bool
    """Whether it was read from the data."""
    many: bool
    """Whether it is a list, with an entry on each line."""
    required: bool
    advanced: bool


def kinds() -> list[str]:
    """The kinds that a column may have."""
    return [each.model_fields["kind"].default for each in KINDS]


def fields_of(column: AnyColumn, kind: str | None = None) -> list[Field]:
    """What may be set about a column, if it were of a kind."""
    chosen = type(column) if kind is None else _class_of(kind)
    facts = column.model_dump(mode="json")
    return [
        Field(
            name,
            _written(facts.get(name)),
            name in column.read_from_data,
            name in _LISTS,
            each.is_required(),
            name in _ADVANCED,
        )
        for name, each in chosen.model_fields.items()
        if name not in _LATER
    ]


def changed(schema: Schema, name: str, filled: Mapping[str, str]) -> Schema:
    """The schema with a column as it was filled in."""
    before = schema.columns[name]
    chosen = _class_of(filled.get("kind", before.kind))
    earlier = before.model_dump(mode="json")
    facts: dict[str, Any] = {"kind": chosen.model_fields["kind"].default}
    for field, about in chosen.model_fields.items():
        text = filled.get(field)
        if field in _LATER:
            continue
        if text is None or text.strip() == _written(earlier.get(field)).strip():
            value = earlier.get(field)  # as it was
        else:
            value = _read(text, field, about.annotation, name)
        if value is not None:
            facts[field] = value
    if "missing" in chosen.model_fields:
        facts["missing"] = filled.get("missing") == "yes"
    kept = tuple(mark for mark in before.read_from_data if facts.get(mark, earlier.get(mark)) == earlier.get(mark))
    facts["read_from_data"] = [mark for mark in kept if mark in chosen.model_fields]
    facts["bought"] = [mark for mark in before.bought if mark in facts and facts[mark] == earlier.get(mark)]
    whole = schema.model_dump(mode="json")
    return Schema.parse({**whole, "columns": {**whole["columns"], name: facts}}, origin="schema")


def _class_of(kind: str) -> type[AnyColumn]:
    found = next((each for each in KINDS if each.model_fields["kind"].default == kind), None)
    if found is None:
        raise SchemaError(f"kind {kind!r} is not known. Kinds: {', '.join(kinds())}.")
    return found


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return "\n".join(f"{key} = {each}" for key, each in value.items())
    if isinstance(value, list | tuple):
        return "\n".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read(text: str, field: str, kind: Any, column: str) -> Any:
    """A text as the value that a schema file would have there."""
    shown = str(kind)
    if field in _LISTS:
        entries = [line.strip() for line in text.splitlines() if line.strip()]
        numbers = all(_is_whole(each) for each in entries) if "str" in shown else "int" in shown or "float" in shown
        return [_number(each, column, field) for each in entries] if numbers else entries
    text = text.strip()
    if text == "":
        return None
    if text in ("true", "false") and "bool" in shown:
        return text == "true"
    if "int" in shown or "float" in shown:
        return _number(text, column, field)
    return text


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit()


def _number(text: str, column: str, field: str) -> int | float:
    plain = text.replace(" ", "").replace("_", "")
    try:
        return int(plain) if _is_whole(plain) else float(plain)
    except ValueError:
        raise SchemaError(f"schema: column {column!r}: {field}: {text[:40]!r} is not a number.") from None
