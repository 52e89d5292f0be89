"""The commands that judge: evaluate, card and audit."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

import pointillist as pt
from pointillist.cli import main
from pointillist.evaluate.audit import Audit, Finding
from pointillist.evaluate.audit.finding import fingerprint

WORD = "SECRETVALUE"


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def shown(self) -> str:
        return " ".join((self.out + " " + self.err).split())


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)

    def call(*words: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["pointillist", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        found = capsys.readouterr()
        assert "Traceback" not in found.err
        assert WORD not in found.out + found.err
        return Outcome(int(ended.value.code or 0), found.out, found.err)

    return call


def table(rows: int, seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 100, rows)
    return pa.table({
        "age": age,
        "pay": np.where(rng.random(rows) < 0.2, 0.0, np.exp(rng.normal(5 + age / 50, 0.5)).round(2)),
        "job": np.where(age + rng.normal(0, 20, rows) > 50, "smith", "cook"),
    })  # fmt: skip


SCHEMA = pt.Schema(
    name="people",
    columns={
        "age": pt.Integer(min=0, max=100, missing=False, out_of_domain="error"),
        "pay": pt.Real(min=1, max=100_000, special=(0.0,), scale="log"),
        "job": pt.Categorical(categories=("cook", "smith", "nurse"), missing=False, out_of_domain="error"),
    },
)


@pytest.fixture
def files(run: Run) -> Run:
    """real.csv, made.csv, test.csv, people.toml and people.release in the current folder."""
    for name, seed in (("real", 1), ("made", 2), ("test", 3)):
        pacsv.write_csv(table(400, seed), f"{name}.csv")
    Path("people.toml").write_text(SCHEMA.to_toml())
    pt.release("real.csv", SCHEMA, epsilon=1.0, target="job", output="people.release")
    return run


def test_evaluate_writes_a_report_and_says_what_it_is(files: Run) -> None:
    outcome = files(
        "evaluate", "real.csv", "made.csv", "--release", "people.release", "--holdout", "test.csv", "-o", "report.html"
    )
    assert outcome.code == 0
    assert "computed from private data: keep it where the data are kept" in outcome.shown
    assert "Predicting job" in outcome.shown  # the release's target
    assert Path("report.html").stat().st_mode & 0o077 == 0  # for the owner's eyes
    text = Path("report.html").read_text()
    assert "(ε = 1, δ = 1e-5)-differentially private" in text
    assert "No audit was run" in text


def test_evaluate_needs_no_release(files: Run) -> None:
    outcome = files("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "--target", "pay", "--json")
    assert outcome.code == 0
    figures = json.loads(outcome.out)
    assert figures["utility"]["task"] == "regression"
    assert figures["guarantee"] is None
    assert [each["order"] for each in figures["marginals"]] == [1, 2, 3]
    assert figures["private"].startswith("computed from private rows")
    assert files("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "--quiet") == Outcome(0, "", "")


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
def test_bad_synthetic_tables_are_explained(files: Run, made: str, words: tuple[str, ...]) -> None:
    Path("made.csv").write_text(made)
    outcome = files("evaluate", "real.csv", "made.csv", "--schema", "people.toml", "-o", "report.html")
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
def test_bad_options_are_explained(files: Run, options: list[str], code: int, words: tuple[str, ...]) -> None:
    outcome = files("evaluate", "real.csv", "made.csv", *options)
    assert outcome.code == code
    assert all(word in outcome.shown for word in words), outcome.shown


def test_a_constant_target_is_explained(files: Run) -> None:
    constant = table(50, 4).set_column(2, "job", pa.array(["cook"] * 50))
    pacsv.write_csv(constant, "flat.csv")
    outcome = files("evaluate", "flat.csv", "made.csv", "--schema", "people.toml", "--target", "job")
    assert outcome.code == 4
    assert "target 'job' takes fewer than two values" in outcome.shown
    outcome = files("evaluate", "real.csv", "flat.csv", "--schema", "people.toml", "--target", "job", "--json")
    assert outcome.code == 0  # that is a finding, not a mistake
    assert any("constant" in note for note in json.loads(outcome.out)["utility"]["notes"])


def test_a_release_of_other_rows_is_noticed(files: Run) -> None:
    outcome = files("evaluate", "test.csv", "made.csv", "--release", "people.release")
    assert outcome.code == 0
    assert (
        "The release does not belong to these rows" not in outcome.shown
    )  # as many rows, of one kind: within the noise
    pacsv.write_csv(table(5_000, 5), "many.csv")
    outcome = files("evaluate", "many.csv", "made.csv", "--release", "people.release")
    assert "The release does not belong to these rows" in outcome.shown


def test_another_schema_than_the_release_has_is_refused(files: Run) -> None:
    other = SCHEMA.model_copy(update={"columns": {**SCHEMA.columns, "age": pt.Integer(min=0, max=110)}})
    Path("other.toml").write_text(other.to_toml())
    outcome = files("evaluate", "real.csv", "made.csv", "--schema", "other.toml", "--release", "people.release")
    assert outcome.code == 2
    assert "made with another schema" in outcome.shown


def test_a_report_is_replaced_only_if_asked(files: Run) -> None:
    Path("report.html").write_text("mine")
    words = ("evaluate", "real.csv", "made.csv", "--release", "people.release", "-o", "report.html")
    assert files(*words).code == 2
    assert Path("report.html").read_text() == "mine"
    assert files(*words, "--overwrite").code == 0
    assert "Private." in Path("report.html").read_text()


def test_a_saved_audit_is_shown(files: Run) -> None:
    finding = Finding("white-box", 0.9, 0.95, False, "The attack saw most of it.", {}, False)
    saved = Audit(
        "people", fingerprint(SCHEMA), "job", "mosaic", "add-remove", "one row", 1.0, 1e-5, 0.268, (finding,), ()
    )
    Path("audit.json").write_text(json.dumps(saved.to_json()))
    words = ("evaluate", "real.csv", "made.csv", "--release", "people.release", "--audit", "audit.json")
    assert files(*words, "-o", "report.html", "--quiet").code == 0
    assert "The attack saw most of it." in Path("report.html").read_text()
    other = {**saved.to_json(), "epsilon": 8.0}
    Path("audit.json").write_text(json.dumps(other))
    outcome = files(*words, "-o", "report.html", "--overwrite")
    assert outcome.code == 2
    assert "the audit is of people with ε = 8, and not of this release" in outcome.shown


def test_card(files: Run) -> None:
    outcome = files("card", "people.release", "-o", "card.md")
    assert outcome.code == 0
    assert "may be shared" in outcome.shown
    assert Path("card.md").read_text().startswith("# people: data card")
    assert files("card", "people.release", "-o", "card.md").code == 2
    assert files("card", "people.toml", "-o", "card.html").code == 6
    assert files("card", "people.release", "-o", "card.pdf").code == 2


def test_audit_needs_to_know_what_to_audit(files: Run) -> None:
    assert "--schema and --epsilon, or --release" in files("audit").shown
    both = files("audit", "--release", "people.release", "--epsilon", 1)
    assert both.code == 2
    assert "leave --epsilon out" in both.shown
    assert "is not known" in files("audit", "--release", "people.release", "--attacks", "magic").shown
    assert files("audit", "--schema", "people.toml", "--epsilon", 1, "--attacks", "membership").code == 2


def test_audit_runs_prints_and_saves(files: Run, own_ledger: Path) -> None:
    before = own_ledger.read_bytes()
    outcome = files("audit", "--release", "people.release", "--attacks", "white-box", "--runs", 20, "-o", "audit.json")
    assert outcome.code == 0
    assert "Passed" in outcome.shown
    saved = Audit.from_json(json.loads(Path("audit.json").read_text()))
    assert saved.epsilon == 1.0
    assert saved.passed
    assert own_ledger.read_bytes() == before  # nothing was spent


def test_a_broken_promise_ends_with_another_exit_code(files: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from pointillist.curator import releasing

    monkeypatch.setattr(releasing, "add_noise", lambda sums, sigma: sums)  # no noise at all
    outcome = files("audit", "--release", "people.release", "--attacks", "white-box", "--runs", 10, "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["passed"] is False
