"""Facts of a schema in words: with what they are, all of them or as many as fit."""

import pointillist as pt
from pointillist.pages.fact_words import fact_values, fact_words

SCHEMA = pt.Schema(
    name="people",
    rows=24_000,
    read_from_data=("rows",),
    columns={
        "age": pt.Integer(min=17, max=90, read_from_data=("min", "max")),
        "pay": pt.Real(min=0.5, max=1_000_000.0, bought=("max",)),
        "born": pt.Datetime(min="1930-01-01", max="2008-01-01", read_from_data=("min",)),
        "job": pt.Categorical(categories=("a", "b", "c", "d", "e" * 200), read_from_data=("categories",)),
        "sex": pt.Categorical(categories=("f", "m")),
    },
    purchase={"epsilon": 0.5, "delta": 1e-6, "id": "x", "seen_from": 9},
)


def test_marked_facts_and_no_others_with_what_they_are() -> None:
    assert fact_values(SCHEMA) == {
        "": {"rows": "24,000"},
        "age": {"min": "17", "max": "90"},
        "pay": {"max": "1,000,000"},
        "born": {"min": "1930-01-01"},
        "job": {"categories": "(a, b, c, d and 1 more)"},
    }


def test_words() -> None:
    values = fact_values(SCHEMA)
    assert fact_words(SCHEMA.vouched, values, "the whole table") == (
        "the whole table: rows 24,000; age: min 17, max 90; born: min 1930-01-01; job: categories (a, b, c, d and 1 more)"
    )
    assert fact_words(SCHEMA.paid_for, values, "") == "pay: max 1,000,000"


def test_what_does_not_fit_is_counted() -> None:
    values = fact_values(SCHEMA)
    said = fact_words(SCHEMA.vouched, values, "the whole table", 60)
    assert said == "the whole table: rows 24,000; age: min 17, max 90; facts of 2 more columns, see Columns"
    assert fact_words(SCHEMA.vouched, values, "all", 5) == "facts of 4 columns, see Columns"
