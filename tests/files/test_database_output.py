"""Database output: synthetic tables in a schema of a real PostgreSQL server."""

import datetime as dt

import pyarrow as pa
import pytest
from tests.fixtures.servers import OWNER, PASSWORD, READER, READER_PASSWORD, Postgres

from pointillist.errors import ArtefactError, UsageError
from pointillist.files.database_output import check, write
from pointillist.files.urls import Url

ROWS = pa.table(
    {
        "Town": pa.array(["Ay", None, 'De"e']).dictionary_encode(),
        "n": pa.array([1, 2, None], pa.int64()),
        "x": [0.5, None, 2.5],
        "yes": [True, False, None],
        "day": [dt.date(2020, 1, 2), None, None],
        "at": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5)] * 3, pa.timestamp("s")),
        "long": pa.array([dt.timedelta(seconds=61), None, None], pa.duration("s")),
    }
)


def place(postgres: Postgres, table: str, user: str = OWNER, schema: str = "synthetic") -> Url:
    return Url.parse(postgres.url(user=user, schema=schema, table=table))


def test_rows_are_written_as_they_are(postgres: Postgres) -> None:
    write(ROWS, place(postgres, "rows"))
    rows = postgres.rows('SELECT "Town", n, x, yes, day::text, at::text, long::text FROM synthetic.rows ORDER BY n')
    assert rows[0] == ("Ay", 1, 0.5, True, "2020-01-02", "2020-01-02 03:04:05", "00:01:01")
    assert rows[1][:4] == (None, 2, None, False)


def test_a_table_that_is_there_is_replaced_only_where_it_is_ours_and_meant(postgres: Postgres) -> None:
    url = place(postgres, "again")
    check(url, overwrite=False)
    write(ROWS, url)
    for refused in (lambda: check(url, overwrite=False), lambda: write(ROWS[:1], url)):
        with pytest.raises(UsageError, match=r"'again' is there already\. Name another, or pass --overwrite"):
            refused()
    check(url, overwrite=True)
    write(ROWS[:1], url, overwrite=True)
    assert postgres.rows("SELECT count(*) FROM synthetic.again") == [(1,)]
    postgres.run("CREATE TABLE private_people AS SELECT 1 AS x")
    theirs = place(postgres, "private_people", schema="public")
    for refused in (lambda: check(theirs, overwrite=True), lambda: write(ROWS, theirs, overwrite=True)):
        with pytest.raises(UsageError, match="not written by pointillist"):
            refused()
    assert postgres.rows("SELECT x FROM private_people") == [(1,)]


def test_what_fails_half_way_leaves_what_was_there(postgres: Postgres) -> None:
    url = place(postgres, "kept")
    write(ROWS[:2], url)
    odd = pa.table({"a": [1], "b": pa.array([[{"c": 1}]])})
    with pytest.raises(ArtefactError, match="postgresql://"):
        write(odd, url, overwrite=True)
    assert postgres.rows("SELECT count(*) FROM synthetic.kept") == [(2,)]


def test_names_are_names(postgres: Postgres) -> None:
    name = 'a"; DROP TABLE synthetic.rows; --'
    write(ROWS, place(postgres, "victim"))
    write(
        ROWS,
        Url.parse(postgres.url(schema="synthetic")[:-1] + "c&table=a%22%3B%20DROP%20TABLE%20synthetic.rows%3B%20--"),
    )
    found = {each for (each,) in postgres.rows("SELECT tablename::text FROM pg_tables WHERE schemaname = 'synthetic'")}
    assert {name, "victim"} <= found


def test_where_nothing_can_be_written(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ArtefactError, match="has no schema 'nowhere'"):
        check(place(postgres, "t", schema="nowhere"), overwrite=False)
    with pytest.raises(UsageError, match="name schema and table"):
        check(Url.parse(postgres.url(table="t")), overwrite=False)
    with pytest.raises(UsageError, match="cannot be written there"):
        check(Url.parse("bigquery://project/data?schema=s&table=t"), overwrite=False)
    monkeypatch.setenv("PGPASSWORD", READER_PASSWORD)
    with pytest.raises(ArtefactError, match="may not make tables"):
        check(place(postgres, "t", READER), overwrite=False)
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(ArtefactError, match="nor this password") as caught:
        check(place(postgres, "t"), overwrite=False)
    assert PASSWORD not in str(caught.value)
