"""The command line: what every command does, and how every mistake ends.

A mistake must end in the right exit code and one message that names the file, column or rule at fault. It may show no
traceback and no private value, leave no file behind and spend nothing. `run` and `refused` check all of that each time.
"""

import contextlib
import gc
import gzip
import itertools
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from pyarrow import feather, parquet

from pointillist.cli import console, main
from pointillist.curator import releasing
from pointillist.demo import steps
from pointillist.privacy.ledger import Ledger, Spend, State
from pointillist.release import Release

WORD, NUMBER = "SECRETVALUE", "987654321"
"""Private values that tests put into the rows at fault: they must never show."""

COLUMNS = {
    "age": 'kind = "integer"\nmin = 0\nmax = 120\nbins = 30',
    "pay": 'kind = "real"\nmin = 0\nmax = 5000\nbins = 20',
    "job": 'kind = "categorical"\ncategories = ["cook", "nurse", "smith"]',
    "member": 'kind = "boolean"',
}
HEADER = "id,age,pay,job,member\n"
JOBS = ("cook", "nurse", "smith")
PERSON = 'person = { column = "id", max_rows = 2 }'


# ---------------------------------------------------------------- helpers


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def shown(self) -> str:
        """All that was printed as one line, without frames and line breaks."""
        return re.sub(r"[\s│┃╭╮╰╯─━]+", " ", self.out + " " + self.err)

    def check(self) -> "Outcome":
        """No command ever shows a traceback or a private value."""
        printed = self.out + self.err
        assert "Traceback" not in printed
        assert WORD not in printed
        assert NUMBER not in printed
        assert "987,654,321" not in printed
        return self


Run = Callable[..., Outcome]


def rows(count: int = 120) -> str:
    """Lines of a small table: one person every two lines."""
    return "".join(
        f"{i // 2},{20 + i * 7 % 60},{100 + i * 37 % 4000}.5,{JOBS[i % 3]},{'yes' if i % 4 else 'no'}\n"
        for i in range(count)
    )


def schema_text(name: str = "people", top: str = "", **columns: str) -> str:
    """The small table's schema in TOML, some columns replaced."""
    parts = "".join(f"[columns.{column}]\n{facts}\n\n" for column, facts in (COLUMNS | columns).items())
    return f'name = "{name}"\n{top}\n\n{parts}'


def with_rule(column: str, rule: str) -> dict[str, str]:
    """A column of the small table with one more rule."""
    return {column: f"{COLUMNS[column]}\n{rule}"}


def write(path: str | Path, content: str | bytes) -> Path:
    """Write a file, and say where."""
    path = Path(path)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def release_args(*options: object, data: object = "people.csv", schema: object = "people.toml") -> list[object]:
    """A release of the small table; later options override earlier ones."""
    return ["release", data, "--schema", schema, "--epsilon", 1, "-o", "people.release", *options]


def synth_args(*options: object, data: object = "people.csv") -> list[object]:
    """The whole way on the small table."""
    return ["synth", data, "--schema", "people.toml", "--epsilon", 1, "-o", "made.csv", *options]


def spends() -> list[Spend]:
    """Every line of the ledger that counts."""
    return [spend for account in Ledger().accounts() for spend in account.spends]


def snapshot() -> dict[str, bytes | None]:
    """Every file and folder at work, hidden ones too, with its content."""
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


def refused(run: Run, args: list[object], code: int, *words: str) -> Outcome:
    """Run a command that must be refused: with this code and these words, without a trace on disk or in the ledger."""
    files = snapshot()
    outcome = run(*args)
    assert outcome.code == code, outcome
    for word in words:
        assert word in outcome.shown
    assert snapshot() == files, "a refused command changed the folder"
    return outcome


def refused_free(run: Run, args: list[object], code: int, *words: str) -> Outcome:
    """Run a command that must be refused, with a ledger on which nothing has been spent."""
    outcome = refused(run, args, code, *words)
    assert spends() == []
    return outcome


def read(path: str | Path) -> pa.Table:
    """A synthetic table, by its ending."""
    readers = {".csv": pacsv.read_csv, ".parquet": parquet.read_table, ".arrow": feather.read_table}
    return readers[Path(path).suffix](path)


@pytest.fixture(autouse=True)
def at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in and a ledger beside it, so that no one's own ledger is touched."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("POINTILLIST_LEDGER", str(tmp_path / "books" / "ledger.sqlite"))
    monkeypatch.setattr(console.out, "width", 200)
    return folder


def at_a_terminal(*args: object, answer: str) -> Outcome:
    """Run a command as a process that reads from a terminal, at which somebody types this."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", "from pointillist.cli import main; main()", *map(str, args)]
    try:
        os.write(ours, answer.encode())
        ended = subprocess.run(command, stdin=theirs, capture_output=True, text=True, check=False, timeout=120)
    finally:
        os.close(ours)
        os.close(theirs)
    return Outcome(ended.returncode, ended.stdout, ended.stderr).check()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in this process."""

    def call(*args: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["pointillist", *map(str, args)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        printed = capsys.readouterr()
        return Outcome(int(end.value.code or 0), printed.out, printed.err).check()

    return call


@pytest.fixture
def table() -> Path:
    """The small table with its schema, as people.csv and people.toml."""
    write("people.toml", schema_text())
    return write("people.csv", HEADER + rows())


@dataclass(frozen=True)
class Made:
    """Files made once, for tests that only read them."""

    release: bytes
    model: bytes


@pytest.fixture(scope="module")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("POINTILLIST_LEDGER", str(folder / "ledger.sqlite"))
        write("people.toml", schema_text())
        write("people.csv", HEADER + rows())
        for args in (release_args("--quiet"), ["fit", "people.release", "-o", "people.model", "--quiet"]):
            patch.setattr(sys, "argv", ["pointillist", *map(str, args)])
            with pytest.raises(SystemExit) as end:
                main()
            assert end.value.code == 0
        return Made(Path("people.release").read_bytes(), Path("people.model").read_bytes())


@pytest.fixture
def made(made_once: Made) -> Made:
    """A release and a model of the small table, as people.release and people.model."""
    write("people.release", made_once.release)
    write("people.model", made_once.model)
    return made_once


def outside(*args: object, before: str = "") -> Outcome:
    """Run a command as a process of its own; `before` is Python that it runs first."""
    script = f"{before}\nfrom pointillist.cli import main\nmain()"
    ended = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True, check=False, timeout=120
    )
    return Outcome(ended.returncode, ended.stdout, ended.stderr).check()


@contextlib.contextmanager
def largest_file(size: int) -> Iterator[None]:
    """No file may grow over `size` bytes: as if the disk were full."""
    assert signal.getsignal(signal.SIGXFSZ) == signal.SIG_IGN  # so that a write fails instead of ending the process
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# ---------------------------------------------------------------- the good way


def test_draft_marks_what_it_read_and_names_the_data_set_after_the_file(run: Run, table: Path) -> None:
    outcome = run("schema", "draft", table, "-o", "draft.toml")
    assert outcome.code == 0
    assert "Written to draft.toml" in outcome.shown
    assert "A draft:" in outcome.shown
    assert "may a person have several rows?" in outcome.shown
    assert "answer the question in it" in outcome.shown
    assert '# column = "id"' in Path("draft.toml").read_text()
    text = Path("draft.toml").read_text()
    assert 'name = "people"' in text
    assert "reviewed = false" in text
    assert "READ FROM THE DATA" in text
    for column in ("age", "pay", "job", "member"):
        assert f"[columns.{column}]" in text
        assert column in outcome.out


def test_draft_takes_a_name_a_person_and_a_delimiter(run: Run) -> None:
    write("semi.csv", (HEADER + rows()).replace(",", ";"))
    options = ["--name", "clinic", "--person", "id", "--max-rows", 2, "--delimiter", ";"]
    assert run("schema", "draft", "semi.csv", "-o", "draft.toml", *options).code == 0
    text = Path("draft.toml").read_text()
    assert 'name = "clinic"' in text
    assert 'column = "id"' in text
    assert "max_rows = 2" in text
    assert re.search(r'\[columns\.id\]\nkind = "ignore"', text)


def test_release_refuses_a_draft_until_it_is_reviewed(run: Run, table: Path) -> None:
    assert run("schema", "draft", table, "-o", "draft.toml", "--quiet").code == 0
    refused_free(run, release_args(schema="draft.toml"), 3, "draft.toml", "draft", "reviewed = true")
    draft = Path("draft.toml")
    draft.write_text(draft.read_text().replace("reviewed = false", "reviewed = true"))
    refused_free(run, release_args("--yes", schema="draft.toml"), 3, "'id'", "[person]", "one_row_per_person = true")
    draft.write_text(draft.read_text().replace("# one_row_per_person", "one_row_per_person"))
    outcome = run(*release_args("--yes", schema="draft.toml"))
    assert outcome.code == 0
    assert "(ε = 1, δ = 1e-5)-differentially private" in outcome.shown
    assert "Next: pointillist fit people.release" in outcome.shown
    assert Path("people.release").stat().st_size > 0
    (spend,) = spends()
    assert (spend.dataset, spend.epsilon, spend.delta, spend.state) == ("people", 1.0, 1e-5, State.DONE)


def test_release_shows_its_plan_and_its_steps(run: Run, table: Path) -> None:
    outcome = run(*release_args("--target", "job", "--delta", "1e-6"))
    assert outcome.code == 0
    for words in ("Plan: mosaic on people", "one-way marginals", "pairs of columns, by job", "ε = 1, δ = 1e-6"):
        assert words in outcome.shown
    assert "pass 2 of 2" in outcome.err
    assert spends()[0].purpose == "mosaic, target job"


def test_release_as_json_prints_json_alone(run: Run, table: Path) -> None:
    outcome = run(*release_args("--json", "--neighbours", "replace-one"))
    facts = json.loads(outcome.out)
    assert outcome.err == ""
    assert facts["release"] == "people.release"
    assert facts["id"] == spends()[0].release
    assert facts["guarantee"]["neighbours"] == "replace-one"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".csv.gz", ".parquet", ".arrow"])
