"""Odd tables that must work, through all commands."""

import json

import pytest
from tests.fixtures.command_line import (
    HEADER,
    PERSON,
    Run,
    read,
    release_args,
    rows,
    schema_text,
    spends,
    synth_args,
    with_rule,
    write,
)

from pointillist.release import Release


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


def test_over_a_thousand_columns_are_independent_if_the_owner_agrees(run: Run) -> None:
    names = [f"c{i}" for i in range(1001)]
    lines = [",".join("yes" if i * row % 3 else "no" for i in range(1001)) for row in range(50)]
    write("wide.csv", "\n".join([",".join(names), *lines]) + "\n")
    write(
        "wide.toml", 'name = "wide"\n' + "".join(f'[columns.{n}]\nkind = "boolean"\nmissing = false\n' for n in names)
    )
    asked = release_args("-o", "wide.release", data="wide.csv", schema="wide.toml")
    refused = run(*asked)
    assert refused.code == 2
    assert "there are over 1,000 columns, too many for all pairs." in refused.shown
    assert "--set allow_independent=true" in refused.shown
    outcome = run(*asked, "--set", "allow_independent=true")
    assert outcome.code == 0
    assert "pairs of columns" not in outcome.shown
    assert run("fit", "wide.release", "-o", "wide.model", "--quiet").code == 0
    assert run("sample", "wide.model", "-n", 20, "-o", "made.parquet", "--quiet").code == 0
    assert read("made.parquet").shape == (20, 1001)
    assert "Only one-way marginals can be measured" in outcome.shown


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
