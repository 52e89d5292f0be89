"""Columns of categories: which facts are refused, and what a column does with what is unlisted."""

from typing import Any

import pytest
from tests.fixtures.schemas import ORIGIN, one_column, refusal

from pointillist.schema import Categorical, Ordinal, Schema

NAMED = {"kind": "categorical", "categories": ["a", "b"]}
RULES = {
    "no categories": ({"kind": "categorical"}, "categories"),
    "empty categories": ({**NAMED, "categories": []}, "categories is empty"),
    "category twice": ({**NAMED, "categories": ["a", "b", "a"]}, "categories has an entry twice"),
    "mixed categories": ({**NAMED, "categories": ["a", 1]}, "categories: must be a list of texts, or a list of whole"),
    "boolean categories": ({**NAMED, "categories": [True, False]}, "categories: must be a list of texts"),
    "fractional categories": ({**NAMED, "categories": [1.5, 2.5]}, "categories: must be a list of texts"),
    "one text as categories": ({**NAMED, "categories": "abc"}, "categories: must be a list of texts"),
    "huge category numbers": ({**NAMED, "categories": [2**53, 2**53 + 1]}, "categories"),
    "too many categories": ({**NAMED, "categories": list(range(70_000))}, "categories"),
    "label is a category": ({**NAMED, "other_label": "a"}, "other_label 'a' is also a category"),
    "ordinal label": ({**NAMED, "kind": "ordinal", "other_label": "b"}, "other_label 'b' is also a category"),
    "names cannot clip": ({**NAMED, "out_of_domain": "clip"}, "out_of_domain"),
}


@pytest.mark.parametrize(("facts", "rule"), RULES.values(), ids=RULES.keys())
def test_a_broken_rule_is_named_with_file_and_column(facts: dict[str, Any], rule: str) -> None:
    message = refusal(one_column(**facts))
    assert message.startswith(f"{ORIGIN}: column 'x'")
    assert rule in message


def test_a_label_may_be_a_category_where_nothing_is_other() -> None:
    parsed = Schema.parse(one_column(**{**NAMED, "other_label": "a", "out_of_domain": "error"}))
    assert parsed.columns["x"].other_label == "a"


def test_one_category_is_enough() -> None:
    assert Schema.parse(one_column(**{**NAMED, "categories": ["only"]})).measured


def test_unlisted_values() -> None:
    """Texts have a label for them; whole numbers have no room for one."""
    texts, numbers = Categorical(categories=("a", "b")), Categorical(categories=(1, 7))
    assert (texts.known, texts.unlisted(), texts.unlisted_is_missing) == (("a", "b", "other"), "other", False)
    assert (numbers.known, numbers.unlisted(), numbers.unlisted_is_missing) == ((1, 7), 8, True)
    strict = Categorical(categories=("a", "b"), out_of_domain="error")
    assert (strict.known, strict.has_other) == (("a", "b"), False)


def test_it_speaks_in_words() -> None:
    many = Ordinal(categories=tuple(f"c{n}" for n in range(60)))
    assert many.brief() == "60: c0, c1, c2, c3, …"
    assert many.describe().endswith("c49 and 10 more; unlisted ones count as one")
    assert Categorical(categories=(1, 2), out_of_domain="error").describe() == "1, 2"
