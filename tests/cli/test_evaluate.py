"""`pointillist evaluate` on tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from tests.fixtures.command_line import WORD, Outcome, Run

import pointillist as pt
from pointillist.evaluate.audit import Audit, Finding
from pointillist.evaluate.audit.finding import fingerprint


def test_evaluate_writes_a_report_and_says_what_it_is(run: Run, judged: pt.Schema) -> None:
    outcome = run(
        "evaluate", "real.csv", "made.csv", "--release", "people.release", "--holdout", "test.csv", "-o", "report.html"
    )
    assert outcome.code == 0
    assert "computed from private data: keep it where the data are kept" in outcome.shown
    assert "Predicting job" in outcome.shown  # the release's target
    assert Path("report.html").stat().st_mode & 0o077 == 0  # for the owner's eyes
    text = Path("report.html").read_text()
    assert "(ε = 1, δ = 1e-5)-differentially private" in text
    assert "No audit was run" in text


def test_each_file_has_its_own_delimiter(run: Run, judged: pt.Schema) -> None:
    figures = []
    for name, delimiter in (("made.csv", ","), ("semicolons.csv", ";")):
        options = pacsv.WriteOptions(delimiter=delimiter)
        pacsv.write_csv(pacsv.read_csv("made.csv"), name, options)
        outcome = run("evaluate", "real.csv", name, "--schema", "people.toml", "--json")
        assert outcome.code == 0, outcome.shown
        figures.append(json.loads(outcome.out))
    assert figures[0] == figures[1]


def test_what_to_do_is_said_as_commands(run: Run, judged: pt.Schema) -> None:
    made = pacsv.read_csv("made.csv")
    made = pa.table({name: made[name].take(pa.array(range(made.num_rows))[::-1]) if place % 2 else made[name]
                     for place, name in enumerate(made.column_names)})  # fmt: skip
    pacsv.write_csv(made, "torn.csv")
    outcome = run("evaluate", "real.csv", "torn.csv", "--release", "people.release")
    assert "What to do, the most urgent first:" in outcome.shown
    assert "pointillist synth real.csv --schema real.toml --epsilon 2 --target job" in outcome.shown


def test_evaluate_needs_no_release(run: Run, judged: pt.Schema) -> None:
    outcome = run("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "--target", "pay", "--json")
    assert outcome.code == 0
    figures = json.loads(outcome.out)
    assert figures["utility"]["task"] == "regression"
    assert figures["guarantee"] is None
    assert [each["order"] for each in figures["marginals"]] == [1, 2, 3]
    assert figures["private"].startswith("computed from private rows")
    assert run("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "--quiet") == Outcome(0, "", "")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ("age,pay\n5,2\n", ("made.csv", "'job'", "not in the table")),
        ("age,pay,job\n", ("made.csv", "no rows")),
        ("age,pay,job\nyoung,2,cook\n", ("made.csv", "'age'", "cannot be read as integer")),
        (f"age,pay,job\n5,2,{WORD}\n", ("made.csv", "'job'", "not one of its categories", "out_of_domain")),
        ("age,pay,job\n500,2,cook\n", ("made.csv", "'age'", "outside min and max")),
        ("age,pay,job\n,2,cook\n", ("made.csv", "'age'", "missing = false")),
    ],
)
def test_bad_synthetic_tables_are_explained(run: Run, judged: pt.Schema, made: str, words: tuple[str, ...]) -> None:
    Path("made.csv").write_text(made)
    outcome = run("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "-o", "report.html")
    assert outcome.code == 4
    assert all(word in outcome.shown for word in words)
    assert not Path("report.html").exists()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--schema", "people.toml", "--target", "wage"], 3, ("target 'wage'", "age, pay, job")),
        ([], 2, ("a schema is needed", "or a release")),
        (["--schema", "none.toml"], 3, ("none.toml", "no such schema file")),
        (["--release", "none.release"], 6, ("none.release", "no such file")),
        (["--release", "people.release", "-o", "report.pdf"], 2, ("report.pdf", ".html")),
        (["--release", "people.release", "-o", "real.csv"], 2, ("real.csv", ".html")),
        (["--release", "people.release", "--audit", "people.toml"], 6, ("people.toml", "audit")),
        (["--release", "people.release", "--audit", "none.json"], 6, ("none.json", "no such file")),
        (["--release", "people.release", "--holdout", "none.csv"], 4, ("none.csv", "no such file")),
    ],
)
def test_bad_options_are_explained(
    run: Run, judged: pt.Schema, options: list[str], code: int, words: tuple[str, ...]
) -> None:
    outcome = run("evaluate", "real.csv", "made.csv", *options)
    assert outcome.code == code
    assert all(word in outcome.shown for word in words), outcome.shown


@pytest.mark.usefixtures("judged")
def test_a_constant_target_is_explained(run: Run, workers: Callable[[int, int], pa.Table]) -> None:
    constant = workers(50, 4).set_column(2, "job", pa.array(["cook"] * 50))
    pacsv.write_csv(constant, "flat.csv")
    outcome = run("evaluate", "flat.csv", "made.csv", "--schema", "people.toml", "--target", "job")
    assert outcome.code == 4
    assert "target 'job' takes fewer than two values" in outcome.shown
    outcome = run("evaluate", "real.csv", "flat.csv", "--schema", "people.toml", "--target", "job", "--json")
    assert outcome.code == 0  # that is a finding, not a mistake
    assert any("constant" in note for note in json.loads(outcome.out)["utility"]["notes"])


@pytest.mark.usefixtures("judged")
def test_a_release_of_other_rows_is_noticed(run: Run, workers: Callable[[int, int], pa.Table]) -> None:
    outcome = run("evaluate", "test.csv", "made.csv", "--release", "people.release")
    assert outcome.code == 0
    assert (
        "The release does not belong to these rows" not in outcome.shown
    )  # as many rows, of one kind: within the noise
    pacsv.write_csv(workers(5_000, 5), "many.csv")
    outcome = run("evaluate", "many.csv", "made.csv", "--release", "people.release")
    assert "The release does not belong to these rows" in outcome.shown


def test_another_schema_than_the_release_has_is_refused(run: Run, judged: pt.Schema) -> None:
    other = judged.model_copy(update={"columns": {**judged.columns, "age": pt.Integer(min=0, max=110)}})
    Path("other.toml").write_text(other.to_toml())
    outcome = run("evaluate", "real.csv", "made.csv", "--schema", "other.toml", "--release", "people.release")
    assert outcome.code == 2
    assert "made with another schema" in outcome.shown


def test_a_report_is_replaced_only_if_asked(run: Run, judged: pt.Schema) -> None:
    Path("report.html").write_text("mine")
    words = ("evaluate", "real.csv", "made.csv", "--release", "people.release", "-o", "report.html")
    assert run(*words).code == 2
    assert Path("report.html").read_text() == "mine"
    assert run(*words, "--overwrite").code == 0
    assert "Private." in Path("report.html").read_text()


def test_a_saved_audit_is_shown(run: Run, judged: pt.Schema) -> None:
    finding = Finding("white-box", 0.9, 0.95, False, "The attack saw most of it.", {}, False)
    saved = Audit(
        "people", fingerprint(judged), "job", "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.268, (finding,), ()
    )
    Path("audit.json").write_text(json.dumps(saved.to_json()))
    words = ("evaluate", "real.csv", "made.csv", "--release", "people.release", "--audit", "audit.json")
    assert run(*words, "-o", "report.html", "--quiet").code == 0
    assert "The attack saw most of it." in Path("report.html").read_text()
    other = {**saved.to_json(), "epsilon": 8.0}
    Path("audit.json").write_text(json.dumps(other))
    outcome = run(*words, "-o", "report.html", "--overwrite")
    assert outcome.code == 2
    assert "the audit is of people with ε = 8, and not of this release" in outcome.shown
