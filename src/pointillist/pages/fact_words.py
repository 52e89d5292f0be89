"""Fact words: facts of a schema with what they are, as a card states where they came from. All of a schema is public."""

from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from pointillist.schema import Schema

_LISTED, _LETTERS = 4, 80


def fact_values(schema: Schema) -> dict[str, dict[str, str]]:
    """What every fact is that was read from the data, or bought, by column; "" is the whole table."""
    holders = {"": schema, **schema.columns}
    marked = {name: (*each.read_from_data, *each.bought) for name, each in holders.items()}
    return {
        name: {fact: _said(getattr(holders[name], fact, None)) for fact in facts}
        for name, facts in marked.items()
        if facts
    }


def fact_words(
    marks: Mapping[str, tuple[str, ...]],
    values: Mapping[str, Mapping[str, str]],
    whole: str,
    letters: int | None = None,
) -> str:
    """Marked facts in words, such as "age: min 17, max 90": all of them, or the first columns that so many letters hold."""
    words = [
        f"{name or whole}: {', '.join(_fact(fact, values.get(name, {})) for fact in facts)}"
        for name, facts in marks.items()
    ]
    ends = accumulate(len(each) + 2 for each in words)
    shown = words if letters is None else [each for each, end in zip(words, ends, strict=True) if end <= letters]
    more = len(words) - len(shown)
    rest = f"facts of {more} {'more ' if shown else ''}column{'' if more == 1 else 's'}, see Columns"
    return "; ".join([*shown, rest] if more else shown)


def _fact(fact: str, values: Mapping[str, str]) -> str:
    return f"{fact.replace('_', ' ')} {values.get(fact, '')}".strip()


def _said(value: Any) -> str:
    """A fact in few words: a long list by its beginning, a text that is too long cut off."""
    match value:
        case None:
            return "none"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            more = f" and {len(value) - _LISTED:,} more" if len(value) > _LISTED else ""
            words = ", ".join(map(_said, value[:_LISTED])) + more
            return words if len(value) == 1 else f"({words})"
        case int():
            text = f"{value:,}"
        case float():
            text = f"{value:,.12g}"
        case _:
            text = str(value).removesuffix(" 00:00:00")
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"