def test_release_reads_every_kind_of_file(run: Run, table: Path, ending: str) -> None:
    content = pacsv.read_csv(table)
    other = Path(f"other{ending}")
    match ending:
        case ".parquet":
            parquet.write_table(content, other)
        case ".arrow":
            feather.write_feather(content, other)
        case ".csv.gz":
            write(other, gzip.compress(table.read_bytes()))
        case ".tsv":
            write(other, table.read_bytes().replace(b",", b"\t"))
        case _:
            write(other, table.read_bytes())
    assert run(*release_args("--quiet", data=other)).code == 0
    assert len(spends()) == 1


def test_release_reads_a_query_and_another_delimiter(run: Run, table: Path) -> None:
    assert run(*release_args("--quiet", "--sql", "SELECT * FROM source WHERE job <> 'cook'")).code == 0
    semi = write("semi.csv", table.read_bytes().replace(b",", b";"))
    assert run(*release_args("--quiet", "--overwrite", "--delimiter", ";", data=semi)).code == 0
    assert len(spends()) == 2


def test_a_query_reads_with_the_delimiter_that_was_given(run: Run, table: Path) -> None:
    semi = write("semi.csv", table.read_bytes().replace(b",", b";"))
    outcome = run(*release_args("--quiet", "--delimiter", ";", "--sql", "SELECT * FROM source", data=semi))
    assert outcome.code == 0, outcome


def test_release_keeps_to_a_person_column_and_to_the_ledger_it_is_given(run: Run, table: Path) -> None:
    write("people.toml", schema_text(top='person = { column = "id", max_rows = 2 }'))
    assert run(*release_args("--quiet", "--ledger", "mine.sqlite")).code == 0
    assert spends() == []
    (account,) = Ledger("mine.sqlite").accounts()
    assert account.person is not None
    assert (account.person.column, account.person.max_rows) == ("id", 2)


def test_fit_is_the_same_for_the_same_seed(run: Run, made: Made) -> None:
    outcome = run("fit", "people.release", "-o", "again.model")
    assert outcome.code == 0
    assert "Next: pointillist sample again.model" in outcome.shown
    assert Path("again.model").read_bytes() == made.model
    assert run("fit", "people.release", "-o", "other.model", "--seed", 5, "--quiet").code == 0
    assert Path("other.model").read_bytes() != made.model


def test_fit_takes_another_generator_and_a_checkpoint(run: Run, made: Made) -> None:
    """A network for a mosaic release; a file that is no checkpoint is refused and kept, and nothing is written."""
    args = ["fit", "people.release", "--generator", "network", "--quiet"]
    assert run(*args, "--checkpoint", "state", "-o", "net.model").code == 0
    assert run("sample", "net.model", "-n", 5, "-o", "net.csv", "--quiet").code == 0
    before = Path("people.release").read_bytes()
    outcome = run(*args, "--checkpoint", "people.release", "-o", "other.model")
    assert outcome.code == 6
    assert "people.release" in outcome.err
    assert Path("people.release").read_bytes() == before
    assert not Path("other.model").exists()


def test_an_unknown_generator_is_refused_before_anything_is_spent(run: Run, table: Path) -> None:
    outcome = run(
        "synth", "people.csv", "--schema", "people.toml", "--epsilon", 1, "-o", "s.csv", "--generator", "nonsense"
    )
    assert outcome.code == 2
    assert "Known generators: mixture, network" in outcome.err
    assert not Path("s.release").exists()


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".arrow"])
def test_sample_gives_the_same_file_for_the_same_seed(run: Run, made: Made, ending: str) -> None:
    files = [Path(f"{name}{ending}") for name in ("first", "second", "other")]
    for file, seed in zip(files, (3, 3, 4), strict=True):
        outcome = run("sample", "people.model", "-o", file, "-n", 70, "--seed", seed)
        assert outcome.code == 0
        assert f"70 synthetic rows written to {file}" in outcome.shown
    first, second, other = (read(file) for file in files)
    assert files[0].read_bytes() == files[1].read_bytes()
    assert first.equals(second)
    assert not first.equals(other)
    assert first.num_rows == 70
    assert first.column_names == ["age", "pay", "job", "member"]
    assert set(first["job"].to_pylist()) <= {*JOBS, "other", None, ""}
    assert all(value is None or 0 <= value <= 120 for value in first["age"].to_pylist())


def test_sample_makes_about_as_many_rows_as_there_were(run: Run, made: Made) -> None:
    assert run("sample", "people.model", "-o", "made.csv", "--quiet").code == 0
    assert 20 < read("made.csv").num_rows < 400


def test_files_replace_earlier_ones_whole_if_asked_to(run: Run, made: Made) -> None:
    write("made.csv", "x" * 1_000_000)
    assert run("sample", "people.model", "-o", "made.csv", "-n", 5, "--quiet", "--overwrite").code == 0
    assert read("made.csv").num_rows == 5


@pytest.mark.parametrize("command", ["draft", "release", "fit", "sample", "synth"])
def test_files_that_are_there_are_not_replaced_unasked(run: Run, table: Path, made: Made, command: str) -> None:
    """A release is paid for, and a schema may have been edited by hand."""
    write("kept.csv", "precious")
    spent = len(spends())
    refused(run, WRITERS[command]("kept.csv"), 2, "kept.csv", "is there already", "--overwrite")
    assert Path("kept.csv").read_text() == "precious"
    assert len(spends()) == spent


def test_inspect_shows_a_release(run: Run, made: Made) -> None:
    outcome = run("inspect", "people.release")
    assert outcome.code == 0
    for words in ("Release", "of people", "differentially private", "one-way marginals", "pairs of columns"):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.release", "--json").out)
    assert facts["kind"] == "release"
    assert facts["rows"] is None  # the number of rows is private under add-remove
    assert facts["guarantee"]["epsilon"] == 1.0
    assert facts["plan"]["method"] == "mosaic"
    assert list(facts["schema"]["columns"]) == list(COLUMNS)


def test_inspect_shows_a_model(run: Run, made: Made) -> None:
    outcome = run("inspect", "people.model")
    assert outcome.code == 0
    for words in ("Model of people", "differentially private", "mixture", "categorical"):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.model", "--json").out)
    assert facts["kind"] == "model"
    assert facts["release"] == json.loads(run("inspect", "people.release", "--json").out)["id"]
    assert list(facts["schema"]["columns"]) == list(COLUMNS)


def test_inspect_shows_a_schema(run: Run, table: Path) -> None:
    outcome = run("inspect", "people.toml")
    assert outcome.code == 0
    for words in ("Schema: people", "cook, nurse, smith", "0 … 120", "Privacy unit: one row."):
        assert words in outcome.shown
    facts = json.loads(run("inspect", "people.toml", "--json").out)
    assert facts["name"] == "people"
    assert facts["columns"]["job"]["categories"] == list(JOBS)


def test_ledger_shows_what_was_spent(run: Run, table: Path) -> None:
    empty = run("ledger")
    assert empty.code == 0
    assert "Nothing has been spent yet." in empty.shown
    assert not Ledger().path.exists()
    assert json.loads(run("ledger", "--json").out) == []
    assert run(*release_args("--quiet")).code == 0
    shown = run("ledger")
    assert shown.code == 0
    for words in ("people (add-remove, unit one row)", "mosaic", "done", "spent together: ε = 1 of 10 at δ = 1e-5"):
        assert words in shown.shown
    (account,) = json.loads(run("ledger", "--json").out)
    assert account["dataset"] == "people"
    assert account["cap"] == {"epsilon": 10.0, "delta": 1e-5}
    assert account["spent"] == pytest.approx(1.0)
    assert [spend["state"] for spend in account["spends"]] == ["done"]


def test_ledger_as_json_is_json_even_if_no_epsilon_is_large_enough(run: Run, table: Path) -> None:
    assert run(*release_args("--quiet")).code == 0
    assert run("ledger", "cap", "people", "--epsilon", 3, "--delta", "1e-300", "--quiet").code == 0

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    (account,) = json.loads(run("ledger", "--json").out, parse_constant=refuse)
    assert len(account["spends"]) == 1


def test_ledger_cap_sets_the_most_that_may_be_spent(run: Run) -> None:
    outcome = run("ledger", "cap", "people", "--epsilon", 3, "--delta", "1e-6")
    assert outcome.code == 0
    assert "The cap of people is now ε = 3 at δ = 1e-6." in outcome.shown
    (account,) = json.loads(run("ledger", "--json").out)
    assert account["cap"] == {"epsilon": 3.0, "delta": 1e-6}
    assert account["spends"] == []


def test_ledger_commands_work_on_the_ledger_they_are_given(run: Run) -> None:
    assert run("ledger", "--ledger", "mine.sqlite", "cap", "people", "--epsilon", 3, "--quiet").code == 0
    (account,) = json.loads(run("ledger", "--ledger", "mine.sqlite", "--json").out)
    assert account["cap"]["epsilon"] == 3.0
    assert not Ledger().path.exists()


