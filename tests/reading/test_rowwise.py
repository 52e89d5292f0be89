"""Queries: what works row by row is taken, all else is refused by name, and nothing else can be reached."""

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pointillist as pt
from pointillist.errors import DataError, PointillistError, UsageError
from pointillist.reading.allowed_sql import ALLOWED
from pointillist.reading.connection import confine, connect
from pointillist.reading.databases import sql
from pointillist.reading.opening import open_source
from pointillist.reading.rowwise import RowWise, built_in

SCHEMA = pt.Schema(name="s", columns={"x": pt.Integer(min=0, max=9), "y": pt.Categorical(categories=("a", "b"))})
TABLE = pa.table({"x": [1, 2, 3, None], "y": ["a", "b", "b", "a"]})

TAKEN = {
    "FROM source": 4,
    "SELECT * FROM source;": 4,
    "-- the adults\nSELECT x, y FROM source WHERE x > 1": 2,
    "SELECT x + 1 AS x, upper(y) AS y FROM source ORDER BY x": 4,
    "SELECT * REPLACE (CASE WHEN x > 2 THEN 2 ELSE coalesce(x, 0) END AS x) FROM SOURCE AS s": 4,
    "SELECT x, CAST(y AS VARCHAR) AS y FROM source WHERE y IN ('a', 'b') AND x BETWEEN 1 AND 2 OR x IS NULL": 3,
    "SELECT x, CASE WHEN y LIKE 'a%' THEN 'a' ELSE 'b' END AS y FROM source WHERE NOT (y ~ 'c')": 4,
    "SELECT nullif(x, 2) AS x, split_part(y, '-', 1) AS y FROM source": 4,
    "SELECT list_extract(list_transform([x, 1], lambda v: v + 1), 1)::INTEGER AS x, y FROM source": 4,
    "SELECT x, y FROM (SELECT *, {'a': x} AS s, '{}'::JSON AS j FROM source) AS t WHERE s.a > 1 AND j->>'k' IS NULL": 2,
    "SELECT COLUMNS(lambda c: c <> 'z') FROM source WHERE current_date > DATE '2000-01-01'": 4,
    "SELECT * LIKE '%' FROM source": 4,
    "SELECT date_part('day', DATE '2003-01-09')::INTEGER AS x, y FROM source WHERE today() > DATE '2000-01-01'": 4,
    "SELECT x, y FROM (SELECT x * 2 AS x, y FROM source) AS t WHERE x > 2": 2,
    "WITH t AS (SELECT * FROM source WHERE x > 1), u AS (FROM t) SELECT x, y FROM u": 2,
    "WITH source AS (SELECT * FROM source WHERE x > 1) SELECT x, y FROM source": 2,
    "SELECT 1 AS x, 'a' AS y": 1,
}  # fmt: skip

