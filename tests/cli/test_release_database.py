"""A database from the command line: the whole way, and no secret anywhere on it."""

from pathlib import Path

import pyarrow.csv as pacsv
import pytest
from tests.fixtures.command_line import Run, refused_free, release_args, schema_text, snapshot, write
from tests.fixtures.servers import OWNER, PASSWORD, Postgres

STEPS = ["--set", "steps=5", "--set", "components=4"]


@pytest.fixture
def people(postgres: Postgres, table: Path) -> str:
    """The small table on the server; its address carries user and password, as some do."""
    postgres.fill("people", pacsv.read_csv(table))
    write("people.toml", schema_text(member='kind = "categorical"\ncategories = ["yes", "no"]'))
    table.unlink()
    return postgres.url(user=f"{OWNER}:{PASSWORD}", table="people", application_name="hush")


def test_no_secret_is_shown_or_kept(run: Run, people: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGPASSWORD")
    out = postgres.url(user=f"{OWNER}:{PASSWORD}", schema="synthetic", table="made", application_name="hush")
    made = [
        run("schema", "draft", people, "-o", "draft.toml"),
        run("schema", "review", "draft.toml", "--data", people),
        run("synth", people, "--schema", "people.toml", "--epsilon", 1, "-o", out, "-n", 50, *STEPS),
        run("ledger"),
        run("inspect", "made.release"),
        run("card", "made.release", "-o", "card.html"),
        run("release", people, "--schema", "people.toml", "--epsilon", 1, "-o", "b.release", "--json"),
    ]
    assert [each.code for each in made] == [0] * len(made), [each.shown for each in made]
    failed = [
        run("release", people.replace(PASSWORD, "wr0ng"), "--schema", "people.toml", "--epsilon", 1, "-o", "c.release"),
        run("release", people.replace("table=people", "table=nobody"), *release_args()[2:-1], "c.release"),
        run("sample", "made.release", "-o", out),
        run("synth", people, "--schema", "people.toml", "--epsilon", 1, "-o", out, "--release", "d.release"),
    ]
    assert all(each.code for each in failed)
    assert postgres.rows("SELECT count(*) FROM synthetic.made") == [(50,)]
    printed = "".join(each.out + each.err for each in made + failed)
    kept = b"".join(name.encode() + (content or b"") for name, content in snapshot().items())
    books = b"".join(path.read_bytes() for path in Path("../books").rglob("*") if path.is_file())
    for secret in (PASSWORD, OWNER, "wr0ng", "hush"):
        assert secret not in printed
        assert secret.encode() not in kept + books
    assert "postgresql://127.0.0.1" in printed


def test_a_query_on_the_command_line(run: Run, people: str) -> None:
    assert run(*release_args("--sql", "SELECT * FROM source WHERE age > 30", data=people)).code == 0
    assert run(*release_args("--sql", "SELECT count(*) FROM source", "-o", "b.release", data=people)).code == 2


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        (("table=people", "table=nobody"), 4, "there is no such table"),
        (("table=people", "schema=public"), 2, "name the table"),
        ((PASSWORD, "wr0ng"), 4, "neither this user nor this password"),
        (("table=people", "tab"), 2, "malformed"),
    ],
)
def test_a_database_that_is_refused(run: Run, people: str, change: tuple[str, str], code: int, word: str) -> None:
    outcome = refused_free(run, release_args(data=people.replace(*change)), code, word)
    assert "wr0ng" not in outcome.shown


def test_the_private_table_is_not_written_over(run: Run, people: str) -> None:
    args = ["synth", people + "&schema=public", "--schema", "people.toml", "--epsilon", 1]
    refused_free(run, [*args, "-o", people + "&schema=public", "--overwrite"], 2, "is read or kept by this command")
    refused_free(run, [*args, "-o", people + "&schema=synthetic", "--sql", "SELECT 1"], 2, "reads no table")
