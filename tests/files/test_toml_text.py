"""TOML, line by line: what is written is read back as the same values."""

import datetime as dt
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointillist.files.toml_text import edited, key, line, written

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, VALUES)
def test_a_line_says_what_it_was_given(name: str, value: object) -> None:
    text = line(name, value)
    assert text.count("\n") == 1
    assert tomllib.loads(text) == {name: value}


@pytest.mark.parametrize("value", [dt.date(2020, 2, 3), dt.datetime(2020, 2, 3, 4, 5, 6), (1, 2), [("a", {"b": 1})]])
def test_dates_and_tuples(value: object) -> None:
    found = tomllib.loads(f"a = {written(value)}")["a"]
    assert found == (
        list(value) if isinstance(value, tuple) else [["a", {"b": 1}]] if isinstance(value, list) else value
    )


def test_comments_stand_behind() -> None:
    assert line("rows", 3, "READ FROM THE DATA") == "rows = 3 # READ FROM THE DATA\n"


def test_keys_are_quoted_where_they_must_be() -> None:
    assert [key("age"), key("body mass"), key("")] == ["age", '"body mass"', '""']


def test_an_edit_leaves_all_else_as_it_was() -> None:
    text = "# mine\na  =  1 # one\n\n[b.'c d']\nx = [1, 2] # two\n# end\n"
    made = edited(text, {("a",): 3, ("b", "c d", "x"): (5,)})
    assert made == "# mine\na  =  3 # one\n\n[b.'c d']\nx = [5] # two\n# end\n"
