"""The Python reference: every public name has a place there, and a docstring to be shown."""

import re
from pathlib import Path

import pointillist as pt

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
NAMES = [name for name in pt.__all__ if getattr(pt, name).__name__ == name]
"""Public names, without older names of the same thing."""


def test_every_name_stands_there_once() -> None:
    assert sorted(re.findall(r"(?m)^::: pt\.(\w+)$", PAGE)) == sorted(NAMES)


def test_every_name_says_what_it_is() -> None:
    """In words of its own: dataclasses make up a docstring that repeats the signature."""
    texts = {name: getattr(pt, name).__doc__ or "" for name in NAMES}
    assert [name for name, text in texts.items() if len(text.split()) < 3 or text.startswith(f"{name}(")] == []
