"""`pointillist release`: its plan, its last look, and every kind of file."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.csv as pacsv
import pytest
from pyarrow import feather, parquet
from tests.fixtures.command_line import (
    NUMBER,
    WORD,
    Run,
    at_a_terminal,
    refused_free,
    release_args,
    schema_text,
    snapshot,
    spends,
    synth_args,
    with_rule,
    write,
)

from pointillist.privacy.ledger import Ledger, State


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
    assert "pass 3 of 3" in outcome.err
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
    assert len(facts["rounds"]) == 2  # so few rows: tables of pairs would drown, and all are looked at in outline
    assert snapshot() == before
    assert not Ledger().path.exists()


def test_plan_does_not_touch_the_data(run: Run, table: Path) -> None:
    write(table, f"{WORD}\n{NUMBER}\n")
    assert run(*release_args("--plan")).code == 0
    assert not Path("people.release").exists()
    assert not Ledger().path.exists()


def test_several_targets_are_named_one_by_one(run: Run, table: Path) -> None:
    outcome = run(*release_args("--target", "job", "--target", "member", "--plan", "--json"))
    assert outcome.code == 0
    assert json.loads(outcome.out)["targets"] == ["job", "member"]


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


def test_release_takes_an_engine_a_master_and_threads(run: Run, table: Path) -> None:
    refused_free(run, release_args("--engine", "abacus"), 2, "engine 'abacus' is not known", "spark, dask, local")
    refused_free(run, release_args("--threads", "0"), 2, "--threads must be at least 1")
    refused_free(run, release_args("--master", "spark://host"), 2, "--master goes with --engine")
    refused_free(run, release_args("--engine", "local", "--master", "here"), 2, "'local' is none")
    refused_free(run, release_args("--engine", "spark", "--master", "spark://127.0.0.1:9"), 2, "nobody answers there")
    assert run(*release_args("--engine", "local", "--threads", "1")).code == 0


def test_a_url_that_no_engine_reads_is_explained(run: Run, table: Path) -> None:
    args = ["hdfs://host/people" if each == "people.csv" else each for each in release_args()]
    refused_free(run, args, 4, "hdfs://host/people", "--engine spark")
