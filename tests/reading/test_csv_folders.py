"""CSV folders: one table in several files."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.fixtures.sources import SCHEMA, encoded, refusal, texts, write_csv, write_parquet

import pointillist as pt
from pointillist.reading.opening import open_source


def folder(path: Path, table: pa.Table) -> Path:
    (path / "deeper").mkdir(parents=True)
    write_csv(path / "a.csv", table[:100])
    write_csv(path / "b.csv.gz", table[100:200])
    write_csv(path / "deeper" / "c.csv", table[200:])
    return path


def test_the_rows_of_all_files(table: pa.Table, expected: Counter[Any], tmp_path: Path) -> None:
    source = open_source(folder(tmp_path / "t", table))
    assert encoded(source, SCHEMA) == expected
    assert sum((encoded(part, SCHEMA) for part in source.partitions(8)), Counter()) == expected
    assert source.partitions(2) == (source,)
    query = pt.sql("SELECT upper(town) AS town FROM source WHERE town = 'Ay'", tmp_path / "t")
    assert set(texts(query, ["town"])) == {("AY",)}
    one = write_csv(tmp_path / "t.csv", table)
    assert pt.draft(source, name="t").columns == pt.draft(one, name="t").columns


def test_decimal_commas(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a;b\np;1,5\nq;2,5\n")
    drafted = pt.draft(tmp_path, name="t")
    assert isinstance(drafted.columns["b"], pt.Real)
    assert sum(encoded(tmp_path, pt.Schema(name="s", columns={"b": drafted.columns["b"]})).values()) == 4


def test_files_that_do_not_belong_together(table: pa.Table, tmp_path: Path) -> None:
    path = folder(tmp_path / "t", table)
    with open_source(path).held() as held:
        write_csv(path / "a.csv", table[:50])
        assert "was changed" in refusal(held.require_unchanged)
    (path / "a.csv").write_text("town,other\nAy,1\n")
    assert "name different columns" in refusal(lambda: encoded(path, SCHEMA))
    write_parquet(path / "d.parquet", table)
    assert "and not several of them" in refusal(lambda: open_source(path))