def test_synth_goes_the_whole_way_and_keeps_the_release(run: Run, table: Path) -> None:
    outcome = run(*synth_args("-n", 50, "--seed", 1, "--target", "job"))
    assert outcome.code == 0
    assert "50 synthetic rows written to made.csv" in outcome.shown
    assert read("made.csv").num_rows == 50
    assert json.loads(run("inspect", "made.release", "--json").out)["target"] == "job"
    assert [spend.state for spend in spends()] == [State.DONE]


def test_synth_names_what_comes_after_it_and_no_step_that_it_took(run: Run, table: Path) -> None:
    shown = run(*synth_args()).shown
    assert shown.count("Next:") == 1
    assert "Next: pointillist evaluate people.csv made.csv --release made.release" in shown
    assert "pointillist card made.release" in shown
    assert "pointillist fit" not in shown


def test_synth_keeps_the_release_where_it_is_told(run: Run, table: Path) -> None:
    assert run(*synth_args("--release", "kept.release", "--quiet")).code == 0
    assert Path("kept.release").exists()
    assert not Path("made.release").exists()
    assert read("made.csv").column_names == list(COLUMNS)


def test_plan_needs_no_data_and_spends_nothing(run: Run) -> None:
    write("people.toml", schema_text(top="rows = 120"))
    before = snapshot()
    outcome = run("release", "nowhere.csv", "--schema", "people.toml", "--epsilon", 2, "--plan", "--target", "job")
    assert outcome.code == 0
    for words in ("Plan: mosaic on people", "Promise: ε = 2", "one-way marginals", "for 120 rows"):
        assert words in outcome.shown
    facts = json.loads(run("release", "nowhere.csv", "--schema", "people.toml", "--epsilon", 2, "--plan", "--json").out)
    assert facts["method"] == "mosaic"
    assert facts["guarantee"]["epsilon"] == 2.0
    assert len(facts["rounds"]) == 1  # so few rows: pairs would drown
    assert snapshot() == before
    assert not Ledger().path.exists()


def test_plan_does_not_touch_the_data(run: Run, table: Path) -> None:
    write(table, f"{WORD}\n{NUMBER}\n")
    assert run(*release_args("--plan")).code == 0
    assert not Path("people.release").exists()
    assert not Ledger().path.exists()


@pytest.mark.parametrize(
    "args",
    [
        ["schema", "draft", "people.csv", "-o", "draft.toml"],
        release_args(),
        release_args("--plan"),
        ["fit", "people.release", "-o", "new.model"],
        ["sample", "people.model", "-o", "new.csv"],
        synth_args(),
        ["ledger", "cap", "people", "--epsilon", "3"],
    ],
    ids=["draft", "release", "plan", "fit", "sample", "synth", "cap"],
)
def test_quiet_commands_print_nothing(run: Run, table: Path, made: Made, args: list[object]) -> None:
    replace = [] if args[0] in ("ledger", "demo") else ["--overwrite"]
    assert run(*args, *replace, "--quiet") == Outcome(0, "", "")
    assert run(*args, *replace, "-q") == Outcome(0, "", "")


@pytest.fixture
def small_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo on few people, to be quick."""
    whole = steps.simulate
    monkeypatch.setattr(steps, "simulate", lambda rows=400, seed=1: whole(400, seed))


@pytest.mark.usefixtures("small_registry")
def test_demo_leaves_its_files_and_says_how_good_it_is(run: Run) -> None:
    outcome = run("demo", "show")
    assert outcome.code == 0
    names = {"people.csv", "people.toml", "people.release", "people.model", "synthetic.csv", "ledger.sqlite"}
    names |= {"card.html", "report.html", ".pointillist-demo"}
    assert {path.name for path in Path("show").iterdir()} == names
    for words in ("Synthetic against real", "chronic", "report.html", "owner's eyes", "show/people.csv"):
        assert words in outcome.shown
    assert not Ledger().path.exists()  # the demo keeps a ledger of its own
    (account,) = Ledger("show/ledger.sqlite").accounts()
    assert len(account.spends) == 1
    assert run("inspect", "show/people.release").code == 0


def test_demo_never_replaces_what_it_did_not_make(run: Run) -> None:
    Path("mine").mkdir()
    write("mine/people.csv", "mine")
    outcome = run("demo", "mine")
    assert outcome.code == 2
    assert "mine: is not empty, and not from a demo" in outcome.shown
    assert Path("mine/people.csv").read_text() == "mine"


@pytest.mark.usefixtures("small_registry")
def test_demo_can_be_run_again_and_quietly(run: Run) -> None:
    assert run("demo", "--quiet") == Outcome(0, "", "")
    write("demo/ledger.sqlite", b"left over")
    assert run("demo", "--quiet") == Outcome(0, "", "")
    assert len(Ledger("demo/ledger.sqlite").accounts()[0].spends) == 1


COMMANDS = [
    ["demo"],
    ["schema", "draft"],
    ["extractor", "train"],
    ["release"],
    ["synth"],
    ["fit"],
    ["sample"],
    ["query"],
    ["errors"],
    ["evaluate"],
    ["card"],
    ["audit"],
    ["inspect"],
    ["ledger"],
    ["ledger", "cap"],
]
"""Every command, in the order of the work."""


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_of_every_command_has_an_example(run: Run, command: list[str], option: str) -> None:
    outcome = run(*command, option)
    assert outcome.code == 0
    assert f"Example: pointillist {' '.join(command)}" in outcome.shown


def test_help_lists_the_commands_in_the_order_of_the_work(run: Run) -> None:
    outcome = run("--help")
    assert outcome.code == 0
    listed = re.findall(r"^│ ([a-z]+)  ", outcome.out, re.MULTILINE)
    assert listed == list(dict.fromkeys(command for command, *_ in COMMANDS))
    assert re.findall(r"^╭─ ([A-Z]\w+)", outcome.out, re.MULTILINE) == [
        "Options", "Try", "Prepare", "Publish", "Make", "Ask", "Judge", "Keep",
    ]  # fmt: skip
    assert (
        "Exit codes: 0 done, 2 wrong usage, 3 schema, 4 data, 5 budget or ledger, 6 release or model file"
        in outcome.shown
    )


def test_help_and_mistakes_name_the_command_whatever_it_was_started_by() -> None:
    script = "import sys; sys.argv[0] = '/opt/thing.py'; from pointillist.cli import main; main()"
    for args in (["--help"], ["fit"]):
        ended = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, check=False)
        assert "Usage: pointillist" in ended.stdout + ended.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell", "pwsh"])
def test_completion_is_shown_for_a_shell_that_is_named(run: Run, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: pytest.fail("no shell has to be guessed"))
    outcome = run("--show-completion", shell)
    assert (outcome.code, outcome.err) == (0, "")
    assert "_POINTILLIST_COMPLETE" in outcome.out


def test_completion_is_installed_for_a_shell_that_is_named(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("shellingham.detect_shell", lambda *_: pytest.fail("no shell has to be guessed"))
    assert run("--install-completion", "bash").code == 0
    assert "complete_bash" in (tmp_path / ".bash_completions" / "pointillist.sh").read_text()
    assert ".bash_completions/pointillist.sh" in (tmp_path / ".bashrc").read_text()


def test_completion_of_no_shell_or_an_unknown_one_is_refused(run: Run) -> None:
    refused_free(run, ["--show-completion"], 2, "--show-completion")
    refused_free(run, ["--show-completion", "tcsh"], 2, "tcsh", "bash")


def test_completion_answers_a_shell() -> None:
    words = {"COMP_WORDS": "pointillist re", "COMP_CWORD": "1", "_POINTILLIST_COMPLETE": "complete_bash"}
    ended = subprocess.run(
        [sys.executable, "-c", "from pointillist.cli import main; main()"],
        capture_output=True, text=True, check=False, env={**os.environ, **words},
    )  # fmt: skip
    assert ended.stdout.split() == ["release"]


def test_names_in_square_brackets_are_shown_as_they_are(run: Run) -> None:
    write("units.toml", 'name = "survey[/v1]"\n[columns."weight [kg]"]\nkind = "integer"\nmin = 0\nmax = 200\n')
    outcome = run("inspect", "units.toml")
    assert outcome.code == 0, outcome
    assert "weight [kg]" in outcome.shown
    assert "survey[/v1]" in outcome.shown
    outcome = run("release", "nowhere.csv", "--schema", "units.toml", "--epsilon", 1, "--plan")
    assert outcome.code == 0, outcome
    assert "survey[/v1]" in outcome.shown


@pytest.mark.parametrize("name", ["out [new]", "a[/b]"])
def test_paths_in_square_brackets_are_shown_as_they_are(run: Run, table: Path, name: str) -> None:
    output = Path(name) / "people.release"
    output.parent.mkdir(parents=True)
    outcome = run(*release_args("-o", output))
    assert outcome.code == 0, outcome
    assert f"Written to {output}." in outcome.shown


# ---------------------------------------------------------------- odd tables that must work


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("1,30,10,SECRETVALUE,yes", with_rule("job", 'out_of_domain = "other"')),
        ("1,NaN,10,cook,yes\n2,,10,cook,yes", with_rule("age", "missing = true")),
        ("1,30,nan,cook,yes\n2,30,NA,cook,yes", with_rule("pay", "missing = true")),
        ("1,30,inf,cook,yes\n2,30,-inf,cook,yes", {}),
        ("1,inf,10,cook,yes\n2,-inf,10,cook,yes", {}),
        ("1,987654321,-987654321,cook,yes", {}),
        ("1,30,10,,", {}),
    ],
    ids=["other", "missing-integer", "missing-real", "infinite-real", "infinite-integer", "out-of-bounds", "blank"],
)
def test_odd_values_that_the_schema_allows_are_released(run: Run, line: str, columns: dict[str, str]) -> None:
    write("people.csv", HEADER + rows() + line + "\n")
    write("people.toml", schema_text(**columns))
    assert run(*release_args("--quiet")).code == 0
    assert len(spends()) == 1


@pytest.mark.parametrize("person", ["", 'person = { column = "id", max_rows = 2 }'], ids=["rows", "people"])
@pytest.mark.parametrize(
    "content", [HEADER, HEADER.rstrip("\n"), HEADER + rows(1)], ids=["header-only", "header-without-newline", "one-row"]
)
def test_a_table_with_no_row_or_one_row_is_released(run: Run, content: str, person: str) -> None:
    """An empty table is a data set like any other: to refuse it would reveal that it is empty."""
    write("people.csv", content)
    write("people.toml", schema_text(top=person))
    outcome = run(*release_args())
    assert outcome.code == 0, outcome
    assert run("fit", "people.release", "-o", "people.model", "--quiet").code == 0
    assert run("sample", "people.model", "-n", 10, "-o", "made.csv", "--quiet").code == 0
    assert read("made.csv").num_rows == 10


def test_a_thousand_columns_fall_back_to_one_way_marginals(run: Run) -> None:
    names = [f"c{i}" for i in range(1000)]
    lines = [",".join("yes" if i * row % 3 else "no" for i in range(1000)) for row in range(50)]
    write("wide.csv", "\n".join([",".join(names), *lines]) + "\n")
    write(
        "wide.toml", 'name = "wide"\n' + "".join(f'[columns.{n}]\nkind = "boolean"\nmissing = false\n' for n in names)
    )
    outcome = run(*release_args("-o", "wide.release", data="wide.csv", schema="wide.toml"))
    assert outcome.code == 0
    assert "pairs of columns" not in outcome.shown
    assert run("fit", "wide.release", "-o", "wide.model", "--quiet").code == 0
    assert run("sample", "wide.model", "-n", 20, "-o", "made.parquet", "--quiet").code == 0
    assert read("made.parquet").shape == (20, 1000)
    assert "Only one-way marginals are measured: there are too many columns for all pairs." in outcome.shown


ODD_ROWS = {
    "hash": ("#a", ""),
    "hash-and-comment": ("#a", "#,,\n"),
    "quote": ("'a'", ""),
    "quote-and-double-quote": ("'a'", '999,1,"b"\n'),
    "doubled-quote": ('"a ""x"" b"', ""),
    "doubled-quote-and-backslash": ('"a ""x"" b"', '999,1,"\\"\n'),
    "plain-and-open-quote": ("a", "999,1,'b\n"),
    "plain-and-header": ("a", "id,age,job\n"),
}
"""How everyone's job is written, and a row that a reader which guesses the dialect may trip over."""


