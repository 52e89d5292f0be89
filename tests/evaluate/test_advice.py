"""Advice: commands that name what is known, and lines that a schema takes."""

import tomllib

import pytest

import pointillist as pt
from pointillist.evaluate.advice import NO_NAMES, Commands, constraint, in_column

SCHEMA = pt.Schema(name="study", columns={"x": pt.Boolean()})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("data/people.csv", "data/people.csv --schema data/people.toml --epsilon EPSILON --target 'my goal'"),
        ("the frame", "REAL.csv --schema study.toml --epsilon EPSILON --target 'my goal'"),
    ],
)
def test_a_command_names_what_is_known(table: str, words: str) -> None:
    assert Commands.of(table, SCHEMA, None, "my goal").synth() == f"pointillist synth {words} -o synthetic.csv"


def test_a_larger_epsilon_is_twice_the_one_that_was_spent() -> None:
    assert "--epsilon 0.6 " in Commands(epsilon=0.3).larger_epsilon().code
    assert "--epsilon EPSILON " in NO_NAMES.larger_epsilon().code
    assert "--target x " in NO_NAMES.synth(target="x")


def test_lines_of_a_schema_are_toml() -> None:
    text = in_column("sample.yr", "min = 1") + "\n" + constraint('rule = "a <= b"')
    assert tomllib.loads(text) == {"columns": {"sample.yr": {"min": 1}}, "constraints": [{"rule": "a <= b"}]}


def test_a_quote_in_a_name_stays_in_it() -> None:
    assert NO_NAMES.synth(target="o'clock").endswith("--target 'o'\\''clock' -o synthetic.csv")
