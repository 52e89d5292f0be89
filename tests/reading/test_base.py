"""Sources: one table in any form is the same table, and what is wrong with one is told without its values."""

import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from PIL import Image as Pillow
from pyarrow import feather, parquet
from tests.fixtures.sources import (
    KINDS,
    ON_DISK,
    PERHAPS_SELECTED,
    SCHEMA,
    SECRET,
    encoded,
    every_kind,
    refusal,
    silent,
    texts,
)

import pointillist
from pointillist.reading.base import SOURCES, Report, Source
from pointillist.reading.databases import sql
from pointillist.reading.opening import open_address, open_source
from pointillist.reading.rows import read_records
from pointillist.schema import (
    Categorical,
    Datetime,
    Image,
    Integer,
    Person,
    Schema,
)


class TestSameTableFromAnySource:
    @every_kind
    def test_gives_the_same_codes_again_and_again(
        self, kind: str, table: pa.Table, expected: Counter[tuple[int, ...]], tmp_path: Path
    ) -> None:
        source = open_source(KINDS[kind](tmp_path, table))
        assert expected.total() == table.num_rows
        assert encoded(source, SCHEMA) == expected
        assert encoded(source, SCHEMA) == expected

    @every_kind
    def test_is_whole_only_where_that_is_known(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        assert open_source(KINDS[kind](tmp_path, table)).whole == (kind not in PERHAPS_SELECTED)

    @every_kind
    def test_has_its_columns(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        assert open_source(KINDS[kind](tmp_path, table)).column_names() == table.column_names

    @every_kind
    def test_reads_only_what_is_asked_for(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        batches = list(open_source(KINDS[kind](tmp_path, table)).batches(["visits", "town"], SCHEMA, silent))
        assert all(batch.schema.names == ["visits", "town"] for batch in batches)
        assert sum(batch.num_rows for batch in batches) == table.num_rows

    @every_kind
    def test_tells_how_far_it_is(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        told: list[float] = []
        list(open_source(KINDS[kind](tmp_path, table)).batches(["visits"], SCHEMA, told.append))
        assert told == sorted(told)
        assert all(0 <= part <= 1 for part in told)
        assert told[-1] == 1.0

    @every_kind
    def test_lacks_a_column(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        source = open_source(KINDS[kind](tmp_path, table.drop_columns(["weight"])))
        message = refusal(lambda: encoded(source, SCHEMA))
        assert message.startswith(f"{source.name}: column 'weight' of the schema is not in the table")

    @every_kind
    def test_without_rows(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        assert encoded(KINDS[kind](tmp_path, table[:0]), SCHEMA) == Counter()

    @pytest.mark.parametrize(
        ("kind", "frame"), [("pandas", "pandas"), ("polars", "polars"), ("polars lazy", "polars"), ("table", "pyarrow")]
    )
    def test_knows_the_frame_that_rows_came_in(self, kind: str, frame: str, table: pa.Table, tmp_path: Path) -> None:
        assert open_source(KINDS[kind](tmp_path, table)).frame == frame

    @every_kind
    @pytest.mark.parametrize("capped", [False, True])
    def test_odd_names_of_columns(self, kind: str, capped: bool, tmp_path: Path) -> None:
        names = ["a.b", "a", "two words", 'say "x"', "it's", "größe", "年龄", "#", "x[0]", "select", "*"]
        table = pa.table({"person": ["p", "q"], **{name: [f"{n}", "z"] for n, name in enumerate(names)}})
        rows = texts(KINDS[kind](tmp_path, table), names, Person(column="person", max_rows=1) if capped else None)
        assert rows == [tuple(str(n) for n in range(len(names))), ("z",) * len(names)]

    def test_a_new_kind_of_source_has_to_claim_that_it_is_whole(self) -> None:
        assert Source.whole is False


class TestRefusals:
    def test_columns_of_the_same_name(self, tmp_path: Path) -> None:
        twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])
        (tmp_path / "t.csv").write_text("x,x\na,b\n")
        parquet.write_table(twice, tmp_path / "t.parquet")
        feather.write_feather(twice, tmp_path / "t.arrow")
        db = duckdb.connect()
        for source in (
            tmp_path / "t.csv",
            tmp_path / "t.parquet",
            tmp_path / "t.arrow",
            ds.dataset(twice),
            db.sql("SELECT 'a' AS x, 'b' AS x"),
            sql("SELECT 'a' AS x, 'b' AS x"),
        ):
            assert refusal(lambda source=source: texts(source, ["x"]))
        assert "columns 1 and 2 have the same name" in refusal(lambda: texts(tmp_path / "t.csv", ["x"]))

    def test_names_that_are_there_twice_are_not_repeated(self, tmp_path: Path) -> None:
        """The first line of a file without a header is a private row."""
        (tmp_path / "t.csv").write_text(f"1,{SECRET},7,{SECRET}\n2,b,8,c\n")
        message = refusal(lambda: pointillist.draft(tmp_path / "t.csv", name="t"))
        assert message == f"{tmp_path / 't.csv'}: columns 2 and 4 have the same name. Rename one of them."


class TestZonedTimes:
    """A session's own time zone must not move a time."""

    when = pa.table({"id": ["p"], "x": pa.array([dt.datetime(2020, 5, 1, 23, 30)], pa.timestamp("us", "America/Lima"))})

    schema = Schema(
        name="s",
        columns={"x": Datetime(min=dt.datetime(2020, 5, 1), max=dt.datetime(2020, 5, 9), out_of_domain="error")},
    )

    @pytest.mark.parametrize("kind", ["table", "parquet", "feather", "pandas", "polars", "duckdb relation"])
    @pytest.mark.parametrize("person", [None, Person(column="id", max_rows=1)])
    def test_any_source(self, kind: str, person: Person | None, tmp_path: Path) -> None:
        schema = self.schema.model_copy(update={"person": person})
        assert encoded(KINDS[kind](tmp_path, self.when), schema) == Counter({(0,): 1})


def test_a_misspelt_column_is_recognised_and_other_names_are_not_shown() -> None:
    frame = pd.DataFrame({"bmi": [1.0], SECRET: [2.0]})
    message = refusal(lambda: texts(frame, ["bmii"]))
    assert "Did you mean 'bmi'?" in message


class TestPartitions:
    """A table in parts is the table: every row is in one of them, and another process may open them by their addresses."""

    @every_kind
    @pytest.mark.parametrize("most", [1, 2, 7, 10_000])
    def test_together_they_are_the_table(
        self, kind: str, most: int, table: pa.Table, expected: Counter[tuple[int, ...]], tmp_path: Path
    ) -> None:
        parts = open_source(KINDS[kind](tmp_path, table)).partitions(most)
        assert 1 <= len(parts) <= most
        found: Counter[tuple[int, ...]] = Counter()
        for part in parts:
            found += encoded(part, SCHEMA)
        assert found == expected

    @pytest.mark.parametrize("kind", ON_DISK)
    def test_are_found_at_their_addresses(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        for part in open_source(KINDS[kind](tmp_path, table)).partitions(3):
            address = json.loads(json.dumps(part.address()))
            assert encoded(open_address(address), SCHEMA) == encoded(part, SCHEMA)

    @pytest.mark.parametrize("kind", ["folder", "npz"])
    def test_images_are_found_at_their_addresses(self, kind: str, tmp_path: Path) -> None:
        schema, path = images_on_disk(kind, tmp_path)
        address = json.loads(json.dumps(open_source(path).address()))
        here, there = (read_records(source, schema) for source in (path, open_address(address)))
        assert here.rows == 4
        assert np.array_equal(here.images["image"], there.images["image"])
        assert np.array_equal(here.codes["label"], there.codes["label"])

    @pytest.mark.parametrize("kind", sorted({*KINDS} - {*ON_DISK}))
    def test_what_is_in_memory_or_selected_has_no_address(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        assert open_source(KINDS[kind](tmp_path, table)).address() is None


def images_on_disk(kind: str, folder: Path) -> tuple[Schema, Path]:
    """Some images with labels, on disk."""
    label = Categorical(categories=("a", "b"), missing=False, out_of_domain="error")
    schema = Schema(name="s", columns={"image": Image(height=2, width=2, colour=False), "label": label})
    pixels = np.arange(16, dtype=np.uint8).reshape(4, 2, 2)
    if kind == "npz":
        np.savez(folder / "t.npz", x=pixels, y=np.array(["a", "b", "b", "a"]))
        return schema, folder / "t.npz"
    for number, each in enumerate(pixels):
        (folder / "t" / "ab"[number % 2]).mkdir(parents=True, exist_ok=True)
        Pillow.fromarray(each).save(folder / "t" / "ab"[number % 2] / f"{number}.png")
    return schema, folder / "t"


def test_a_new_kind_of_source_is_one_class() -> None:
    """It is entered in the registry, and whatever reads tables reads it."""

    class Rows:
        """A table of somebody else's."""

        def __init__(self, **columns: list[Any]):
            self.columns = columns

    @SOURCES.register("rows")
    class RowsSource(Source):
        name = "the rows"

        def __init__(self, rows: Rows):
            self.rows = rows

        @classmethod
        def suits(cls, table: Any) -> bool:
            return isinstance(table, Rows)

        @classmethod
        def opened(cls, table: Any, delimiter: str) -> Source:
            return cls(table)

        def column_names(self) -> list[str]:
            return list(self.rows.columns)

        def read(self, columns: list[str], schema: Schema, report: Report) -> Iterator[pa.RecordBatch]:
            yield pa.record_batch({name: self.rows.columns[name] for name in columns})

        def query(self, db: Any, statement: str) -> Any:
            raise NotImplementedError

    try:
        schema = Schema(name="s", columns={"x": Integer(min=0, max=9, missing=False)})
        assert read_records(Rows(x=[3, 4], y=["?", "?"]), schema).codes["x"].tolist() == [3, 4]
        made = pointillist.release(Rows(x=[3, 4]), schema, epsilon=1)
        assert made.schema == schema
    finally:
        SOURCES._entries[:] = [each for each in SOURCES._entries if each.name != "rows"]
