"""Server tables: a real PostgreSQL server, its tables as they are read, held and refused."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fixtures.servers import OWNER, PASSWORD, READER, READER_PASSWORD, Postgres, free_port
from tests.fixtures.sources import SCHEMA, encoded, make_table, refusal, silent, texts

import pointillist as pt
from pointillist.engines import Engine, Job, Partial
from pointillist.engines.local import Local
from pointillist.errors import DataError, UsageError
from pointillist.files.database_output import _plain
from pointillist.privacy.ledger import Ledger
from pointillist.reading.base import Report, Source
from pointillist.reading.opening import open_source
from pointillist.reading.rows import read_records
from pointillist.reading.server_tables import _Snapshot

SMALL = pt.Schema(
    name="small",
    rows=200,
    columns={"a": pt.Categorical(categories=("p", "q", "r")), "b": pt.Integer(min=0, max=9)},
)


class Counting(Engine):
    """The local engine; it keeps how many rows each pass has seen, and does something after a pass."""

    def __init__(self, between: Callable[[int], None] = lambda number: None):
        super().__init__(1)
        self.rows: list[int] = []
        self.between = between

    def run(self, partitions: Sequence[Source], job: Job, report: Report) -> Partial:
        partial = Local(1).run(partitions, job, report)
        self.rows.append(partial.rows)
        self.between(len(self.rows))
        return partial


def fill(postgres: Postgres, rows: int = 200) -> str:
    """A table of three columns, whose name is its address's."""
    postgres.fill("small", pa.table({"a": ["p", "q"] * (rows // 2), "b": [1, 2] * (rows // 2), "c": ["x"] * rows}))
    return postgres.url(table="small")


def spent() -> float:
    return sum(spend.epsilon for account in Ledger().accounts() for spend in account.spends)


class TestRows:
    def test_what_is_read_is_what_is_there(self, postgres: Postgres, table: pa.Table, expected: Counter[str]) -> None:
        postgres.fill("everything", table)
        assert encoded(postgres.url(table="everything"), SCHEMA) == expected
        assert read_records(postgres.url(table="everything", schema="public"), SCHEMA).rows == table.num_rows

    def test_people_are_capped_as_elsewhere(self, postgres: Postgres, table: pa.Table) -> None:
        people = SCHEMA.model_copy(update={"person": pt.Person(column="person", max_rows=2)})
        postgres.fill("everything", table)
        assert encoded(postgres.url(table="everything"), people) == encoded(table, people)

    def test_types_that_arrow_does_not_have(self, postgres: Postgres) -> None:
        postgres.run(
            "DROP TABLE IF EXISTS odd",
            "CREATE TABLE odd (n numeric(10,2), w numeric(12,0), g numeric, d date, t timestamptz, u uuid, m money, "
            "c char(4))",
            "INSERT INTO odd VALUES (3.14, 7, 1e30, 'infinity', '-infinity', "
            "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 5, 'z'),"
            "('NaN', NULL, NULL, NULL, '2020-01-01 10:00+02', NULL, NULL, NULL)",
        )
        names = ["n", "w", "g", "d", "t", "u", "m", "c"]
        (first, second) = (tuple(map(str, row)) for row in texts(postgres.url(table="odd"), names))
        assert first[:5] == ("3.14", "7", "1e+30", "9999-12-31", "0001-01-01 00:00:00+00:00")
        assert first[5:] == ("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "5.0", "z")
        assert second == ("nan", "None", "None", "None", "2020-01-01 08:00:00+00:00", "None", "None", "None")

    def test_enumerations_and_domains(self, postgres: Postgres) -> None:
        postgres.run(
            "CREATE TYPE mood AS ENUM ('good', 'bad')",
            "CREATE DOMAIN price AS numeric(8,2)",
            "CREATE TABLE domains (m mood, p price)",
            "INSERT INTO domains VALUES ('good', 2.5), ('bad', NULL)",
        )
        assert texts(postgres.url(table="domains"), ["m", "p"]) == [("bad", None), ("good", 2.5)]

    def test_batches_are_small_and_nothing_is_there_twice(self, postgres: Postgres) -> None:
        postgres.run(
            "DROP TABLE IF EXISTS many", "CREATE TABLE many AS SELECT g AS b FROM generate_series(1, 200000) g"
        )
        schema = pt.Schema(name="s", columns={"b": pt.Integer(min=0, max=9)})
        batches = list(open_source(postgres.url(table="many")).batches(["b"], schema, silent))
        assert max(batch.num_rows for batch in batches) <= 1 << 16
        assert sorted(b for batch in batches for b in batch.column("b").to_pylist()) == list(range(1, 200_001))

    def test_a_draft(self, postgres: Postgres) -> None:
        postgres.fill("Mixed Case", pa.table({"Age": [1.5, 2.5] * 50, "age": ["a", "b"] * 50}))
        drafted = pt.draft(postgres.url(table="Mixed%20Case"), name="mixed")
        assert isinstance(drafted.columns["Age"], pt.Real)
        assert isinstance(drafted.columns["age"], pt.Categorical)

    @settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(names=st.lists(st.text("aB \"';\\$%(){}ü-", min_size=1, max_size=20), min_size=2, max_size=3, unique=True))
    def test_names_are_names_whatever_is_in_them(self, postgres: Postgres, names: list[str]) -> None:
        name, *columns = names
        postgres.fill(name, pa.table({column: [column, None] for column in columns}))
        with pt.database(postgres.url(), table=name).held() as source:
            assert source.column_names() == columns
            assert len(texts(source, columns)) == 2
        quoted = name.replace('"', '""')
        postgres.run(f'DROP TABLE "{quoted}"')  # it is still there: nothing in a name was run


class TestHeld:
    def test_a_table_that_changes_between_passes(self, postgres: Postgres) -> None:
        """All passes see the table of the beginning, whatever is deleted, changed or added meanwhile."""
        url = fill(postgres)

        def change(number: int) -> None:
            postgres.run(
                "DELETE FROM small WHERE a = 'p'",
                "UPDATE small SET b = 9",
                "INSERT INTO small SELECT 'r', 5, 'y' FROM generate_series(1, 1000)",
            )

        engine = Counting(change)
        made = pt.release(url, SMALL, epsilon=5.0, engine=engine)
        assert engine.rows == [200] * len(made.measurements)
        assert len(engine.rows) > 1
        after = Counting()
        pt.release(url, SMALL, epsilon=1.0, engine=after)
        assert after.rows[0] > 1_000

    def test_the_same_sums_while_held_and_others_afterwards(self, postgres: Postgres) -> None:
        url = fill(postgres)
        source = open_source(url)
        with source.held() as held:
            before = encoded(held, SMALL)
            postgres.run("UPDATE small SET b = 7")
            assert encoded(held, SMALL) == before
            assert encoded(source, SMALL) != before
        assert encoded(url, SMALL) != before

    def test_a_table_cannot_be_dropped_or_emptied_while_held(self, postgres: Postgres) -> None:
        url = fill(postgres)
        with open_source(url).held() as held:
            before = encoded(held, SMALL)
            for statement in ("DROP TABLE small", "TRUNCATE small", "ALTER TABLE small DROP COLUMN a"):
                with pytest.raises(Exception, match="lock timeout"):
                    postgres.run("SET lock_timeout = '50ms'", statement)
            postgres.run("RESET lock_timeout")
            assert encoded(held, SMALL) == before
        postgres.run("DROP TABLE small")

    def test_nothing_can_be_written_over_the_held_connection(self, postgres: Postgres) -> None:
        from pointillist.files.servers import server
        from pointillist.files.urls import Url

        fill(postgres)
        with server(Url.parse(postgres.url())) as connection:
            connection.dialect.snapshot(connection.rows, connection.run)
            with pytest.raises(DataError, match="25006"):
                connection.run("DELETE FROM small")

    def test_a_connection_that_is_lost_before_noise_costs_nothing(self, postgres: Postgres) -> None:
        url = fill(postgres)
        message = refusal(lambda: pt.release(url, SMALL, epsilon=1.0, progress=lost_in(postgres, "pass 1")))
        assert "ended the connection" in message
        assert "spend" not in message
        assert spent() == 0

    def test_a_connection_that_is_lost_after_noise_says_so(self, postgres: Postgres) -> None:
        url = fill(postgres)
        message = refusal(lambda: pt.release(url, SMALL, epsilon=1.0, progress=lost_in(postgres, "pass 2")))
        assert "ended the connection" in message
        assert "The spend was already recorded, and counts." in message
        assert spent() == 1

    def test_a_whole_table_may_say_how_many_rows_it_has_and_a_query_never(self, postgres: Postgres) -> None:
        url = fill(postgres)
        assert pt.release(url, SMALL, epsilon=1.0, neighbours="replace-one").rows == 200
        query = pt.database(url, query="SELECT * FROM source WHERE a = 'p'")
        assert pt.release(query, SMALL, epsilon=1.0, neighbours="replace-one").rows is None


def lost_in(postgres: Postgres, step: str) -> Callable[[str, float], None]:
    """Ends all other connections when a step begins."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"

    def progress(at: str, part: float) -> None:
        if at.startswith(step) and part == 0:
            postgres.run(end)

    return progress


class TestQueries:
    def test_rows_and_columns_are_chosen(self, postgres: Postgres) -> None:
        url = fill(postgres)
        query = pt.database(url, query="SELECT upper(a) AS big, b + 1 AS b FROM source WHERE b = 2 AND c = 'x'")
        assert query.column_names() == ["big", "b"]
        assert texts(query, ["big", "b"]) == [("Q", 3)] * 100
        assert texts(open_source(url, query="SELECT * FROM small WHERE b = 1"), ["a"]) == [("p",)] * 100
        assert texts(pt.database(postgres.url(), query="SELECT small.a FROM public.small"), ["a"])[0] == ("p",)

    def test_a_held_query_sees_one_state(self, postgres: Postgres) -> None:
        with pt.database(fill(postgres), query="SELECT a, b FROM small").held() as held:
            before = encoded(held, SMALL)
            postgres.run("DELETE FROM small")
            assert encoded(held, SMALL) == before

    def test_a_draft_of_a_query(self, postgres: Postgres) -> None:
        drafted = pt.draft(pt.database(fill(postgres), query="SELECT a, b * 2 AS c FROM small"), name="q")
        assert list(drafted.columns) == ["a", "c"]

    @pytest.mark.parametrize(
        ("query", "word"),
        [
            ("SELECT count(*) FROM small", "aggregate"),
            ("SELECT x.a FROM small x JOIN small y ON x.b = y.b", "join"),
            ("SELECT * FROM small LIMIT 5", "LIMIT"),
            ("SELECT pg_sleep(1) FROM small", "pg_sleep"),
            ("DELETE FROM small", "one SELECT"),
            ("SELECT * FROM small; DROP TABLE small", "one SELECT"),
            ("SELEC", "no SQL"),
            ("SELECT 1", "reads no table"),
            ("SELECT * FROM other", "another table"),
        ],
    )
    def test_what_is_not_row_by_row_is_refused_before_the_server_is_asked(self, query: str, word: str) -> None:
        with pytest.raises(UsageError, match=word):
            pt.database("postgresql://nowhere.invalid/db?table=small", query=query)

    def test_a_query_that_fails(self, postgres: Postgres) -> None:
        query = pt.database(fill(postgres), query="SELECT c::INTEGER AS b FROM small")
        assert "failed (ConversionException)" in refusal(lambda: texts(query, ["b"]))


class TestColumnsAreLeftToTheServer:
    """The reader may see two of three columns: it works only if no other is ever asked for."""

    def test_only_what_is_needed_is_read(self, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(postgres)
        postgres.run(f"GRANT SELECT (a, b) ON small TO {READER}")
        monkeypatch.setenv("PGPASSWORD", READER_PASSWORD)
        url = postgres.url(user=READER, table="small")
        assert sum(encoded(url, SMALL).values()) == 200
        assert texts(pt.database(url, query="SELECT a FROM small WHERE b = 1"), ["a"]) == [("p",)] * 100
        assert texts(pt.database(url, query="SELECT a || 'x' AS ax, b FROM small WHERE b = 1"), ["ax"])[0] == ("px",)
        assert "privilege" in refusal(lambda: texts(url, ["c"]))


class TestRefusals:
    def test_where_it_cannot_be_reached(self, postgres: Postgres) -> None:
        for host in (f"127.0.0.1:{free_port()}", "nowhere.invalid"):
            message = refusal(lambda host=host: texts(f"postgresql://{OWNER}@{host}/db?table=t", ["a"]))
            assert message.startswith(f"postgresql://{host}/db: the server cannot be reached")
        assert "no such database" in refusal(
            lambda: texts(postgres.url(table="t").replace("/postgres", "/nodb"), ["a"])
        )

    def test_a_wrong_password(self, postgres: Postgres, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        url = fill(postgres)
        monkeypatch.setenv("PGPASSWORD", "wrong-word")
        message = refusal(lambda: texts(url, ["a"]))
        assert "neither this user nor this password" in message
        assert "PGPASSFILE" in message
        assert OWNER not in message
        assert "wrong-word" not in message
        monkeypatch.delenv("PGPASSWORD")
        passwords = tmp_path / "passwords"
        passwords.write_text(f"127.0.0.1:*:*:{OWNER}:{PASSWORD}\n")
        passwords.chmod(0o600)
        monkeypatch.setenv("PGPASSFILE", str(passwords))
        assert len(texts(url, ["a"])) == 200

    def test_what_is_no_table(self, postgres: Postgres) -> None:
        url = fill(postgres)
        postgres.run("CREATE OR REPLACE VIEW seen AS SELECT a, count(*) AS b FROM small GROUP BY a")
        assert "is a view" in refusal(lambda: texts(postgres.url(table="seen"), ["a"]))
        postgres.run("DROP VIEW seen")
        assert "no such table" in refusal(lambda: texts(postgres.url(table="nothing"), ["a"]))
        assert "no such table" in refusal(lambda: texts(url + "&schema=synthetic", ["a"]))
        with pytest.raises(UsageError, match="name the table"):
            open_source(postgres.url())

    def test_what_this_user_may_not_read(self, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(postgres)
        monkeypatch.setenv("PGPASSWORD", READER_PASSWORD)
        url = postgres.url(user=READER, table="small")
        assert "may not do that" in refusal(lambda: pt.release(url, SMALL, epsilon=1.0))
        postgres.run(
            f"GRANT SELECT ON small TO {READER}",
            "ALTER TABLE small ENABLE ROW LEVEL SECURITY",
            "CREATE POLICY only_p ON small FOR SELECT USING (a = 'p')",
        )
        assert "row security" in refusal(lambda: pt.release(url, SMALL, epsilon=1.0))
        assert spent() == 0

    def test_a_type_without_a_kind(self, postgres: Postgres) -> None:
        postgres.run("DROP TABLE IF EXISTS lists", "CREATE TABLE lists AS SELECT ARRAY[1] AS a, box '(1,1),(2,2)' AS b")
        assert "'a' is stored as lists" in refusal(lambda: encoded(postgres.url(table="lists"), SMALL))

    def test_a_missing_column(self, postgres: Postgres) -> None:
        message = refusal(
            lambda: pt.release(
                fill(postgres), SMALL.model_copy(update={"columns": {"aa": SMALL.columns["a"]}}), epsilon=1
            )
        )
        assert "column 'aa' of the schema is not in the table" in message

    def test_what_is_no_address(self) -> None:
        for uri in ("people.csv", "mysql://host/db", 5):
            with pytest.raises(UsageError, match="postgresql://"):
                pt.database(uri, table="t")
        with pytest.raises(UsageError, match="name a table"):
            pt.database("postgresql://host/db")


class TestRowsAreLeftToTheServer:
    """The server sends what the query keeps, or more: never less."""

    @pytest.mark.parametrize(
        ("where", "kept", "sent"),
        [
            ("b = 2", 2, 2),
            ("b IN (1, 2) AND t = 'x'", 3, 3),
            ("b BETWEEN 2 AND 3 AND 3 > b", 2, 2),
            ("B >= 3", 2, 2),  # names are the same in any case
            ("t = 'X'", 1, 1),
            ("abs(b) = 2 AND b < 3", 2, 4),  # in part
            ("b = 2 OR t = 'y'", 3, 7),  # not told
            ("NOT b = 2", 4, 7),
            ("b + 0 = 2", 2, 7),
            ("t > 'x'", 1, 7),  # the order of texts differs
            ("b = '2'", 2, 7),
            ("f = 1", 2, 7),
            ("twice = 4", 2, 7),  # what SELECT computes
        ],
    )
    def test_what_is_sure_to_mean_the_same(
        self, postgres: Postgres, monkeypatch: pytest.MonkeyPatch, where: str, kept: int, sent: int
    ) -> None:
        rows = {"b": [1, 2, 2, 3, 4, None, -5], "t": ["x", "x", "x", "X", "y", None, "x"], "f": [1.0, 1.0, *[2.0] * 5]}
        postgres.fill("few", pa.table(rows))
        read: list[int] = []
        honest = _Snapshot.rows

        def counting(self: _Snapshot, columns: list[str], most: int, met: Any = ()) -> Iterator[pa.RecordBatch]:
            for batch in honest(self, columns, most, met):
                read.append(batch.num_rows)
                yield batch

        monkeypatch.setattr(_Snapshot, "rows", counting)
        query = pt.database(postgres.url(table="few"), query=f"SELECT b, b * 2 AS twice FROM few WHERE {where}")
        assert len(texts(query, ["b"])) == kept
        assert sum(read) == sent


def test_other_servers_are_asked_as_of_one_moment() -> None:
    """No such server is here: what is asked of one is looked at."""
    from pointillist.files.dialects import DIALECTS

    for scheme, answer, words in (
        ("snowflake", "2026-01-02T03:04:05.000000006 +0000", "AT(TIMESTAMP => '2026"),
        ("bigquery", "2026-01-02 03:04:05.000006+00", "FOR SYSTEM_TIME AS OF TIMESTAMP '2026"),
    ):
        assert words in DIALECTS[scheme].snapshot(lambda sql, answer=answer: [(answer,)], lambda sql: None)
        with pytest.raises(UsageError, match="what time it is"):
            DIALECTS[scheme].snapshot(lambda sql: [("' OR 1=1",)], lambda sql: None)


def test_the_table_of_the_sources_has_every_kind(postgres: Postgres) -> None:
    postgres.fill("everything", _plain(make_table(20)))
    assert set(open_source(postgres.url(table="everything")).types()) == set(make_table(1).column_names)