@pytest.mark.parametrize("way", ["plain", "person", "query"])
@pytest.mark.parametrize("case", ODD_ROWS)
def test_one_row_does_not_change_how_the_others_are_read(run: Run, case: str, way: str) -> None:
    """A row that looks like a comment, or is quoted in another way, may move the result by that one row only."""
    written, row = ODD_ROWS[case]
    job = written.strip('"').replace('""', '"')
    person = 'person = { column = "id", max_rows = 1 }' if way == "person" else ""
    query = ["--sql", "SELECT * FROM source"] if way == "query" else []
    facts = f'[columns.job]\nkind = "categorical"\ncategories = [{json.dumps(job)}]'
    write("people.toml", f'name = "people"\n{person}\n{facts}\n')
    write("people.csv", "id,age,job\n" + "".join(f"{i},30,{written}\n" for i in range(300)) + row)
    assert run(*release_args("--epsilon", 9, "--quiet", *query)).code == 0
    (counts,) = Release.load("people.release").measurements
    assert counts.values[0] / counts.grid.scale == pytest.approx(300, abs=20)


def test_windows_line_ends_are_read_whichever_way(run: Run) -> None:
    write("people.csv", (HEADER + rows(300)).replace("\n", "\r\n"))
    counts = []
    for top, query in (("", []), (PERSON, []), ("", ["--sql", "SELECT * FROM source"])):
        write("people.toml", schema_text(name=f"people {len(counts)}", top=top))
        assert run(*synth_args("--epsilon", 9, "--quiet", "--overwrite", *query)).code == 0
        counts.append(read("made.csv").num_rows)
    assert counts == pytest.approx([300, 300, 300], abs=30)


# ---------------------------------------------------------------- faults in the data

STRICT = {"job": with_rule("job", 'out_of_domain = "error"'), "age": with_rule("age", 'out_of_domain = "error"')}
FILLED = {name: with_rule(name, "missing = false") for name in COLUMNS}


@dataclass(frozen=True)
class Fault:
    """A table that must be refused."""

    name: str
    content: str | bytes
    words: tuple[str, ...]
    columns: dict[str, str] | None = None
    top: str = ""
    file: str = "people.csv"


def line(text: str) -> str:
    """The small table with one more line."""
    return f"{HEADER}{rows()}{text}\n"


MANY = HEADER + rows(600)
NOTES = f'{HEADER.strip()},note\n1,2,3,cook,yes,"{WORD}\n' + rows().replace("\n", ",none\n")
PACKED = gzip.compress((HEADER + rows()).encode())
DATA_FAULTS = [
    Fault("semicolons", line(f"1,2,3,{WORD},yes").replace(",", ";"), ("'age'", "semicolon", "--delimiter ';'")),
    Fault("tabs", line(f"1,2,3,{WORD},yes").replace(",", "\t"), ("'age'", "a tab", "--delimiter")),
    Fault(
        "no-header", f"{NUMBER},{WORD}\n" + rows(), ("'age'", "not in the table", "first line must name the columns")
    ),
    Fault("column-absent", line(f"1,2,3,{WORD},yes").replace("job", "work"), ("'job'", "not in the table", "rename")),
    Fault("column-twice", line("1,2,3,cook,yes").replace("id", "job"), ("columns 1 and 4", "the same name", "Rename")),
    Fault(
        "unlisted", line(f"1,2,3,{WORD},yes"), ("'job'", 'out_of_domain = "error"', "Add the category"), STRICT["job"]
    ),
    Fault("not-boolean", line(f"1,2,3,cook,{WORD}"), ("'member'", "is boolean", "true/false")),
    Fault("text-as-integer", line(f"1,{WORD},3,cook,yes"), ("'age'", "cannot be read as integer", "Correct the data")),
    Fault("text-as-real", line(f"1,2,{WORD},cook,yes"), ("'pay'", "cannot be read as real", "Correct the data")),
    Fault("text-as-integer-of-person", line(f"1,{WORD},3,cook,yes"), ("'age'", "as integer"), top=PERSON),
    Fault("above-max", line(f"1,{NUMBER},3,cook,yes"), ("'age'", "outside min and max", "Widen"), STRICT["age"]),
    Fault("infinite", line(f"1,inf,3,{WORD},yes"), ("'age'", "outside min and max", "Widen"), STRICT["age"]),
    Fault("nan", line(f"1,nan,3,{WORD},yes"), ("'age'", "missing = false", "Set missing = true"), FILLED["age"]),
    Fault("blank-real", line(f"1,2,,{WORD},yes"), ("'pay'", "missing = false", "Set missing = true"), FILLED["pay"]),
    Fault("blank-text", line(f"1,{NUMBER},3,,yes"), ("'job'", "missing = false", "or fill them"), FILLED["job"]),
    Fault("NA-text", line(f"1,{NUMBER},3,NA,yes"), ("'job'", "missing = false", "or fill them"), FILLED["job"]),
    Fault("blank-boolean", line(f"1,2,3,{WORD},"), ("'member'", "missing = false", "or fill them"), FILLED["member"]),
    Fault("too-many", line(f"1,2,3,cook,yes,{WORD}"), ("more or fewer values", "--delimiter")),
    Fault("too-few", line(f"1,{WORD}"), ("more or fewer values", "--delimiter")),
    Fault("too-many-of-person", line(f"1,2,3,cook,yes,{WORD}"), ("more or fewer values", "--delimiter"), top=PERSON),
    Fault("too-few-of-person", line(f"1,{WORD}"), ("more or fewer values", "--delimiter"), top=PERSON),
    Fault("open-quote", f'{HEADER}1,2,3,"{WORD},yes\n{rows()}', ("more or fewer values",)),
    Fault("open-quote-of-note", NOTES, ("double quote", "not closed")),
    Fault("latin-1", line(f"1,2,3,{WORD}é,yes").encode("latin-1"), ("not UTF-8", "Convert it")),
    Fault("latin-1-late", f"{MANY}1,2,3,{WORD}é,yes\n".encode("latin-1"), ("not UTF-8", "Convert it")),
    Fault("latin-1-of-person", f"{MANY}1,2,3,é{WORD},yes\n".encode("latin-1"), ("not UTF-8", "Convert"), top=PERSON),
    Fault("utf-16", line(f"1,2,3,{WORD},yes").encode("utf-16"), ("not UTF-8", "Convert it")),
    Fault("empty", "", ("'age'", "file is empty", "must name the columns")),
    Fault("blank-lines", "\n\n\n", ("'age'", "file is empty", "must name the columns")),
    Fault("no-person", HEADER.replace("id", "who") + rows(), ("'id'", "not in the table", "rename"), top=PERSON),
    Fault("unknown-ending", line(f"{WORD}"), ("people.xlsx", "ending is not known", ".csv"), file="people.xlsx"),
    Fault("not-gzip", line(f"{WORD}"), ("people.csv.gz", "cannot be read"), file="people.csv.gz"),
    Fault("short-gzip", PACKED[:-30], ("people.csv.gz", "cannot be read"), file="people.csv.gz"),
    Fault("bad-gzip", PACKED[:40] + b"SECRETVALUE" + PACKED[51:], ("people.csv.gz", "cannot"), file="people.csv.gz"),
    Fault("not-parquet", line(f"{WORD}"), ("people.parquet", "parquet", "whole"), file="people.parquet"),
    Fault("not-arrow", line(f"{WORD}"), ("people.arrow", "cannot be read", "whole"), file="people.arrow"),
]


