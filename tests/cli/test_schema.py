"""`pointillist schema draft`."""

import re
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.fixtures.command_line import HEADER, WORD, Run, refused_free, rows, write

from pointillist.schema import Schema


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


def test_review_shows_and_writes_what_was_decided(run: Run, table: Path) -> None:
    assert run("schema", "draft", table, "-o", "draft.toml", "-q").code == 0
    shown = run("schema", "review", "draft.toml", "--data", table)
    assert shown.code == 0
    assert "To review" in shown.out
    assert "A draft: review it" in shown.shown
    assert "reviewed = false" in Path("draft.toml").read_text()
    accepted = run("schema", "review", "draft.toml", "--data", table, "--safer", "--accept")
    assert accepted.code == 0
    assert "A draft: review it" not in accepted.shown
    text = Path("draft.toml").read_text()
    assert text.startswith("# Reviewed 2")
    assert "reviewed = true" in text
    assert run("schema", "review", "draft.toml", "--accept").code == 0
    assert Path("draft.toml").read_text().count("# Reviewed ") == 2


def test_a_draft_by_budget_says_what_it_cost_and_what_it_could_not_see(run: Run) -> None:
    write("many.csv", "colour,size\n" + "".join(f"{'red' if n % 3 else 'blue'},{n % 7}\n" for n in range(4000)))
    outcome = run(
        "schema",
        "draft",
        "many.csv",
        "-o",
        "many.toml",
        "--epsilon",
        "1",
        "--one-row-per-person",
        "--ledger",
        "l.sqlite",
    )
    assert outcome.code == 0
    assert "Bought for ε = 1" in outcome.shown
    assert "Not seen:" in outcome.shown
    assert "Review every fact" not in outcome.shown
    text = Path("many.toml").read_text()
    assert "reviewed = true" in text
    assert 'categories = ["blue", "red"] # bought' in text
    assert "many" in run("ledger", "--ledger", "l.sqlite").out
    reviewed = run("schema", "review", "many.toml")
    assert "Paid for" in reviewed.shown
    assert "colour: kind, categories" in " ".join(reviewed.shown.split())


def test_a_review_keeps_the_owners_comments_and_order(run: Run, table: Path) -> None:
    assert run("schema", "draft", table, "-o", "draft.toml", "-q").code == 0
    text = Path("draft.toml").read_text()
    own = text.replace("\n[columns.", "\n# from the code book, page 7\n[columns.", 1)
    own = own.replace("missing = ", "missing   =  ", 1)
    Path("draft.toml").write_text(own)
    assert run("schema", "review", "draft.toml", "--data", table, "--safer", "--accept").code == 0
    made = Path("draft.toml").read_text()
    assert "# from the code book, page 7" in made
    assert "missing   =  " in made
    assert "A DRAFT, NOT PRIVATE YET" not in made
    assert "reviewed = true" in made
    assert "# READ FROM THE DATA" in made
    assert Schema.load("draft.toml").reviewed
