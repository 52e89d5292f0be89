"""Faulty data: every command refuses them, names the fault, shows no value and spends nothing."""

import gc
import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from tests.fixtures.command_line import (
    COLUMNS,
    HEADER,
    NUMBER,
    PERSON,
    WORD,
    Made,
    Run,
    line,
    refused_free,
    release_args,
    rows,
    schema_text,
    spends,
    synth_args,
    with_rule,
    write,
)

from pointillist.curator import releasing
from pointillist.privacy.ledger import Ledger

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


MANY = HEADER + rows(600)


NOTES = f'{HEADER.strip()},note\n1,2,3,cook,yes,"{WORD}\n' + rows().replace("\n", ",none\n")


PACKED = gzip.compress((HEADER + rows()).encode())


DATA_FAULTS = [
    Fault("bars", line(f"1,2,3,{WORD},yes").replace(",", "|"), ("'age'", "a bar", "--delimiter '|'")),
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
    Fault("latin-1", line(f"1,2,3,{WORD}é,yes").encode("latin-1"), ("not UTF-8", "--encoding cp1252")),
    Fault("latin-1-late", f"{MANY}1,2,3,{WORD}é,yes\n".encode("latin-1"), ("not UTF-8", "--encoding cp1252")),
    Fault("latin-1-of-person", f"{MANY}1,2,3,é{WORD},yes\n".encode("latin-1"), ("not UTF-8", "convert it"), top=PERSON),
    Fault("utf-16", line(f"1,2,3,{WORD},yes").encode("utf-16"), ("not UTF-8", "--encoding cp1252")),
    Fault("empty", "", ("'age'", "file is empty", "must name the columns")),
    Fault("blank-lines", "\n\n\n", ("'age'", "file is empty", "must name the columns")),
    Fault("no-person", HEADER.replace("id", "who") + rows(), ("'id'", "not in the table", "rename"), top=PERSON),
    Fault("unknown-ending", line(f"{WORD}"), ("people.pages", "ending is not known", ".csv"), file="people.pages"),
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