@pytest.mark.parametrize("fault", DATA_FAULTS, ids=lambda fault: fault.name)
def test_release_refuses_faulty_data(run: Run, fault: Fault) -> None:
    write(fault.file, fault.content)
    write("people.toml", schema_text(top=fault.top, **(fault.columns or {})))
    refused_free(run, release_args(data=fault.file), 4, "Error: ", fault.file, *fault.words)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("options", [[], ["--sql", "SELECT * FROM source"]], ids=["person", "query"])
def test_a_refused_release_leaves_no_working_copy_of_the_rows(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[object]
) -> None:
    """Whoever counts a person's rows, or queries, may spill rows to a temporary folder: it goes with the command."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    write("people.csv", line(f"1,{WORD},3,cook,yes"))
    write("people.toml", schema_text(top="" if options else PERSON))
    refused_free(run, release_args(*options), 4, "'age'")
    left = list(scratch.rglob("*"))
    gc.collect()  # so that whatever the command forgot to close shows in this test, and not in a later one
    assert left == []


@pytest.mark.parametrize("command", ["synth", "draft"])
@pytest.mark.parametrize("name", ["too-many", "latin-1", "empty", "not-gzip", "unknown-ending"])
def test_other_commands_refuse_faulty_data_too(run: Run, command: str, name: str) -> None:
    fault = next(each for each in DATA_FAULTS if each.name == name)
    write(fault.file, fault.content)
    write("people.toml", schema_text())
    draft: list[object] = ["schema", "draft", fault.file, "-o", "draft.toml"]
    refused_free(run, synth_args(data=fault.file) if command == "synth" else draft, 4, fault.file)


@pytest.mark.parametrize("command", ["release", "synth", "draft", "query"])
def test_a_data_file_that_is_not_there_is_named(run: Run, command: str) -> None:
    write("people.toml", schema_text())
    args = {
        "release": release_args(),
        "query": release_args("--sql", "SELECT * FROM source"),
        "synth": synth_args(),
        "draft": ["schema", "draft", "people.csv", "-o", "draft.toml"],
    }[command]
    refused_free(run, args, 4, "people.csv", "no such file")


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("age", [WORD, "3"], "cannot be read as integer"),
        ("pay", [None, 2.5], "missing = false"),
        ("pay", [float("nan"), 2.5], "missing = false"),
        ("pay", [float("inf"), 2.5], "outside min and max"),
        ("job", [987654321, 1], "not one of its categories"),
        ("job", [None, "cook"], "missing = false"),
    ],
)
@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_release_refuses_faulty_columns_of_typed_files(
    run: Run, column: str, values: list[Any], words: str, ending: str
) -> None:
    content = {"age": [1, 2], "pay": [1.0, 2.0], "job": ["cook", "nurse"], "member": [True, False]} | {column: values}
    writer = parquet.write_table if ending == ".parquet" else feather.write_feather
    writer(pa.table(content), f"people{ending}")
    rules = 'missing = false\nout_of_domain = "error"'
    write("people.toml", schema_text(**with_rule("age", rules), **with_rule("pay", rules), **with_rule("job", rules)))
    refused_free(run, release_args(data=f"people{ending}"), 4, f"people{ending}", f"'{column}'", words)


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT '{WORD}'::INTEGER AS age, pay, job, member FROM source",
        "SELECT nothing FROM source",
        "SELEKT",
        "",
        "SELECT CAST(job AS INTEGER) AS age, pay, job, member FROM source",
    ],
)
def test_a_query_that_fails_is_refused_without_its_values(run: Run, query: str) -> None:
    write("people.csv", line(f"1,2,3,{WORD},yes"))
    write("people.toml", schema_text())
    refused_free(run, release_args("--sql", query), 4, "people.csv", "query", "DuckDB")


def test_a_refused_release_leaves_an_earlier_one_alone(run: Run, made: Made) -> None:
    write("people.csv", line(f"1,{WORD},3,cook,yes"))
    write("people.toml", schema_text())
    refused_free(run, release_args("--overwrite"), 4, "'age'")
    assert Path("people.release").read_bytes() == made.release


def test_data_that_go_bad_between_two_passes_keep_the_spend_and_say_so(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = releasing.add_noise

    def spoil(*args: Any, **options: Any) -> Any:
        write(table, line(f"1,{WORD},3,cook,yes"))
        return whole(*args, **options)

    monkeypatch.setattr(releasing, "add_noise", spoil)
    outcome = run(*release_args())
    assert outcome.code == 4
    assert "'age'" in outcome.shown
    assert "The spend was already recorded, and counts" in outcome.shown
    assert len(spends()) == 1
    assert {path.name for path in Path().iterdir()} == {"people.csv", "people.toml"}


# ---------------------------------------------------------------- drafts of odd tables


@pytest.mark.parametrize(
    "content",
    [
        "name\n" + "".join(f"person {i}\n" for i in range(100)),
        "number\n" + "".join(f"{10**17 + i}\n" for i in range(5)),
        "number\n-5\n18446744073709551615\n3\n",
        "number\ninf\n-inf\ninf\n",
        "gap\nNA\nNA\n",
        "word\nother\n(other)\n((other))\n",
    ],
    ids=["only-names", "beyond-2^53", "beyond-2^63", "only-infinite", "only-missing", "other-labels"],
)
def test_draft_of_an_odd_table_is_written_or_refused_with_a_reason(run: Run, content: str) -> None:
    write("odd.csv", content)
    outcome = run("schema", "draft", "odd.csv", "-o", "odd.toml", "--quiet")
    assert outcome.code in (0, 4), outcome
    if outcome.code == 4:
        assert "odd.csv" in outcome.err
        assert not Path("odd.toml").exists()


@pytest.mark.parametrize("value", [float("inf"), float("nan"), None, 1e300], ids=str)
def test_draft_of_an_odd_column_is_written(run: Run, value: float | None) -> None:
    parquet.write_table(pa.table({"odd": pa.array([value] * 3, pa.float64()), "even": [1, 2, 3]}), "odd.parquet")
    outcome = run("schema", "draft", "odd.parquet", "-o", "odd.toml", "--quiet")
    assert outcome.code == 0, outcome
    assert "[columns.odd]" in Path("odd.toml").read_text()


def test_draft_refuses_a_name_that_no_schema_may_have(run: Run, table: Path) -> None:
    refused_free(run, ["schema", "draft", table, "-o", "draft.toml", "--name", "x" * 201], 2, "name", "200")


def test_draft_does_not_take_a_row_for_the_header(run: Run) -> None:
    """A line with more values than the header is a fault of that line, and never becomes the header."""
    write("odd.csv", f"a,b\n1,2\n1,2,3,{WORD}\n4,5,6,7\n8,9,10,11\n")
    refused_free(run, ["schema", "draft", "odd.csv", "-o", "odd.toml"], 4, "odd.csv", "more or fewer values")


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--person", "owner"], 4, "'owner'"),
        (["--person", "id", "--max-rows", 0], 2, "--max-rows must be at least 1"),
        (["--delimiter", ";;"], 2, "delimiter must be one character"),
    ],
)
def test_draft_refuses_wrong_options(run: Run, table: Path, options: list[object], code: int, words: str) -> None:
    refused_free(run, ["schema", "draft", table, "-o", "draft.toml", *options], code, words)


def test_draft_refuses_a_table_without_rows(run: Run) -> None:
    write("people.csv", HEADER)
    refused_free(run, ["schema", "draft", "people.csv", "-o", "draft.toml"], 4, "people.csv", "no rows")


# ---------------------------------------------------------------- faults in the schema

ONE = 'name = "people"\n[columns.age]\n'
SCHEMA_FAULTS: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    "not-toml": ("name = [\n", ("not valid TOML",)),
    "prose": ("This is not a schema.", ("not valid TOML", "line 1")),
    "not-text": (b"\xff\xfe\x00", ("not a text file", "UTF-8")),
    "empty": ("", ("name: is required", "columns: is required")),
    "unknown-kind": (f'{ONE}kind = "colour"', ("'age'", "kind 'colour' is not known", "categorical, ordinal")),
    "no-kind": (f"{ONE}min = 0", ("'age'", "kind is not given", "categorical, ordinal")),
    "unknown-setting": (f'{ONE}kind = "boolean"\ncolor = 1', ("'age'", "color", "check its spelling")),
    "no-max": (f'{ONE}kind = "integer"\nmin = 0', ("'age'", "max: is required")),
    "min-over-max": (f'{ONE}kind = "integer"\nmin = 9\nmax = 2', ("'age'", "min 9 is not below max 2")),
    "log-of-zero": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nscale = "log"', ("'age'", "needs min > 0")),
    "no-categories": (f'{ONE}kind = "categorical"\ncategories = []', ("'age'", "list every category")),
    "mixed-categories": (f'{ONE}kind = "ordinal"\ncategories = ["a", 1]', ("'age'", "not a mixture")),
    "all-ignored": (f'{ONE}kind = "ignore"', ("no column is left to measure",)),
    "format-99": (f'format = 99\n{ONE}kind = "boolean"', ("format 99 is not known", "Upgrade")),
    "person-measured": (f'person = {{ column = "age", max_rows = 1 }}\n{ONE}kind = "boolean"', ("'age'", '"ignore"')),
    "person-no-rows": (f'person = {{ column = "id", max_rows = 0 }}\n{ONE}kind = "boolean"', ("person.max_rows",)),
    "nan-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [nan]', ("'age'", "special", "not finite")),
    "inf-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [inf]', ("'age'", "special", "not finite")),
    "list-special": (f'{ONE}kind = "real"\nmin = 0\nmax = 2\nspecial = [[1]]', ("'age'", "special")),
}


@pytest.mark.parametrize("fault", SCHEMA_FAULTS)
def test_release_refuses_a_faulty_schema(run: Run, table: Path, fault: str) -> None:
    content, words = SCHEMA_FAULTS[fault]
    write("people.toml", content)
    refused_free(run, release_args(), 3, "people.toml", *words)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("fault", ["not-toml", "unknown-kind", "empty"])
def test_plan_synth_and_inspect_refuse_a_faulty_schema_too(run: Run, table: Path, fault: str) -> None:
    content, words = SCHEMA_FAULTS[fault]
    write("people.toml", content)
    commands: list[list[object]] = [release_args("--plan"), synth_args(), ["inspect", "people.toml"]]
    for args in commands:
        refused_free(run, args, 3, "people.toml", *words)


def test_a_schema_file_that_is_not_there_is_named(run: Run, table: Path) -> None:
    advice = ("nowhere.toml", "no such schema file", "pointillist schema draft")
    refused_free(run, release_args(schema="nowhere.toml"), 3, *advice)
    refused_free(run, ["inspect", "nowhere.toml"], 3, *advice)


def test_a_schema_that_is_a_folder_is_refused(run: Run, table: Path) -> None:
    Path("folder.toml").mkdir()
    refused_free(run, release_args(schema="folder.toml"), 3, "folder.toml", "cannot be read")


def test_several_targets_are_named_one_by_one(run: Run, table: Path) -> None:
    outcome = run(*release_args("--target", "job", "--target", "member", "--plan", "--json"))
    assert outcome.code == 0
    assert json.loads(outcome.out)["targets"] == ["job", "member"]


def test_a_target_that_is_not_in_the_schema_is_refused(run: Run, table: Path) -> None:
    for args in (release_args(), release_args("--plan"), synth_args()):
        refused_free(
            run, [*args, "--target", "income"], 3, "target 'income'", "Measured columns: age, pay, job, member"
        )


# ---------------------------------------------------------------- wrong usage


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "magic"], ("method 'magic' is not known", "mosaic")),
        (["--neighbours", "both"], ("neighbours 'both' is not known", "add-remove or replace-one")),
        (["--delimiter", ""], ("delimiter must be one character",)),
        (["--delimiter", "ab"], ("delimiter must be one character",)),
        (["--epsilon", "much"], ("--epsilon", "valid number")),
        (["--colour", "red"], ("No such option", "--colour")),
    ],
    ids=["method", "neighbours", "no-delimiter", "long-delimiter", "epsilon", "option"],
)
def test_wrong_options_are_refused(run: Run, table: Path, options: list[object], words: tuple[str, ...]) -> None:
    refused_free(run, release_args(*options), 2, *words)
    refused_free(run, synth_args(*options), 2, *words)
    assert not Ledger().path.exists()


@pytest.mark.parametrize("delimiter", ["§", "\0"], ids=["not-ascii", "zero"])
def test_a_delimiter_that_no_reader_takes_is_refused(run: Run, delimiter: str) -> None:
    write("one.csv", "age\n1\n2\n")
    write("one.toml", f'name = "one"\n[columns.age]\n{COLUMNS["age"]}\n')
    refused_free(run, release_args("--delimiter", delimiter, data="one.csv", schema="one.toml"), 2, "delimiter")


@pytest.mark.parametrize("missing", ["--schema", "--epsilon", "-o"])
def test_an_option_that_is_needed_is_named(run: Run, table: Path, missing: str) -> None:
    args = release_args()
    del args[args.index(missing) : args.index(missing) + 2]
    refused_free(run, args, 2, missing)


@pytest.mark.parametrize("args", [[], ["schema"]], ids=["nothing", "schema"])
def test_a_command_that_is_not_complete_shows_help(run: Run, args: list[object]) -> None:
    refused_free(run, args, 2, "Usage: pointillist", "--help")


def test_an_unknown_command_is_refused(run: Run) -> None:
    refused_free(run, ["paint"], 2, "No such command 'paint'")


@pytest.mark.parametrize("count", [0, -5])
def test_sampling_fewer_than_one_row_is_refused(run: Run, table: Path, made: Made, count: int) -> None:
    words = ("-n / --rows must be at least 1", str(count))
    refused_free(run, ["sample", "people.model", "-o", "made.csv", "-n", count], 2, *words)
    refused_free(run, synth_args("-n", count), 2, *words)


@pytest.mark.parametrize("command", ["fit", "sample", "synth"])
def test_a_negative_seed_is_refused_before_anything_is_spent(run: Run, table: Path, made: Made, command: str) -> None:
    args: list[object] = {
        "fit": ["fit", "people.release", "-o", "new.model"],
        "sample": ["sample", "people.model", "-o", "made.csv"],
        "synth": synth_args(),
    }[command]
    refused_free(run, [*args, "--seed", -1], 2, "seed")


@pytest.mark.parametrize("name", ["made.xlsx", "made", "made.csv.zip"])
def test_an_unknown_output_ending_is_refused(run: Run, table: Path, made: Made, name: str) -> None:
    words = (name, "ending is not known", ".csv.gz", ".parquet")
    refused_free(run, ["sample", "people.model", "-o", name], 2, *words)
    refused_free(run, synth_args("-o", name), 2, *words)


WRITERS: dict[str, Callable[[str], list[object]]] = {
    "draft": lambda path: ["schema", "draft", "people.csv", "-o", path],
    "release": lambda path: release_args("-o", path),
    "fit": lambda path: ["fit", "people.release", "-o", path],
    "sample": lambda path: ["sample", "people.model", "-o", path],
    "synth": lambda path: synth_args("-o", path),
    "synth-release": lambda path: synth_args("--release", path),
}


@pytest.mark.parametrize("command", WRITERS)
def test_an_output_folder_that_is_not_there_is_named(run: Run, table: Path, made: Made, command: str) -> None:
    path = "nowhere/made.csv"
    refused_free(run, WRITERS[command](path), 6, path, "cannot be written", "folder does not exist")


@pytest.mark.parametrize("command", WRITERS)
def test_an_output_that_is_a_folder_is_refused(run: Run, table: Path, made: Made, command: str) -> None:
    Path("folder.csv").mkdir()
    refused_free(run, WRITERS[command]("folder.csv"), 6, "folder.csv", "is a folder", "Name a file")


@pytest.mark.parametrize(
    "args",
    [
        ["schema", "draft", "people.csv", "-o", "people.csv"],
        release_args("-o", "people.csv"),
        release_args("-o", "people.toml"),
        ["fit", "people.release", "-o", "people.release"],
        synth_args("-o", "people.csv"),
        synth_args("--release", "made.csv"),
    ],
    ids=["draft-data", "release-data", "release-schema", "fit-release", "synth-data", "synth-release"],
)
def test_no_command_writes_over_what_it_reads_or_keeps(run: Run, table: Path, made: Made, args: list[object]) -> None:
    files = snapshot()
    outcome = run(*args)
    assert outcome.code == 2, outcome
    assert snapshot() == files
    assert spends() == []


# ---------------------------------------------------------------- the last look


@pytest.fixture
def vouched(table: Path) -> Path:
    """The small table's schema, with facts that were read from the data and marked as reviewed."""
    marks = {"age": 'read_from_data = ["min", "max"]', "job": 'read_from_data = ["categories"]'}
    columns = {name: with_rule(name, rule)[name] for name, rule in marks.items()}
    return write("people.toml", schema_text(top='reviewed = true\nrows = 100\nread_from_data = ["rows"]', **columns))


