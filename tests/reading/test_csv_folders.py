"""CSV folders: one table in several files."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
from tests.fixtures.sources import SCHEMA, encoded, refusal, texts, write_csv, write_parquet

import pointillist as pt
from pointillist.reading.opening import open_address, open_source


def folder(path: Path, table: pa.Table) -> Path:
    (path / "deeper").mkdir(parents=True)
    write_csv(path / "a.csv", table[:100])
    write_csv(path / "b.csv.gz", table[100:200])
    write_csv(path / "deeper" / "c.csv", table[200:])
    return path


def test_the_rows_of_all_files(table: pa.Table, expected: Counter[Any], tmp_path: Path) -> None:
    source = open_source(folder(tmp_path / "t", table))
    assert encoded(source, SCHEMA) == expected
    for most, parts in ((8, 3), (2, 2), (1, 1)):
        found = [open_address(json.loads(json.dumps(part.address()))) for part in source.partitions(most)]
        assert len(found) == parts
        assert sum((encoded(part, SCHEMA) for part in found), Counter()) == expected
    query = pt.sql("SELECT upper(town) AS town FROM source WHERE town = 'Ay'", tmp_path / "t")
    assert set(texts(query, ["town"])) == {("AY",)}
    one = write_csv(tmp_path / "t.csv", table)
    assert pt.draft(source, name="t").columns == pt.draft(one, name="t").columns


def test_copies_of_editors_and_of_unfinished_writers_are_no_part_of_the_table(
    table: pa.Table, expected: Counter[Any], tmp_path: Path
) -> None:
    folder(tmp_path / "t", table)
    for place in (".ipynb_checkpoints/a-checkpoint.csv", "_temporary/part-0.csv", "deeper/.c.csv", "_a.csv"):
        (tmp_path / "t" / place).parent.mkdir(exist_ok=True)
        write_csv(tmp_path / "t" / place, table)
    assert encoded(tmp_path / "t", SCHEMA) == expected


def test_decimal_commas(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a;b\np;1,5\nq;2,5\n")
    drafted = pt.draft(tmp_path, name="t")
    assert isinstance(drafted.columns["b"], pt.Real)
    assert sum(encoded(tmp_path, pt.Schema(name="s", columns={"b": drafted.columns["b"]})).values()) == 4


def test_what_programs_leave_beside_the_table_is_no_part_of_it(
    table: pa.Table, expected: Counter[Any], tmp_path: Path
) -> None:
    path = folder(tmp_path / "t", table)
    for name in (".ipynb_checkpoints/a.csv", "_temporary/0/a.csv", "deeper/.c.csv", "_a.csv"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        write_csv(path / name, table[:100])
    assert encoded(path, SCHEMA) == expected


def test_files_that_do_not_belong_together(table: pa.Table, tmp_path: Path) -> None:
    path = folder(tmp_path / "t", table)
    with open_source(path).held() as held:
        write_csv(path / "a.csv", table[:50])
        assert "was changed" in refusal(held.require_unchanged)
    (path / "a.csv").write_text("town,other\nAy,1\n")
    assert "name different columns" in refusal(lambda: encoded(path, SCHEMA))
    assert "name different columns" in refusal(lambda: open_source(path).partitions(8))
    write_parquet(path / "d.parquet", table)
    assert "and not several of them" in refusal(lambda: open_source(path))
