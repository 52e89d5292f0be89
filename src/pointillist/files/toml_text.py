"""TOML as text, written line by line: time grows with the text, whereas a document that can be edited walks itself for
every entry."""

from collections.abc import Mapping
from typing import Any

import tomlkit


def line(name: str, value: Any, comment: str = "") -> str:
    """A key with its value and, perhaps, a comment."""
    return f"{key(name)} = {written(value)}{f' # {comment}' if comment else ''}\n"


def key(name: str) -> str:
    """A key, quoted where it must be."""
    return tomlkit.key(name).as_string()


def written(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(written(each) for each in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key(name)} = {written(each)}' for name, each in value.items())}}}"
    return tomlkit.item(value).as_string()


def edited(text: str, changes: Mapping[tuple[str, ...], Any]) -> str:
    """A document with other values at some places, and all else as it was, comments too."""
    document = tomlkit.parse(text)
    for place, value in changes.items():
        table: Any = document
        for name in place[:-1]:
            table = table[name]
        table[place[-1]] = list(value) if isinstance(value, tuple) else value
    return document.as_string()
