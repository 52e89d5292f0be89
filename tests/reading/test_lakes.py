"""Lakes: Delta and Iceberg tables, each at one state, whatever is written to them meanwhile."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.fixtures.servers import Store
from tests.fixtures.sources import SCHEMA, encoded, refusal, texts

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.privacy.ledger import Ledger
from pointillist.reading.opening import open_source

deltalake = pytest.importorskip("deltalake")
SMALL = pt.Schema(
    name="small", rows=200, columns={"a": pt.Categorical(categories=("p", "q", "r")), "b": pt.Integer(min=0, max=9)}
)


def rows(first: int, count: int) -> pa.Table:
    return pa.table({"a": ["p", "q"] * (count // 2), "b": list(range(first, first + count))})


class TestDelta:
    @pytest.fixture
    def delta(self, tmp_path: Path) -> Path:
        """Three versions: 10 rows, 20 rows, and 15 of them, which were written anew."""
        path = tmp_path / "delta"
        deltalake.write_deltalake(path, rows(0, 10))
        deltalake.write_deltalake(path, rows(10, 10), mode="append")
        deltalake.DeltaTable(path).delete("b >= 15")
        return path

    def test_rows_that_were_written_anew_are_there_once(self, delta: Path) -> None:
        source = open_source(delta)
        assert source.version == "version 2"
        assert sorted(b for (b,) in texts(source, ["b"])) == list(range(15))

    def test_a_stated_version(self, delta: Path) -> None:
        for version, count in ((0, 10), (1, 20), (2, 15)):
            source = open_source(f"file://{delta}?version={version}")
            assert (source.version, len(texts(source, ["b"]))) == (f"version {version}", count)
        assert len(texts(pt.sql("SELECT b FROM source WHERE a = 'p'", f"file://{delta}?version=1"), ["b"])) == 10

    def test_all_passes_see_one_version_and_the_ledger_says_which(self, delta: Path) -> None:
        steps = []

        def progress(step: str, part: float) -> None:
            if step == "spend":
                deltalake.write_deltalake(delta, rows(0, 100), mode="overwrite")
            steps.append(step)

        for table in (delta, pt.sql("SELECT * FROM source", delta)):
            pt.release(table, SMALL, epsilon=2.0, progress=progress)
        assert any(step.startswith("pass 2") for step in steps)
        purposes = [spend.purpose for account in Ledger().accounts() for spend in account.spends]
        assert purposes == ["mosaic, version 2", "mosaic, version 3"]

    def test_partitions(self, tmp_path: Path, table: pa.Table, expected: Counter[Any]) -> None:
        deltalake.write_deltalake(tmp_path / "d", table.drop(["note"]), partition_by=["grade"])
        assert encoded(tmp_path / "d", SCHEMA) == expected

    def test_in_a_bucket(self, store: Store, delta: Path) -> None:
        url = store.put("lake/delta", delta)
        assert len(texts(url, ["b"])) == 15
        source = open_source(f"{url}?version=1")
        assert (source.version, source.name, len(texts(source, ["b"]))) == ("version 1", url, 20)

    def test_refusals(self, delta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "at that version" in refusal(lambda: open_source(f"file://{delta}?version=9"))
        with pytest.raises(UsageError, match="whole number"):
            open_source(f"file://{delta}?version=last")
        gone = open_source(delta)
        for path in delta.glob("*.parquet"):
            path.unlink()
        assert "no such file" in refusal(lambda: texts(gone, ["b"]))
        monkeypatch.setitem(sys.modules, "deltalake", None)
        with pytest.raises(UsageError, match=r"pip install 'pointillist\[lakes\]'"):
            open_source(delta)


class TestIceberg:
    @pytest.fixture
    def table_of(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        """A catalog that the environment names, and a table with three snapshots."""
        pytest.importorskip("pyiceberg")
        from pyiceberg.catalog import load_catalog

        for name, value in {
            "TYPE": "sql",
            "URI": f"sqlite:///{tmp_path}/c.db",
            "WAREHOUSE": f"file://{tmp_path}",
        }.items():
            monkeypatch.setenv(f"PYICEBERG_CATALOG__MINE__{name}", value)
        facts = {"type": "sql", "uri": f"sqlite:///{tmp_path}/c.db", "warehouse": f"file://{tmp_path}"}
        monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", __import__("pyiceberg.utils.config").utils.config.Config())
        catalog = load_catalog("mine", **facts)
        catalog.create_namespace("ns")
        made = catalog.create_table("ns.people", schema=rows(0, 2).schema)
        made.append(rows(0, 10))
        made.append(rows(10, 10))
        made.delete("b >= 15")
        yield made
        catalog.close()

    def test_a_stated_snapshot_and_the_latest(self, table_of: Any) -> None:
        first = table_of.history()[0].snapshot_id
        source = open_source(f"iceberg://mine/ns.people?snapshot={first}")
        assert (source.version, source.column_names()) == (f"snapshot {first}", ["a", "b"])
        assert len(texts(source, ["b"])) == 10
        latest = open_source("iceberg://mine/ns.people")
        assert sorted(b for (b,) in texts(latest, ["b"])) == list(range(15))
        table_of.append(rows(50, 10))
        assert len(texts(latest, ["b"])) == 15
        assert set(latest.types()) == {"a", "b"}
        drafted = pt.draft(pt.sql("SELECT b FROM source", "iceberg://mine/ns.people"), name="x")
        assert list(drafted.columns) == ["b"]

    def test_refusals(self, table_of: Any, tmp_path: Path) -> None:
        assert "no such table" in refusal(lambda: open_source("iceberg://mine/ns.nobody"))
        assert "no such snapshot" in refusal(lambda: open_source("iceberg://mine/ns.people?snapshot=5"))
        assert "cannot be asked" in refusal(lambda: open_source("iceberg://other/ns.people"))
        folder = next(tmp_path.rglob("*.metadata.json")).parent.parent
        assert "is an Iceberg table" in refusal(lambda: open_source(folder))
