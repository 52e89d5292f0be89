"""Visible text: a name may come from anyone, and must not steer the terminal or the page that shows it."""

import json
import re

# Control characters but line feed and tab, bidirectional controls, line separators, halves of pairs, and invisible tags.
# The joiners U+200C and U+200D stay: scripts and emoji need them, and they move nothing.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """The text with every character that would act instead of being seen written out, as JSON does: \\u001b."""
    return _HIDDEN.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    character = found.group()
    # json leaves DEL as it is: it is ASCII, and legal in a JSON string.
    return f"\\u{ord(character):04x}" if ord(character) < 0x10000 else json.dumps(character)[1:-1]