@pytest.mark.parametrize("args", [release_args, synth_args], ids=["release", "synth"])
def test_facts_from_the_data_are_not_published_where_nobody_can_be_asked(
    run: Run, vouched: Path, args: Callable[..., list[object]]
) -> None:
    words = ("people.toml", "the table: rows", "age: min, max", "job: categories", "--yes", "read_from_data")
    outcome = refused_free(run, args(), 3, *words)
    assert "cook" not in outcome.shown  # an unpublished value does not belong into a log
    assert run(*args("--yes", "--quiet")).code == 0
    assert len(spends()) == 1


def test_facts_from_the_data_are_shown_once_more(vouched: Path) -> None:
    outcome = at_a_terminal(*release_args("--json"), answer="y\n")
    assert outcome.code == 0, outcome
    for line in ("the table: rows = 100", "age: min = 0; max = 120", "job: categories = cook, nurse, smith"):
        assert line in outcome.err
    assert json.loads(outcome.out)["release"] == "people.release"
    assert len(spends()) == 1


@pytest.mark.parametrize("answer", ["n\n", "\n"])
def test_facts_that_not_everyone_may_know_are_not_published(vouched: Path, answer: str) -> None:
    files = snapshot()
    outcome = at_a_terminal(*release_args(), answer=answer)
    assert outcome.code == 3
    assert "nothing was spent" in outcome.err
    assert snapshot() == files


