"""Databases: relations and queries of DuckDB."""

from pathlib import Path

import duckdb
import pyarrow as pa
from tests.fixtures.sources import SECRET, refusal, texts, write_csv

from pointillist.reading.databases import sql
from pointillist.reading.opening import open_source
from pointillist.schema import (
    Person,
)


class TestQuery:
    def test_a_query_beside_the_table(self, table: pa.Table, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", table)
        source = open_source(path, query="SELECT upper(town) AS town FROM source WHERE town = 'Ay'")
        assert set(texts(source, ["town"])) == {("AY",)}


class TestRefusals:
    def test_a_query_that_fails(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "t.csv", pa.table({"x": [SECRET]}))
        for query in ("SELECT x::INTEGER AS x FROM source", "SELEC", "SELECT y FROM source"):
            message = refusal(lambda query=query: texts(sql(query, tmp_path / "t.csv"), ["x"]))
            assert message.startswith(f"the query on {tmp_path / 't.csv'} failed")


class TestTablesCalledSource:
    def test_a_relation_on_a_table_called_source(self) -> None:
        db = duckdb.connect()
        db.execute("CREATE TABLE source AS SELECT * FROM (VALUES ('p', 'a'), ('p', 'b'), ('q', 'c')) t(id, x)")
        for _ in range(2):
            rows = texts(db.table("source"), ["x"], Person(column="id", max_rows=1))
            assert len(rows) == 2
        assert db.execute("SELECT count(*) FROM source").fetchall() == [(3,)]

    def test_a_database_with_a_table_called_source(self, tmp_path: Path) -> None:
        path = tmp_path / "t.duckdb"
        with duckdb.connect(str(path)) as db:
            db.execute("CREATE TABLE source AS SELECT * FROM (VALUES ('p', 'a'), ('p', 'b'), ('q', 'c')) t(id, x)")
        query = sql("SELECT * FROM source", path)
        assert len(texts(query, ["x"])) == 3
        assert len(texts(query, ["x"], Person(column="id", max_rows=1))) == 2
