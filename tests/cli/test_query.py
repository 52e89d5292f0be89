"""The command that answers queries from a release alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.fixtures.command_line import Outcome

import pointillist as pt

Run = Callable[..., tuple[int, str, str]]
QUICK = pt.Mosaic(components=4, steps=8, most_tiles=6)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("query")


@pytest.fixture
def run(
    run: Callable[..., Outcome],
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    schema: pt.Schema,
    people: Callable[..., pa.Table],
) -> Run:
    """`pointillist query` in a folder with people.release and people.model."""
    monkeypatch.chdir(folder)
    if not Path("people.release").exists():
        release = pt.release(people(400), schema, epsilon=5.0, method=QUICK, output="people.release")
        pt.fit(release).save("people.model")

    def call(*words: object) -> tuple[int, str, str]:
        outcome = run("query", *words)
        return outcome.code, " ".join(outcome.out.split()), " ".join(outcome.err.split())

    return call


def test_a_query_is_answered_with_intervals(run: Run) -> None:
    code, out, _ = run("people.release", "mean(age), count() where age > 40 group by sex", "--model", "people.model")
    assert code == 0
    for word in ("female", "male", "mean(age)", "count()", "private (95%)", "assisted", "measured"):
        assert word in out


def test_json_and_quiet(run: Run) -> None:
    code, out, err = run("people.release", "share() where member group by grade", "--json", "--confidence", 0.8)
    assert (code, err) == (0, "")
    found = json.loads(out)
    groups = [each["group"]["grade"] for each in found]
    assert groups
    assert groups == [each for each in ("low", "middle", "high", None) if each in groups]
    assert {each["confidence"] for each in found} == {0.8}
    assert all(each["low"] <= each["high"] for each in found)


def test_quiet_prints_bare_figures(run: Run) -> None:
    code, out, err = run("people.release", "count(), mean(age) group by sex", "--model", "people.model", "--quiet")
    assert (code, err) == (0, "")
    first, count, mean, second, *_ = out.split()
    assert (first, second) == ("female", "male")
    assert 0 < float(count) < 400
    assert 0 < float(mean) < 110
    code, out, err = run("people.release", "share()", "--model", "people.model", "-q")
    assert (code, out, err) == (0, "1", "")


def test_columns_of_any_name_can_be_asked_for(run: Run, people: Callable[..., pa.Table], tmp_path: Path) -> None:
    names = {"sex": "flc.grp", "age": "lambda", "member": "is member"}
    table = people(200).select(list(names)).rename_columns(list(names.values()))
    schema = pt.Schema(
        name="odd",
        reviewed=True,
        columns={
            "flc.grp": pt.Categorical(categories=("female", "male"), missing=False),
            "lambda": pt.Integer(min=0, max=110, missing=False),
            "is member": pt.Boolean(),
        },
    )
    pt.release(table, schema, epsilon=5.0, method=QUICK, output=tmp_path / "odd.release")
    query = "mean(lambda) where flc.grp = 'male' and `is member` group by flc.grp"
    code, out, err = run(tmp_path / "odd.release", query, "-q")
    assert (code, err) == (0, "")
    assert out.split()[0] == "male"
    assert 0 <= float(out.split()[1]) <= 110


def test_help_has_examples(run: Run) -> None:
    code, out, _ = run("--help")
    assert code == 0
    assert "where age > 40 group by sex" in out
    assert "quantile(x, 0.9)" in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("people.release", "mean(wage)"), 2, "'wage' is not a column at position 6"),
        (("people.release", "maximum(age)"), 2, "'maximum' is not an aggregate"),
        (("people.release", "mean(age) where age >"), 2, "not complete"),
        (("people.release", "mean(age) group by income"), 2, "'income' is real and has no groups"),
        (("people.release", "mean(sex)", "--model", "people.model"), 2, "'sex' is not a number"),
        (("people.release", "mean(age) where sex + 1 = 2", "--model", "people.model"), 2, "cannot be worked out"),
        (("people.release", "count()", "--refits", 1), 2, "refits must be 0"),
        (("none.release", "count()"), 6, "none.release"),
        (("people.model", "count()"), 6, "people.model"),
    ],
)
def test_mistakes_end_in_one_message(run: Run, words: tuple[object, ...], code: int, message: str) -> None:
    found, out, err = run(*words)
    assert (found, out) == (code, "")
    assert message in err
