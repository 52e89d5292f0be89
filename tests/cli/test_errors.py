"""The command that tells how far synthetic figures may be from private ones."""

import json
from collections.abc import Callable

import pyarrow as pa
import pytest
from tests.fixtures.command_line import Outcome

import pointillist as pt

Run = Callable[..., tuple[int, str, str]]
QUICK = pt.Mosaic(components=5, steps=10, most_tiles=6)


@pytest.fixture
def run(run: Callable[..., Outcome], schema: pt.Schema, people: Callable[..., pa.Table]) -> Run:
    """`pointillist errors` in a folder with people.release and people.model."""
    release = pt.release(people(400), schema, epsilon=3.0, method=QUICK, output="people.release")
    pt.fit(release).save("people.model")

    def call(*words: object) -> tuple[int, str, str]:
        outcome = run("errors", *words)
        return outcome.code, " ".join(outcome.out.split()), " ".join(outcome.err.split())

    return call


def test_every_column_is_shown_with_an_interval(run: Run, schema: pt.Schema) -> None:
    code, out, _ = run("people.release", "--model", "people.model")
    assert code == 0
    assert all(name in out for name in schema.columns)
    assert "private (95%)" in out
    assert "correlation" not in out
    assert run("people.release", "--quiet")[1] == ""


def test_refits_add_correlations_in_json(run: Run) -> None:
    code, out, err = run("people.release", "--model", "people.model", "--refits", 2, "--confidence", 0.8, "--json")
    assert (code, err) == (0, "")
    found = {each["name"]: each for each in json.loads(out)}
    assert found["mean of age"]["basis"] == "measured"
    assert found["correlation of age and income"]["basis"] in ("measured", "bounded", "refits", "not measured")
    assert {each["confidence"] for each in found.values()} == {0.8}
    given = [each for each in found.values() if each["basis"] != "not measured"]
    assert all(each["low"] <= each["high"] for each in given)


def test_mistakes_end_in_one_message(run: Run, schema: pt.Schema, people: Callable[..., pa.Table]) -> None:
    pt.release(people(50), schema, epsilon=1.0, method=QUICK, output="other.release")
    for words, code, message in (
        (("other.release", "--model", "people.model"), 2, "another release"),
        (("people.release", "--refits", 1), 2, "refits must be 0, or at least 2"),
        (("people.release", "--confidence", 2), 2, "confidence"),
        (("none.release",), 6, "none.release"),
        (("people.model",), 6, "people.model"),
    ):
        found, _, err = run(*words)
        assert (found, message in err) == (code, True)