def test_a_schema_without_marks_and_a_plan_ask_nothing(run: Run, vouched: Path) -> None:
    assert run(*release_args("--plan")).code == 0
    write("people.toml", schema_text())
    outcome = at_a_terminal(*release_args("--quiet"), answer="")
    assert (outcome.code, outcome.err) == (0, "")


# ---------------------------------------------------------------- no space


def test_release_on_a_full_disk_is_refused_before_anything_is_spent(table: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))"
    files = snapshot()
    outcome = outside(*release_args(), before=limit)
    assert outcome.code == 6
    for words in ("people.release", "cannot be written", "File too large", "needs 0.", "Free some space"):
        assert words in outcome.shown
    assert snapshot() == files
    assert spends() == []


def test_sample_on_a_full_disk_leaves_nothing(run: Run, made: Made) -> None:
    with largest_file(100_000):
        refused_free(run, ["sample", "people.model", "-o", "made.csv", "-n", 20_000], 6, "made.csv", "Free some space")


def test_draft_on_a_full_disk_leaves_nothing(run: Run, table: Path) -> None:
    with largest_file(500):
        refused_free(run, ["schema", "draft", table, "-o", "draft.toml"], 6, "draft.toml", "Free some space")


def test_fit_on_a_full_disk_says_how_much_it_needs(run: Run, made: Made) -> None:
    with largest_file(1000):
        outcome = refused_free(run, ["fit", "people.release", "-o", "new.model"], 6, "new.model", "Free some space")
    assert "0.0 MB" not in outcome.shown


def test_synth_keeps_the_release_if_the_table_does_not_fit(run: Run, table: Path) -> None:
    with largest_file(600_000):
        outcome = run(*synth_args("-n", 60_000))
    assert outcome.code == 6
    for words in ("made.csv", "Free some space", "The release is safe in made.release", "pointillist fit made.release"):
        assert words in outcome.shown
    assert {path.name for path in Path().iterdir()} == {"people.csv", "people.toml", "made.release"}
    assert [spend.state for spend in spends()] == [State.DONE]
    assert run("fit", "made.release", "-o", "people.model", "--quiet").code == 0


# ---------------------------------------------------------------- damaged and mistaken files

READERS: dict[str, list[object]] = {
    "fit": ["fit", "people.release", "-o", "new.model"],
    "sample": ["sample", "people.model", "-o", "made.csv"],
    "inspect-release": ["inspect", "people.release"],
    "inspect-model": ["inspect", "people.model", "--json"],
}


def its_file(command: str) -> Path:
    """The file that a command of `READERS` reads."""
    return Path(str(READERS[command][1]))


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("kept", [0, 1, 0.5, 0.99], ids=["nothing", "a byte", "half", "most"])
def test_a_file_that_was_cut_short_is_refused(run: Run, made: Made, command: str, kept: float) -> None:
    file = its_file(command)
    content = file.read_bytes()
    write(file, content[: kept if isinstance(kept, int) else int(len(content) * kept)])
    refused_free(run, READERS[command], 6, file.name, "cut short", "Get a fresh copy")


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("member", ["facts.json", "arrays.safetensors"])
def test_a_file_with_flipped_bytes_is_refused(run: Run, made: Made, command: str, member: str) -> None:
    file = its_file(command)
    with zipfile.ZipFile(file) as archive:
        info = archive.getinfo(member)
    content = bytearray(file.read_bytes())
    middle = info.header_offset + 30 + len(member) + info.compress_size // 2
    for place in range(middle, middle + 8):  # one flipped bit can, now and then, unpack to the very same content
        content[place] ^= 0xFF
    write(file, bytes(content))
    refused_free(run, READERS[command], 6, file.name, member, "damaged", "Get a fresh copy")


@pytest.mark.parametrize("mask", [0x01, 0xFF])
def test_damage_to_the_table_of_contents_is_never_a_fault_of_ours(run: Run, made: Made, mask: int) -> None:
    with zipfile.ZipFile("people.release") as archive:
        start = archive.start_dir
    size = len(made.release)
    wrong = []
    for place in (*range(start, start + 59), *range(size - 22, size)):  # the first entry, and the end
        content = bytearray(made.release)
        content[place] ^= mask
        write("people.release", bytes(content))
        outcome = run("inspect", "people.release", "--json")
        if outcome.code not in (0, 6):  # some bytes, such as the time of a member, mean nothing to us
            wrong.append((place - start, outcome.err))
    assert wrong == []


@pytest.mark.parametrize("member", ["manifest.json", "facts.json", "arrays.safetensors"])
@pytest.mark.parametrize("method", [12, 14, 99], ids=["bzip2", "lzma", "unknown"])
def test_a_member_that_claims_another_compression_is_refused(run: Run, made: Made, method: int, member: str) -> None:
    for command in ("inspect-release", "inspect-model"):
        file = its_file(command)
        content = bytearray(file.read_bytes())
        content[content.rindex(member.encode()) - 36] = method  # in the table of contents, names come last
        write(file, bytes(content))
        refused_free(run, READERS[command], 6, file.name, "damaged", "Get a fresh copy")


def test_a_member_with_broken_lzma_is_refused(run: Run) -> None:
    with zipfile.ZipFile("people.release", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("manifest.json", b"\x09\x04\x05\x00" + b"\xff" * 60)
    content = bytearray(Path("people.release").read_bytes())
    content[8] = content[content.rindex(b"manifest.json") - 36] = zipfile.ZIP_LZMA
    write("people.release", bytes(content))
    refused_free(run, ["inspect", "people.release"], 6, "people.release", "damaged", "Get a fresh copy")


def rewritten(content: bytes, changes: dict[str, Any]) -> bytes:
    """An artefact with some facts of its manifest changed."""
    before, after = write("before.zip", content), Path("after.zip")
    with zipfile.ZipFile(before) as source, zipfile.ZipFile(after, "w") as target:
        for name in source.namelist():
            member = source.read(name)
            if name == "manifest.json":
                member = json.dumps(json.loads(member) | changes).encode()
            target.writestr(name, member)
    changed = after.read_bytes()
    before.unlink()
    after.unlink()
    return changed


@pytest.mark.parametrize("command", READERS)
@pytest.mark.parametrize("version", [0, 99, "next"])
def test_an_unknown_format_version_is_refused(run: Run, made: Made, command: str, version: object) -> None:
    file = its_file(command)
    write(file, rewritten(file.read_bytes(), {"format": version}))
    refused_free(run, READERS[command], 6, file.name, f"format {version!r} is not known", "Upgrade pointillist")


@pytest.mark.parametrize("changes", [{"kind": 3}, {"sha256": []}, {"sha256": {}}], ids=["kind", "list", "no-hashes"])
def test_a_manifest_without_sense_is_refused(run: Run, made: Made, changes: dict[str, Any]) -> None:
    write("people.release", rewritten(made.release, changes))
    refused_free(run, READERS["fit"], 6, "people.release")


def test_an_edited_fact_is_refused(run: Run, made: Made) -> None:
    with zipfile.ZipFile("people.release") as source:
        members = {name: source.read(name) for name in source.namelist()}
    members["facts.json"] = members["facts.json"].replace(b'"epsilon": 1.0', b'"epsilon": 0.1')
    with zipfile.ZipFile("people.release", "w") as target:
        for name, content in members.items():
            target.writestr(name, content)
    refused_free(run, READERS["fit"], 6, "people.release", "facts.json does not match its hash", "Get a fresh copy")


def test_a_release_is_not_a_model_and_the_other_way_round(run: Run, made: Made) -> None:
    sample: list[object] = ["sample", "people.release", "-o", "made.csv"]
    refused_free(run, sample, 6, "people.release", "is a release file, where a model file is needed")
    fit: list[object] = ["fit", "people.model", "-o", "new.model"]
    refused_free(run, fit, 6, "people.model", "is a model file, where a release file is needed")


def test_a_table_is_neither_a_release_nor_a_model(run: Run) -> None:
    write("people.csv", line(f"1,2,3,{WORD},yes"))
    commands: list[list[object]] = [
        ["fit", "people.csv", "-o", "new.model"],
        ["sample", "people.csv", "-o", "made.csv"],
        ["inspect", "people.csv"],
    ]
    for args in commands:
        refused_free(run, args, 6, "people.csv", "not a pointillist file")


def test_a_zip_of_something_else_is_refused(run: Run) -> None:
    with zipfile.ZipFile("people.release", "w") as archive:
        archive.writestr("people.csv", line(f"1,2,3,{WORD},yes"))
    refused_free(run, READERS["fit"], 6, "people.release", "manifest.json is not in it")


def test_an_artefact_of_another_kind_cannot_be_shown(run: Run, made: Made) -> None:
    write("people.release", rewritten(made.release, {"kind": "painting"}))
    refused_free(run, ["inspect", "people.release"], 6, "people.release", "is a painting file")


@pytest.mark.parametrize("command", READERS)
def test_a_release_or_model_that_is_not_there_is_named(run: Run, command: str) -> None:
    refused_free(run, READERS[command], 6, its_file(command).name, "no such file")


# ---------------------------------------------------------------- the budget


@pytest.mark.parametrize("command", ["release", "plan", "synth", "cap"])
@pytest.mark.parametrize(
    ("option", "value"),
    [("epsilon", v) for v in ("0", "-1", "nan", "inf", "-inf")]
    + [("delta", v) for v in ("0", "1", "2", "-0.1", "nan")],
)
def test_a_budget_that_promises_nothing_is_refused(
    run: Run, table: Path, command: str, option: str, value: str
) -> None:
    args: list[object] = {
        "release": release_args(),
        "plan": release_args("--plan"),
        "synth": synth_args(),
        "cap": ["ledger", "cap", "people", "--epsilon", 1],
    }[command]
    rule = "epsilon must be a number above 0" if option == "epsilon" else "delta must lie between 0 and 1"
    refused_free(run, [*args, f"--{option}", value], 5, rule, str(float(value)))
    assert not Ledger().path.exists()


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("1e-9", "1e-9"), ("1", "1e-300"), ("1e-300", "1e-5"), ("1e9", "1e-5"), ("1e308", "0.5")]
)
def test_a_budget_that_no_noise_can_keep_is_refused(run: Run, table: Path, epsilon: str, delta: str) -> None:
    outcome = refused_free(run, release_args("--epsilon", epsilon, "--delta", delta), 5, "Error: ")
    assert re.search(r"Choose|choices", outcome.shown)


