"""Parquet and Arrow files, folders of them, and datasets."""

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from pyarrow import parquet
from tests.fixtures.sources import SCHEMA, encoded, refusal, texts, write_feather, write_folder, write_parquet

from pointillist.reading.opening import open_source
from pointillist.schema import (
    Categorical,
    Person,
    Schema,
)


class TestRead:
    @pytest.mark.parametrize("capped", [False, True])
    def test_a_filtered_dataset_stays_filtered(self, capped: bool, table: pa.Table, tmp_path: Path) -> None:
        path = write_folder(tmp_path / "t", table)
        person = Person(column="person", max_rows=10**6) if capped else None
        schema = SCHEMA.model_copy(update={"person": person})
        few = pc.greater(table["visits"], 10)
        few = pc.and_(few, pc.is_valid(table["person"])) if capped else few
        for dataset in (ds.dataset(path), ds.dataset(table)):
            found = encoded(dataset.filter(ds.field("visits") > 10), schema)
            assert found == encoded(table.filter(few), SCHEMA)

    @pytest.mark.parametrize("capped", [False, True])
    def test_a_dataset_with_a_column_in_its_folders(self, capped: bool, tmp_path: Path) -> None:
        table = pa.table({"person": ["p", "q", "r"], "year": [2020, 2021, 2020], "x": ["a", "b", "c"]})
        parquet.write_to_dataset(table, tmp_path / "t", partition_cols=["year"])
        person = Person(column="person", max_rows=1) if capped else None
        rows = texts(ds.dataset(tmp_path / "t", partitioning="hive"), ["year", "x"], person)
        assert {frozenset(row) for row in rows} == {
            frozenset([2020, "a"]),
            frozenset([2021, "b"]),
            frozenset([2020, "c"]),
        }

    def test_files_of_a_folder_may_differ_in_the_order_of_columns(self, tmp_path: Path) -> None:
        parquet.write_table(pa.table({"x": ["a"], "y": ["b"]}), tmp_path / "1.parquet")
        parquet.write_table(pa.table({"y": ["d"], "x": ["c"]}), tmp_path / "2.parquet")
        schema = Schema(
            name="s", columns={"x": Categorical(categories=("a", "c")), "y": Categorical(categories=("b", "d"))}
        )
        assert encoded(tmp_path, schema) == Counter({(0, 0): 1, (1, 1): 1})

    def test_a_file_of_a_folder_without_a_column(self, tmp_path: Path) -> None:
        parquet.write_table(pa.table({"x": ["a"], "y": ["b"]}), tmp_path / "1.parquet")
        parquet.write_table(pa.table({"x": ["c"]}), tmp_path / "2.parquet")
        assert "column 'y' is not in this file" in refusal(lambda: texts(tmp_path, ["x", "y"]))


class TestRefusals:
    def test_a_folder_without_or_with_two_kinds_of_files(self, table: pa.Table, tmp_path: Path) -> None:
        assert "a folder must hold Parquet files" in refusal(lambda: open_source(tmp_path))
        write_parquet(tmp_path / "t.parquet", table)
        write_feather(tmp_path / "t.arrow", table)
        assert "a folder must hold Parquet files" in refusal(lambda: open_source(tmp_path))

    def test_a_damaged_parquet_file(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"x": [str(n) for n in range(50_000)]}), path, use_dictionary=False)
        content = bytearray(path.read_bytes())
        content[5_000:9_000] = b"\xff" * 4_000
        path.write_bytes(content)
        assert str(path) in refusal(lambda: texts(path, ["x"]))