REFUSED = {
    "SELECT * FROM source, range(100)": "join",
    "SELECT * FROM source CROSS JOIN source AS b": "join",
    "SELECT s.* FROM source s JOIN source t ON s.x = t.x": "join",
    "SELECT * FROM source s SEMI JOIN source t USING (x)": "join",
    "SELECT * FROM source s POSITIONAL JOIN source t": "join",
    "SELECT * FROM range(100)": "table function",
    "SELECT * FROM read_csv('t.csv')": "table function",
    "SELECT * FROM source, LATERAL (SELECT x)": "join",
    "SELECT unnest([x, x]) AS x, y FROM source": "unnest",
    "SELECT generate_subscripts([x, x], 1) AS x FROM source": "generate_subscripts",
    "SELECT * FROM unnest([1, 2])": "table function",
    "SELECT * FROM source UNION ALL SELECT * FROM source": "UNION",
    "SELECT * FROM source EXCEPT SELECT 1, 'a'": "EXCEPT",
    "(SELECT * FROM source) INTERSECT (SELECT * FROM source)": "INTERSECT",
    "SELECT * FROM source LIMIT 10": "LIMIT",
    "SELECT * FROM source LIMIT 10%": "LIMIT",
    "SELECT * FROM source OFFSET 1": "OFFSET",
    "SELECT * FROM source USING SAMPLE 10%": "SAMPLE",
    "SELECT * FROM source TABLESAMPLE 10%": "SAMPLE",
    "SELECT DISTINCT * FROM source": "DISTINCT",
    "SELECT DISTINCT ON (y) * FROM source": "DISTINCT",
    "SELECT row_number() OVER () AS x, y FROM source": "window",
    "SELECT sum(x) OVER (PARTITION BY y) AS x, y FROM source": "window",
    "SELECT * FROM source QUALIFY row_number() OVER () < 3": "QUALIFY",
    "SELECT count(*) AS x FROM source": "aggregate (count_star)",
    "SELECT max(x) AS x, y FROM source GROUP BY y": "GROUP BY",
    "SELECT x, y FROM source GROUP BY ALL": "GROUP BY",
    "SELECT y FROM source GROUP BY GROUPING SETS ((x), (y))": "GROUP BY",
    "SELECT string_agg(y) AS y FROM source": "aggregate (string_agg)",
    "SELECT geomean(x) AS x FROM source": "geomean",
    "SELECT weighted_avg(x, x) AS x FROM source": "weighted_avg",
    "SELECT * FROM source ORDER BY sum(x)": "aggregate (sum)",
    "SELECT 1 AS x FROM source HAVING true": "HAVING",
    "SELECT (SELECT max(x) FROM source) AS x, y FROM source": "subquery",
    "SELECT * FROM source WHERE x = (SELECT 1)": "subquery",
    "SELECT * FROM source WHERE x IN (SELECT x FROM source)": "subquery",
    "SELECT * FROM source WHERE EXISTS (SELECT 1)": "subquery",
    "SELECT ARRAY(SELECT 1) AS x FROM source": "",
    "SELECT * FROM (SELECT DISTINCT * FROM source) t": "DISTINCT",
    "WITH t AS (SELECT * FROM source LIMIT 5) SELECT * FROM t": "LIMIT",
    "WITH t AS (SELECT count(*) AS x FROM source) SELECT 1 AS x": "aggregate",
    "WITH RECURSIVE t AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM t WHERE x < 9) FROM t": "",
    "WITH a AS (FROM 'one.parquet'), b AS (FROM 'two.parquet') FROM a": "more than one table",
    "SELECT * FROM source WHERE random() < 0.5": "random",
    "SELECT uuid() AS y FROM source": "uuid",
    "SELECT nextval('s') AS x FROM source": "nextval",
    "SELECT no_such_function(x) AS x FROM source": "no_such_function",
    "SELECT getenv('HOME') AS y FROM source": "getenv",
    "SELECT json_serialize_plan('SELECT max(x) FROM source', optimize := true) AS y FROM source": "json_serialize_plan",
    "SELECT stats(x) AS y FROM source": "stats",
    "SELECT list_aggregate([x], 'reservoir_quantile', 0.5) AS x FROM source": "list_aggregate",
    "SELECT * FROM source WHERE rowid < 10": "position",
    "SELECT s.RowID AS x FROM source s": "position",
    "SELECT $1 AS x FROM source": "parameter",
    "SUMMARIZE source": "",
    "DESCRIBE source": "",
    "PIVOT source ON y USING sum(x)": "",
    "FROM source UNPIVOT (v FOR n IN (x))": "",
    "COPY source TO 'f'": "one SELECT",
    "COPY (SELECT * FROM source) TO 'f'": "one SELECT",
    "EXPORT DATABASE 'f'": "one SELECT",
    "CREATE TABLE t AS FROM source": "one SELECT",
    "ATTACH 'f' AS f": "one SELECT",
    "SET threads = 1": "one SELECT",
    "INSTALL httpfs": "one SELECT",
    "SELECT 1; SELECT 2": "one SELECT",
    "SELECT 1; COPY source TO 'f'": "one SELECT",
    "EXPLAIN ANALYZE SELECT 1": "one SELECT",
    "SELECT " + "(" * 400 + "x" + " + 1)" * 400 + " AS x FROM source": "",
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pq.write_table(TABLE, "t.parquet")
    return tmp_path / "t.parquet"


def rows(source: Any) -> int:
    columns = [name for name in ("x", "y") if name in source.column_names()]
    return sum(batch.num_rows for batch in source.batches(columns, SCHEMA, lambda part: None))


@pytest.mark.parametrize("query", TAKEN)
def test_what_works_row_by_row_is_taken(query: str, path: Path) -> None:
    assert rows(sql(query, path)) == TAKEN[query]


@pytest.mark.parametrize("query", REFUSED)
def test_all_else_is_refused_by_name(query: str, path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        sql(query, path)
    assert REFUSED[query] in str(refused.value)
    assert not Path("f").exists()


def test_every_part_of_the_tree_is_looked_at() -> None:
    """Wherever an expression may stand, an aggregate there is found."""
    for place in (
        "SELECT {} AS x FROM source", "SELECT x FROM source WHERE {} > 1", "SELECT x FROM source ORDER BY {}",
        "SELECT CASE WHEN {} > 1 THEN 1 END AS x FROM source", "SELECT [1, {}] AS x FROM source",
        "SELECT {{'a': {}}} AS x FROM source", "SELECT * REPLACE ({} AS x) FROM source",
        "SELECT list_transform([x], lambda v: v + {}) AS x FROM source", "SELECT upper(lower({}::VARCHAR)) FROM source",
        "SELECT x BETWEEN 1 AND {} FROM source", "SELECT x IN (1, {}) FROM source", "FROM (VALUES ({})) AS t(x)",
        "SELECT x FROM (SELECT {} AS x FROM source)", "WITH t AS (SELECT {} AS x FROM source) FROM t",
        "SELECT COLUMNS(c -> {} > 1) FROM source", "SELECT try(1 / {}) FROM source", "SELECT l[{}] FROM source",
    ):  # fmt: skip
        with pytest.raises(UsageError, match=r"aggregate \(sum\)"):
            RowWise(place.format("sum(x)"))


def test_macros_of_duckdb_are_made_of_what_may_be_called() -> None:
    macros = [name for name in sorted(ALLOWED) if built_in().get(name, (set(), []))[1]]
    assert "nullif" in macros
    for name in macros:
        RowWise(f'SELECT "{name}"(x) AS x FROM source')


class TestOneRowMore:
    """What the check is for: with one private row more the result has at most one row more, and all others stay."""

    @pytest.mark.parametrize("query", TAKEN)
    def test_changes_no_other_row(self, query: str, path: Path) -> None:
        def result(table: pa.Table) -> list[str]:
            pq.write_table(table, path)
            with connect() as db:
                return sorted(map(str, sql(query, path).query(db, "FROM source").fetchall()))

        whole = result(TABLE)
        for added in (0, 2, 3):
            more, less = list(whole), result(TABLE.take([row for row in range(TABLE.num_rows) if row != added]))
            for row in less:
                more.remove(row)
            assert len(more) <= 1


class TestDatabases:
    @pytest.fixture
    def database(self, tmp_path: Path) -> Path:
        with duckdb.connect(str(tmp_path / "d.duckdb")) as db:
            db.execute("CREATE TABLE people AS SELECT 1 AS x, 'a' AS y; CREATE VIEW few AS FROM people LIMIT 1")
            db.execute("CREATE SCHEMA wing; CREATE TABLE wing.ward AS SELECT 2 AS x, 'b' AS y FROM range(3)")
            db.execute("CREATE MACRO first_one() AS (SELECT min(y) FROM people)")
            db.execute("CREATE MACRO top() AS TABLE FROM people LIMIT 1")
        return tmp_path / "d.duckdb"

    def test_its_tables_may_be_selected(self, database: Path) -> None:
        assert rows(sql("SELECT x, upper(y) AS y FROM People", database)) == 1
        assert rows(sql("FROM wing.ward WHERE x > 1", database)) == 3
        with connect() as db:
            assert sql("FROM wing.ward", database).query(db, "SELECT count(*) FROM source").fetchall() == [(3,)]

    @pytest.mark.parametrize(
        "name", ["few", "ward", "absent", "duckdb_tables", "information_schema.tables", "memory.main.t"]
    )
    def test_views_and_what_is_not_there_are_refused(self, database: Path, name: str) -> None:
        with pytest.raises(DataError, match="is no table of the database"):
            rows(sql(f"SELECT * FROM {name}", database))

    @pytest.mark.parametrize("call", ["first_one()", "_over.first_one()", "_over.main.first_one()"])
    def test_its_own_functions_are_refused(self, database: Path, call: str) -> None:
        with pytest.raises(UsageError, match="the function first_one"):
            sql(f"SELECT x, {call} AS y FROM people", database)

    @pytest.mark.parametrize("name", ["lower", "Current_User", "list_filter", "get_current_timestamp", "contains"])
    def test_functions_called_as_duckdbs_are_refused(self, database: Path, name: str) -> None:
        """SQL calls functions that nobody wrote down: `current_user`, `* LIKE 'a%'`."""
        with duckdb.connect(str(database)) as db:
            db.execute(f"CREATE MACRO {name}() AS (SELECT max(y) FROM people)")
        with pytest.raises(DataError, match=f"called as one of DuckDB's, {name.lower()}"):
            rows(sql("SELECT x, y FROM people", database))

    @pytest.mark.parametrize("name", ["current_user", "user", "session_user", "current_date", "current_catalog"])
    def test_words_of_sql_do_not_mean_the_databases_functions(
        self, database: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with duckdb.connect(str(database)) as db:
            db.execute(f'CREATE MACRO "{name}"() AS (SELECT max(y) FROM people)')
        monkeypatch.setattr("pointillist.reading.databases.built_in", dict)  # not even if such a database were let in
        with connect() as db:
            assert sql(f"SELECT {name} AS y FROM people", database).query(db, "FROM source").fetchall() != [("a",)]

    def test_its_computed_columns_are_part_of_the_query(self, database: Path) -> None:
        with duckdb.connect(str(database)) as db:
            db.execute("CREATE TABLE sums (x INTEGER, y VARCHAR AS (chr(97 + x)))")
            db.execute("INSERT INTO sums VALUES (0), (1)")
            db.execute("CREATE TABLE plans (x INTEGER, y VARCHAR AS (json_serialize_plan('SELECT max(x) FROM sums')))")
        assert rows(sql("FROM sums", database)) == 2
        with pytest.raises(UsageError, match="json_serialize_plan"):
            rows(sql("SELECT x, y FROM plans", database))

    def test_its_table_macros_are_refused(self, database: Path) -> None:
        with pytest.raises(UsageError, match="table function"):
            sql("SELECT * FROM top()", database)


def test_files_without_over_are_read_as_ever(path: Path) -> None:
    Path("t.csv").write_text("x,y\n1,a\n007,b\n")
    assert rows(sql("SELECT x, y FROM 't.parquet'")) == 4
    with connect() as db:
        assert sql("FROM 't.csv'").query(db, "SELECT x FROM source ORDER BY x").fetchall() == [("007",), ("1",)]
    for name in ("no.parquet", "*.parquet", "source"):
        with pytest.raises(DataError, match="must be a file or a folder"):
            rows(sql(f"SELECT * FROM '{name}'"))
    with pytest.raises(DataError, match="Call the table source"):
        rows(sql("SELECT * FROM 't.csv'", path))


def test_a_confined_connection_reaches_its_file_alone(path: Path) -> None:
    Path("t.csv").write_text("x\n1\n")
    Path("other.csv").write_text("x\n2\n")
    with connect() as db:
        confine(db, Path("t.csv"))
        assert db.execute("FROM read_csv('t.csv')").fetchall() == [(1,)]
        for statement in (
            "FROM read_csv('other.csv')", "FROM 't.parquet'", "COPY (SELECT 1) TO 'f'", "COPY (SELECT 1) TO 't.csv'",
            "ATTACH 'f.duckdb'", "INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true",
            "SET memory_limit = '9GB'",
        ):  # fmt: skip
            with pytest.raises(duckdb.Error):
                db.execute(statement)
    assert sorted(each.name for each in path.parent.iterdir() if each.is_file()) == ["other.csv", "t.csv", "t.parquet"]


def test_the_command_line_refuses_it_too(path: Path, own_ledger: Path) -> None:
    with pytest.raises(PointillistError, match="join"):
        open_source(path, query="SELECT * FROM source, range(100)")
    assert not own_ledger.exists()


@pytest.mark.parametrize(
    ("query", "asked", "needed"),
    [
        ("SELECT a, b + 1 AS e FROM t WHERE c > 0", ["e"], ["a", "b", "c"]),
        ("SELECT * FROM t WHERE t.C > 0", ["a"], ["a", "c"]),
        ("SELECT * FROM t WHERE c > 0", None, ["a", "b", "c", "d"]),
        ("SELECT a FROM (SELECT * FROM t)", ["a"], ["a"]),
        ("SELECT * EXCLUDE (d) FROM t", ["a"], ["a", "b", "c", "d"]),
        ("SELECT COLUMNS('a|b') FROM t", ["a"], ["a", "b", "c", "d"]),
        ("SELECT t FROM t", ["t"], ["a", "b", "c", "d"]),
        ("SELECT 1 AS one FROM t", ["one"], ["a"]),
        ("FROM t", ["b"], ["b"]),
    ],
)
def test_the_columns_that_a_query_needs(query: str, asked: list[str] | None, needed: list[str]) -> None:
    assert RowWise(query).needs(["a", "b", "c", "d"], asked) == needed