def test_a_release_over_the_cap_is_refused(run: Run, table: Path) -> None:
    assert run("ledger", "cap", "people", "--epsilon", 1.5, "--quiet").code == 0
    words = ("'people'", "over its cap of ε = 1.5", "smaller epsilon", "pointillist ledger cap people")
    refused_free(run, release_args("--epsilon", 2), 5, *words, "spent so far: ε = 0")
    refused_free(run, synth_args("--epsilon", 2), 5, *words)
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    refused(run, release_args("--epsilon", 1.4), 5, *words, "spent so far: ε = 1")
    assert len(spends()) == 1
    assert run("ledger", "cap", "people", "--epsilon", 3, "--quiet").code == 0
    assert run(*release_args("--quiet")).code == 0
    assert len(spends()) == 2


def test_a_cap_equal_to_the_budget_admits_it(run: Run, table: Path) -> None:
    assert run("ledger", "cap", "people", "--epsilon", 1, "--quiet").code == 0
    assert run(*release_args("--quiet")).code == 0
    assert len(spends()) == 1


def test_the_default_cap_holds_where_none_was_set(run: Run, table: Path) -> None:
    refused_free(run, release_args("--epsilon", 11), 5, "over its cap of ε = 10")


def test_two_kinds_of_neighbours_do_not_share_an_account(run: Run, table: Path) -> None:
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    words = ("'people'", "add-remove", "replace-one", "Use --neighbours add-remove")
    refused(run, release_args("--neighbours", "replace-one"), 5, *words)
    assert len(spends()) == 1


def test_two_privacy_units_do_not_share_an_account(run: Run, table: Path) -> None:
    assert run(*release_args("-o", "first.release", "--quiet")).code == 0
    write("people.toml", schema_text(top=PERSON))
    refused(run, release_args(), 5, "'people'", "another privacy unit", "person settings")
    assert len(spends()) == 1


@pytest.mark.parametrize(
    "args",
    [release_args(), synth_args(), ["ledger"], ["ledger", "--json"], ["ledger", "cap", "people", "--epsilon", 1]],
    ids=["release", "synth", "ledger", "json", "cap"],
)
@pytest.mark.parametrize("damage", ["garbage", "folder"])
def test_a_ledger_that_cannot_be_used_is_refused(run: Run, table: Path, args: list[object], damage: str) -> None:
    ledger = Ledger().path
    ledger.parent.mkdir()
    if damage == "garbage":
        write(ledger, "this is no ledger " * 500)
    else:
        ledger.mkdir()
    words = "cannot be used" if damage == "garbage" else "is a folder"
    assert "nother" not in refused(run, args, 5, str(ledger), f"the ledger {words}").err
    assert ledger.is_dir() or ledger.read_text() == "this is no ledger " * 500


def test_a_database_that_is_no_ledger_is_refused(run: Run, table: Path) -> None:
    ledger = Ledger().path
    ledger.parent.mkdir()
    with contextlib.closing(sqlite3.connect(ledger)) as db:
        db.execute("CREATE TABLE account (dataset TEXT, colour TEXT)")
        db.commit()
    refused(run, release_args(), 5, str(ledger), "the ledger is another program's database", "backup")


@pytest.mark.parametrize("name", [":memory:", "file:ledger.sqlite"])
@pytest.mark.parametrize("args", [release_args, lambda *a: ["ledger", *a]], ids=["release", "ledger"])
def test_a_ledger_that_is_no_file_is_refused(
    run: Run, table: Path, args: Callable[..., list[object]], name: str
) -> None:
    refused_free(run, args("--ledger", name), 2, name, "name a plain file")


def test_a_ledger_that_is_a_loop_is_refused(run: Run, table: Path) -> None:
    Path("loop").symlink_to("loop")
    refused_free(run, release_args("--ledger", "loop"), 5, "loop: the ledger cannot be used")


FULL = """
import resource
from pointillist import artefact
whole = artefact.Pending.commit
def commit(self, content):
    whole(self, content)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
artefact.Pending.commit = commit
"""


def test_a_disk_that_fills_up_behind_the_release(table: Path) -> None:
    outcome = outside(*release_args(), before=FULL)
    assert outcome.code == 5
    for words in ("safe in people.release", "ε = 1, δ = 1e-5 was spent on 'people', and counts", "cannot be used"):
        assert words in outcome.shown
    assert "rollback" not in outcome.shown
    assert [spend.release for spend in spends()] == [Release.load("people.release").id]


def test_a_ledger_that_breaks_after_the_spend_is_not_called_unspent(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Noise was drawn and a release written: whatever the message says, it may not say that nothing was spent."""
    whole, ledger = releasing.add_noise, Ledger().path

    def spoil(*args: Any, **options: Any) -> Any:
        write(ledger, "this is no ledger " * 500)
        return whole(*args, **options)

    monkeypatch.setattr(releasing, "add_noise", spoil)
    outcome = run(*release_args())
    assert outcome.code == 5
    assert str(ledger) in outcome.shown
    assert "Nothing was spent" not in outcome.shown


# ---------------------------------------------------------------- faults of ours


def fail(*args: Any, **options: Any) -> Any:
    """A fault whose message quotes a private value."""
    raise ValueError(WORD)


def on_call(number: int, whole: Callable[..., Any]) -> Callable[..., Any]:
    """`whole`, but for call `number`, which fails."""
    calls = itertools.count(1)

    def call(*args: Any, **options: Any) -> Any:
        return fail() if next(calls) == number else whole(*args, **options)

    return call


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("args", [release_args(), synth_args()], ids=["release", "synth"])
def test_a_fault_while_noise_is_drawn_counts_as_spent(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, args: list[object], number: int
) -> None:
    monkeypatch.setattr(releasing, "add_noise", on_call(number, releasing.add_noise))
    outcome = refused(run, args, 70, "a fault in pointillist", "ValueError at test_cli.py", "Please report it")
    assert "leave the data out" in outcome.err
    assert [spend.state for spend in spends()] == [State.OPEN]
    assert "open: counted as spent" in run("ledger").shown


@pytest.mark.parametrize("number", [1, 2])
def test_a_fault_while_rows_are_read_spends_nothing_before_noise_is_drawn(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setattr(releasing, "embed", on_call(number, releasing.embed))
    refused(run, release_args(), 70, "a fault in pointillist", "ValueError", "Please report it")
    assert len(spends()) == number - 1  # once noise was drawn, the spend stands


@pytest.mark.parametrize("error", [KeyError, RuntimeError, MemoryError, AssertionError, UnicodeError, RecursionError])
def test_every_kind_of_fault_keeps_its_message_to_itself(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail_so(*args: Any, **options: Any) -> Any:
        raise error(WORD) from ValueError(NUMBER)

    monkeypatch.setattr(releasing, "add_noise", fail_so)
    refused(run, release_args(), 70, f"a fault in pointillist ({error.__name__} at test_cli.py")
    assert len(spends()) == 1


def test_an_interrupt_ends_quietly_and_a_spend_stays(run: Run, table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*args: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(releasing, "add_noise", interrupt)
    refused(run, release_args(), 130)
    assert [spend.state for spend in spends()] == [State.OPEN]


# ---------------------------------------------------------------- as a process of its own


def test_the_installed_command_works(table: Path) -> None:
    command = shutil.which("pointillist", path=str(Path(sys.executable).parent))
    assert command is not None
    ended = subprocess.run(
        [command, *map(str, release_args("--json"))], capture_output=True, text=True, check=False, timeout=120
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert json.loads(ended.stdout)["release"] == "people.release"
    assert len(spends()) == 1


def test_a_mistake_ends_a_process_with_its_code(table: Path) -> None:
    write(table, line(f"1,2,3,cook,yes,{WORD}"))
    files = snapshot()
    outcome = outside(*release_args("--quiet"))
    assert (outcome.code, outcome.out) == (4, "")
    assert outcome.err.startswith("Error: people.csv: some line has more or fewer values")
    assert snapshot() == files
    assert spends() == []


def test_a_fault_of_ours_ends_a_process_without_a_traceback(table: Path) -> None:
    broken = (
        "import pointillist.curator.releasing as releasing\n"
        "def fail(*args, **options): raise ValueError('SECRETVALUE')\n"
        "releasing.add_noise = fail\n"
    )
    files = snapshot()
    outcome = outside(*release_args("--quiet"), before=broken)
    assert (outcome.code, outcome.out) == (70, "")
    assert "a fault in pointillist (ValueError" in outcome.err
    assert snapshot() == files
    assert [spend.state for spend in spends()] == [State.OPEN]


def test_a_reader_that_goes_away_is_no_fault(made: Made) -> None:
    script = "from pointillist.cli import main\nmain()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "inspect", "people.release", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        errors = process.stderr.read().decode()
    assert process.wait(timeout=120) == 1
    assert errors == ""
