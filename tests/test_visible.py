"""Names that would steer a terminal are shown written out, wherever they are shown."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.errors import DataError
from pointillist.visible import visible

BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(st.text(st.characters(), max_size=200))
def test_nothing_that_acts_is_left_and_nothing_else_is_changed(text: str) -> None:
    shown = visible(text)
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") or c in "\n\t" for c in shown)
    assert not set(BIDI) & set(shown)
    kept = [c for c in text if unicodedata.category(c) not in ("Cc", "Cs", "Cf", "Zl", "Zp")]
    assert [c for c in shown if c in set(kept)][: len(kept)] or not kept
    assert visible(shown) == shown
    shown.encode()  # a name that is not UTF-8 can be printed, too


@pytest.mark.parametrize("text", ["Größe", "משקל", "وزن", "می‌شود", "👩‍👩‍👧", "a\tb\nc", "😀"])
def test_names_in_any_script_are_left_alone(text: str) -> None:
    assert visible(text) == text


def test_json_means_the_same_afterwards() -> None:
    facts = {"\x1b[31m": ["\x9b2J", BIDI, "\x7f", "\U000e0041", "plain"]}
    assert json.loads(visible(json.dumps(facts, ensure_ascii=False))) == facts


def test_errors_are_written_out() -> None:
    assert str(DataError("column '\x1b[2J\u202e'")) == "column '\\u001b[2J\\u202e'"
