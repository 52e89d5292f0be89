import csv
import datetime as dt
import gzip
import io
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import pointillist
from pointillist.curator.capping import capped, owned
from pointillist.errors import DataError, UsageError
from pointillist.features import Records
from pointillist.reading.batches import BATCH_ROWS
from pointillist.reading.connection import connect
from pointillist.reading.databases import sql
from pointillist.reading.encoding import Encoder
from pointillist.reading.opening import open_source
from pointillist.reading.source import Source
from pointillist.schema import (
    MISSING_TEXTS,
    Boolean,
    Categorical,
    Datetime,
    Ignore,
    Integer,
    Ordinal,
    Person,
    Real,
    Schema,
)
from pointillist.schema.levels import levels_of

SOME = settings(deadline=None, max_examples=30)
FEW = settings(deadline=None, max_examples=25)
SECRET = "Confidential417"

SCHEMA = Schema(
    name="people",
    columns={
        "town": Categorical(categories=("Ay", "Bee, see", 'De"e', "E\nf")),
        "code": Categorical(categories=(1, 2, 3)),
        "grade": Ordinal(categories=("low", "NA", "high")),
        "member": Boolean(),
        "visits": Integer(min=0, max=50, special=(-1,)),
        "weight": Real(min=0.5, max=1000, scale="log", special=(0.0,)),
        "born": Datetime(min=dt.datetime(1900, 1, 1), max=dt.datetime(2020, 12, 31), bins=4096),
        "seen": Datetime(min=dt.datetime(2020, 1, 1), max=dt.datetime(2021, 1, 1), resolution="second", bins=4096),
        "note": Ignore(),
    },
)


def make_table(rows: int = 300, seed: int = 0) -> pa.Table:
    """A table for `SCHEMA`, with gaps, unlisted values, values out of bounds and a person for each few rows."""
    rng = np.random.default_rng(seed)

    def gaps(values: Any, kind: pa.DataType | None = None) -> pa.Array:
        return pa.array(values, type=kind, mask=rng.random(rows) < 0.1)

    return pa.table(
        {
            "person": gaps(rng.integers(0, max(1, rows // 8), rows)),
            "note": gaps([f"note {n}, {SECRET}\n" for n in range(rows)]),
            "town": gaps(rng.choice(["Ay", "Bee, see", 'De"e', "E\nf", "Unlisted"], rows)),
            "code": gaps(rng.integers(1, 5, rows)),
            "grade": gaps(rng.choice(["low", "NA", "high"], rows)),
            "member": gaps(rng.random(rows) < 0.5),
            "visits": gaps(rng.integers(-3, 60, rows)),
            "weight": gaps(np.where(rng.random(rows) < 0.2, 0.0, np.exp(rng.normal(3, 3, rows)))),
            "born": gaps(rng.integers(-30_000, 20_000, rows).astype("M8[D]"), pa.date32()),
            "seen": gaps(
                (rng.integers(1_570_000_000, 1_620_000_000, rows) * 10**6).astype("M8[us]"), pa.timestamp("us")
            ),
        }
    )


def write_csv(path: Path, table: pa.Table, delimiter: str = ",") -> Path:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow(["" if value is None else str(value) for value in row])
    content = stream.getvalue().encode()
    if path.suffix == ".zst":
        content = pa.compress(content, "zstd", asbytes=True)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def write_folder(folder: Path, table: pa.Table) -> Path:
    (folder / "deeper").mkdir(parents=True)
    third = table.num_rows // 3
    parquet.write_table(table[:third], folder / "a.parquet")
    parquet.write_table(table[third : 2 * third], folder / "b.parquet")
    parquet.write_table(table[2 * third :], folder / "deeper" / "c.parquet")
    return folder


def write_parquet(path: Path, table: pa.Table) -> Path:
    parquet.write_table(table, path, row_group_size=50)
    return path


def write_feather(path: Path, table: pa.Table) -> Path:
    feather.write_feather(table, path, chunksize=70)
    return path


def write_database(path: Path, table: pa.Table) -> Path:
    with duckdb.connect(str(path)) as db:
        db.register("rows", table)
        db.execute("CREATE TABLE people AS SELECT * FROM rows")
    return path


def with_categories(frame: pl.DataFrame) -> pl.DataFrame:
    return pl.DataFrame([each.cast(pl.Categorical) if each.dtype == pl.String else each for each in frame])


def relation(table: pa.Table) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(table)


KINDS: dict[str, Callable[[Path, pa.Table], Any]] = {
    "csv": lambda folder, table: write_csv(folder / "t.csv", table),
    "csv as text path": lambda folder, table: str(write_csv(folder / "t.csv", table)),
    "csv.gz": lambda folder, table: write_csv(folder / "t.csv.gz", table),
    "csv.zst": lambda folder, table: write_csv(folder / "t.csv.zst", table),
    "tsv": lambda folder, table: write_csv(folder / "t.tsv", table, "\t"),
    "tsv.gz": lambda folder, table: write_csv(folder / "t.tsv.gz", table, "\t"),
    "parquet": lambda folder, table: write_parquet(folder / "t.parquet", table),
    "parquet folder": lambda folder, table: write_folder(folder / "t", table),
    "arrow": lambda folder, table: write_feather(folder / "t.arrow", table),
    "feather": lambda folder, table: write_feather(folder / "t.feather", table),
    "table": lambda folder, table: table,
    "chunked table": lambda folder, table: pa.concat_tables([table[:10], table[10:11], table[11:]]),
    "batch": lambda folder, table: pa.RecordBatch.from_pylist(table.to_pylist(), table.schema),
    "dataset": lambda folder, table: ds.dataset(table),
    "dataset of files": lambda folder, table: ds.dataset(write_folder(folder / "t", table)),
    "pandas": lambda folder, table: table.to_pandas(),
    "pandas with arrow types": lambda folder, table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas with categories": lambda folder, table: table.to_pandas(strings_to_categorical=True),
    "polars": lambda folder, table: pl.from_arrow(table),
    "polars with categories": lambda folder, table: with_categories(pl.from_arrow(table)),
    "polars lazy": lambda folder, table: pl.from_arrow(table).lazy(),
    "duckdb relation": lambda folder, table: relation(table),
    "sql on csv": lambda folder, table: sql("SELECT * FROM source", write_csv(folder / "t.csv", table)),
    "sql on parquet": lambda folder, table: sql("SELECT * FROM source", write_parquet(folder / "t.parquet", table)),
    "sql on a folder": lambda folder, table: sql("FROM source", write_folder(folder / "t", table)),
    "sql on a database": lambda folder, table: sql("SELECT * FROM people", write_database(folder / "t.duckdb", table)),
    "sql by itself": lambda folder, table: sql(f"FROM '{write_parquet(folder / 't.parquet', table)}'"),
}  # fmt: skip
PERHAPS_SELECTED = {
    "dataset", "dataset of files", "polars lazy", "duckdb relation", "sql on csv", "sql on parquet", "sql on a folder",
    "sql on a database", "sql by itself",
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", KINDS)


def silent(part: float) -> None:
    del part


def encoded(source: Any, schema: Schema) -> Counter[tuple[int, ...]]:
    """How often each row of codes occurs: not every source keeps the order of rows."""
    names = frozenset(schema.measured)
    encoder = Encoder(levels_of(schema), names, frozenset(), "the table")
    rows: Counter[tuple[int, ...]] = Counter()
    for records in stream(open_source(source), encoder, schema):
        rows.update(zip(*(records.codes[name].tolist() for name in schema.measured), strict=True))
    return rows


def stream(source: Source, encoder: Encoder, schema: Schema) -> Iterator[Records]:
    """The encoded rows that count."""
    if schema.person is None:
        return map(encoder, source.batches(encoder.columns, schema, silent))
    columns = [*encoder.columns, schema.person.column]
    rows = owned(source.batches(columns, schema, silent), encoder, schema.person, b"key", source.name)
    return capped(rows, encoder, schema.person, source.name)


def texts(source: Any, names: list[str], person: Person | None = None) -> list[tuple[Any, ...]]:
    """The rows of some columns, sorted; with a person, those that the cap leaves."""
    schema = Schema(name="s", columns={name: Categorical(categories=("a",)) for name in names})
    opened = open_source(source)
    if person is not None:
        opened.require([*names, person.column])
    rows = [
        tuple(row[n] for n in names) for batch in opened.batches(names, schema, silent) for row in batch.to_pylist()
    ]
    if person is not None:
        known = {
            n: {str(row[i]): row[i] for row in rows if row[i] is not None} or {"a": "a"} for i, n in enumerate(names)
        }
        columns = {n: Categorical(categories=tuple(values), out_of_domain="error") for n, values in known.items()}
        schema = Schema(name="s", person=person, columns=columns)
        encoder = Encoder(levels_of(schema), frozenset(names), frozenset(), "the table")
        rows = []
        for records in stream(opened, encoder, schema):
            values = [[*known[n].values(), None] for n in names]
            codes = [records.codes[n] for n in names]
            rows += [tuple(values[i][codes[i][r]] for i in range(len(names))) for r in range(records.rows)]
    return sorted(rows, key=str)


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises(DataError) as caught:
        work()
    assert SECRET not in "".join(traceback.format_exception(caught.value))
    return str(caught.value)


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return make_table()


@pytest.fixture(scope="module")
def expected(table: pa.Table) -> Counter[tuple[int, ...]]:
    return encoded(table, SCHEMA)


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

    def test_a_new_kind_of_source_has_to_claim_that_it_is_whole(self) -> None:
        assert Source.whole is False

    def test_a_source_stays_what_it_is(self, table: pa.Table) -> None:
        source = open_source(table)
        assert open_source(source) is source

    def test_the_public_name(self) -> None:
        assert isinstance(pointillist.sql("SELECT 1 AS x"), Source)
        assert texts(pointillist.sql("SELECT 'a' AS x"), ["x"]) == [("a",)]

    def test_a_query_beside_the_table(self, table: pa.Table, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", table)
        source = open_source(path, query="SELECT upper(town) AS town FROM source WHERE town = 'Ay'")
        assert set(texts(source, ["town"])) == {("AY",)}


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda content: content[:-50],
    "nonsense": lambda content: content[:12] + b"\xff" * 60,
    "a hole": lambda content: content[:20_000] + bytes(500) + content[20_500:],
    "a byte before": lambda content: b"x" + content,
}


class TestRefusals:
    def test_streams(self, table: pa.Table) -> None:
        for stream in (table.to_reader(), iter(table.to_batches()), (batch for batch in table.to_batches())):
            with pytest.raises(UsageError, match="a stream can be read only once"):
                open_source(stream)

    @pytest.mark.parametrize("thing", [5, None, [1, 2], {"a": [1]}, np.zeros(3), object()])
    def test_what_is_no_table(self, thing: Any) -> None:
        with pytest.raises(UsageError, match="is not known"):
            open_source(thing)

    def test_a_missing_file(self, tmp_path: Path) -> None:
        for name in ("no.csv", "no.parquet", "no.duckdb"):
            assert refusal(lambda name=name: open_source(tmp_path / name)) == f"{tmp_path / name}: no such file."
        query = sql("SELECT 1 AS x FROM source", tmp_path / "no.csv")
        assert refusal(lambda: texts(query, ["x"])) == f"{tmp_path / 'no.csv'}: no such file."

    def test_an_unknown_ending(self, tmp_path: Path) -> None:
        path = tmp_path / "t.xlsx"
        path.touch()
        assert "the ending is not known" in refusal(lambda: open_source(path))

    def test_a_folder_without_or_with_two_kinds_of_files(self, table: pa.Table, tmp_path: Path) -> None:
        assert "a folder must hold Parquet files" in refusal(lambda: open_source(tmp_path))
        write_parquet(tmp_path / "t.parquet", table)
        write_feather(tmp_path / "t.arrow", table)
        assert "a folder must hold Parquet files" in refusal(lambda: open_source(tmp_path))

    @pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
    def test_files_that_are_not_what_their_name_says(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(SECRET)
        assert "cannot be read" in refusal(lambda: texts(tmp_path / name, ["x"]))

    def test_a_damaged_parquet_file(self, tmp_path: Path) -> None:
        path = tmp_path / "t.parquet"
        parquet.write_table(pa.table({"x": [str(n) for n in range(50_000)]}), path, use_dictionary=False)
        content = bytearray(path.read_bytes())
        content[5_000:9_000] = b"\xff" * 4_000
        path.write_bytes(content)
        assert str(path) in refusal(lambda: texts(path, ["x"]))

    @pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
    @pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst"])
    def test_a_damaged_compressed_file(self, ending: str, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
        path = tmp_path / f"t{ending}"
        letters = np.random.default_rng(0).integers(97, 123, 100_000).astype("u1")
        letters[::7] = ord("\n")
        content = b"x\n" + letters.tobytes()
        packed = gzip.compress(content) if ending == ".csv.gz" else pa.compress(content, "zstd", asbytes=True)
        path.write_bytes(damage(packed))
        assert str(path) in refusal(lambda: texts(path, ["x"]))

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

    @pytest.mark.parametrize("kind", ["table", "pandas"])
    def test_columns_of_the_same_name_in_a_frame(self, kind: str) -> None:
        twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["x", "x"])
        frame = twice if kind == "table" else pd.DataFrame([["a", "b"]], columns=["x", "x"])
        assert "more than once" in refusal(lambda: texts(frame, ["x"]))

    def test_a_pandas_column_that_holds_something_else(self) -> None:
        frame = pd.DataFrame({"x": [1.0, SECRET, None]}, dtype=object)
        schema = Schema(name="s", columns={"x": Real(min=0, max=1)})
        assert "column 'x'" in refusal(lambda: encoded(frame, schema))

    def test_a_lazy_frame_that_fails(self) -> None:
        frame = pl.LazyFrame({"x": [SECRET]}).with_columns(pl.col("x").cast(pl.Int64))
        assert refusal(lambda: texts(frame, ["x"]))

    def test_a_query_that_fails(self, tmp_path: Path) -> None:
        write_csv(tmp_path / "t.csv", pa.table({"x": [SECRET]}))
        for query in ("SELECT x::INTEGER AS x FROM source", "SELEC", "SELECT y FROM source"):
            message = refusal(lambda query=query: texts(sql(query, tmp_path / "t.csv"), ["x"]))
            assert message.startswith(f"the query on {tmp_path / 't.csv'} failed")


class TestCsv:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "t.csv"

    def test_a_byte_order_mark(self, path: Path) -> None:
        path.write_bytes(b"\xef\xbb\xbfid,x\n1,a\n2,b\n")
        assert open_source(path).column_names() == ["id", "x"]
        assert texts(path, ["id", "x"]) == [("1", "a"), ("2", "b")]
        assert texts(path, ["x"], Person(column="id", max_rows=1)) == [("a",), ("b",)]

    def test_quoted_newlines_delimiters_and_quotes(self, path: Path) -> None:
        path.write_text('id,x\n1,"a,b"\n2,"c\nd"\n3,"e""f"\n4,\'g\'\n')
        rows = [('e"f',), ("'g'",), ("a,b",), ("c\nd",)]
        assert sorted(texts(path, ["x"])) == sorted(rows)
        assert sorted(texts(path, ["x"], Person(column="id", max_rows=1))) == sorted(rows)

    @pytest.mark.parametrize(
        "name", ["a[1].csv", "x*.csv", "a?.csv", "[.csv", "b\\c.csv", "k=v/z.csv", "[k]=v/a[1].csv.gz"]
    )
    def test_a_path_is_no_pattern(self, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        for other in ("a1.csv", "xy.csv", "ab.csv"):
            (tmp_path / other).write_text("x\nanother\n")
        (tmp_path / name).parent.mkdir(exist_ok=True)
        content = b"x\nown\nown\n"
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        monkeypatch.chdir(tmp_path)
        for path in (Path(name), tmp_path / name):
            assert texts(sql("SELECT * FROM source", path), ["x"]) == [("own",)] * 2
            assert sql("SELECT * FROM source", path).column_names() == ["x"]
            drafted = pointillist.draft(path, name="t").columns
            assert list(drafted) == ["x"]
            assert getattr(drafted["x"], "categories", None) == ("own",)

    def test_a_path_that_cannot_be_told_to_duckdb(self, tmp_path: Path) -> None:
        (tmp_path / "a\\[1].csv").write_text("x\n1\n")
        message = refusal(lambda: texts(sql("FROM source", tmp_path / "a\\[1].csv"), ["x"]))
        assert "has a backslash in it" in message

    def test_long_values_of_many_lines(self, path: Path) -> None:
        """Threads that start in the midst of one would take its lines for rows, and refuse the file."""
        before, after = 1_800_000, 200_000
        value = "7,7\n" * 450_000 + "7,x"
        path.write_text("a,b\n" + "1,2\n" * before + f'3,"{value}"\n' + "1,2\n" * after)
        query = "SELECT count(*), count(*) FILTER (a = '7'), max(length(b)) FROM source"
        with connect() as db:
            found = sql("FROM source", path).query(db, query).fetchall()
        assert found == [(before + 1 + after, 0, len(value))]

    def test_single_quotes_are_part_of_a_value(self, path: Path) -> None:
        path.write_text("id,x\n1,'a'\n2,'b'\n3,'c'\n")
        rows = [("'a'",), ("'b'",), ("'c'",)]
        assert texts(path, ["x"]) == rows
        assert texts(path, ["x"], Person(column="id", max_rows=1)) == rows

    def test_lines_that_look_like_comments(self, path: Path) -> None:
        path.write_text("id,x\n#1,a\n#2,b\n3,#c\n")
        assert texts(path, ["x"]) == texts(path, ["x"], Person(column="id", max_rows=1)) == [("#c",), ("a",), ("b",)]

    def test_windows_lines(self, path: Path) -> None:
        path.write_bytes(b"id,x\r\n1,a\r\n2,b")
        assert texts(path, ["x"]) == [("a",), ("b",)]
        assert texts(path, ["x"], Person(column="id", max_rows=1)) == [("a",), ("b",)]

    @pytest.mark.parametrize("delimiter", [";", "|", "\t", ":"])
    def test_another_delimiter(self, path: Path, delimiter: str, table: pa.Table, expected: Any) -> None:
        write_csv(path, table, delimiter)
        assert encoded(open_source(path, delimiter=delimiter), SCHEMA) == expected

    def test_the_wrong_delimiter_is_hinted_at(self, path: Path, table: pa.Table) -> None:
        write_csv(path, table, ";")
        assert "pass --delimiter ';'" in refusal(lambda: encoded(path, SCHEMA))

    @pytest.mark.parametrize("delimiter", ["", ",,", "tab"])
    def test_a_delimiter_is_one_character(self, path: Path, delimiter: str) -> None:
        path.write_text("x\n1\n")
        with pytest.raises(UsageError, match="delimiter must be one character"):
            open_source(path, delimiter=delimiter)

    def test_an_empty_file(self, path: Path) -> None:
        path.touch()
        assert "The file is empty" in refusal(lambda: texts(path, ["x"]))

    def test_a_header_is_not_repeated(self, path: Path) -> None:
        """The first line of a file without a header is a private row."""
        path.write_text(f"{SECRET},1\nb,2\n")
        assert "column 'x' of the schema is not in the table, which has 2 columns" in refusal(
            lambda: texts(path, ["x"])
        )

    def test_a_bad_number_is_named_by_its_column_alone(self, path: Path) -> None:
        path.write_text(f"note,town,visits,weight\n1,a,2,3\n4,b,5,{SECRET}\n")
        schema = Schema(name="s", columns={"visits": Integer(min=0, max=9), "weight": Real(min=0, max=9)})
        assert "column 'weight' holds a value that cannot be read as real" in refusal(lambda: encoded(path, schema))

    @pytest.mark.parametrize("person", [None, Person(column="id", max_rows=1)])
    @pytest.mark.parametrize("line", [f"3,{SECRET},5", f"{SECRET}"])
    def test_lines_of_unequal_length(self, path: Path, line: str, person: Person | None) -> None:
        path.write_text(f"id,x\n1,a\n2,b\n{line}\n")
        message = refusal(lambda: texts(path, ["x"], person))
        assert "some line has more or fewer values than the first line" in message

    @pytest.mark.parametrize("person", [None, Person(column="id", max_rows=1)])
    def test_text_that_is_not_utf_8(self, path: Path, person: Person | None) -> None:
        path.write_bytes(f"id,x\n1,a\n2,{SECRET}é\n".encode("latin-1"))
        assert "is not UTF-8 text" in refusal(lambda: texts(path, ["x"], person))

    @pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
    def test_more_than_one_block(self, tmp_path: Path, suffix: str) -> None:
        """Blocks are 4 MB: values with newlines and delimiters lie across their borders too."""
        rows = 90_000
        rng = np.random.default_rng(0)
        town = rng.choice(["Ay", "Bee, see", 'De"e', "E\nf"], rows)
        visits = rng.integers(0, 51, rows)
        note = [f"line {n}\nand, more of it to fill the blocks that files are read in" for n in range(rows)]
        table = pa.table({"note": note, "town": town, "visits": visits})
        path = write_csv(tmp_path / f"t{suffix}", table)
        schema = Schema(name="s", columns={name: SCHEMA.columns[name] for name in ("town", "visits")})
        batches = list(open_source(path).batches(["town", "visits"], schema, silent))
        assert len(batches) > 1
        assert encoded(path, schema) == encoded(table, schema)

    @pytest.mark.parametrize("text", MISSING_TEXTS)
    def test_gaps_in_numbers_and_times(self, path: Path, text: str) -> None:
        write_csv(path, pa.table({"id": ["1", "2"], "visits": ["5", text], "born": ["2000-01-01", text]}))
        schema = Schema(name="s", columns={name: SCHEMA.columns[name] for name in ("visits", "born")})
        capped = schema.model_copy(update={"person": Person(column="id", max_rows=1)})
        visits, born = levels_of(schema)
        for case in (schema, capped):
            assert encoded(path, case)[visits.missing, born.missing] == 1

    @pytest.mark.parametrize("text", MISSING_TEXTS)
    def test_a_declared_category_is_the_same_with_and_without_persons(self, path: Path, text: str) -> None:
        path.write_text(f'id,x\n1,a\n2,"{text}"\n3,z\n')
        schema = Schema(name="s", columns={"x": Categorical(categories=("a", text))})
        capped = schema.model_copy(update={"person": Person(column="id", max_rows=1)})
        assert encoded(path, schema) == Counter({(0,): 1, (1,): 1, (2,): 1})
        assert encoded(path, capped) == encoded(path, schema)

    @FEW
    @given(rows=st.lists(st.text(" a'\"#,;|\t\\\n-0", max_size=6), min_size=1, max_size=8))
    def test_any_text_is_the_same_with_and_without_persons(self, rows: list[str], tmp_path_factory: Any) -> None:
        path = write_csv(
            tmp_path_factory.mktemp("csv") / "t.csv", pa.table({"id": [str(n) for n in range(len(rows))], "x": rows})
        )
        read = [(text or None,) for (text,) in texts(path, ["x"])]
        assert sorted(read, key=str) == sorted([(text or None,) for text in rows], key=str)
        capped = [(text or None,) for (text,) in texts(path, ["x"], Person(column="id", max_rows=1))]
        assert sorted(capped, key=str) == sorted(read, key=str)


def kept(rows: list[tuple[Any, Any]], cap: int) -> dict[Any, Counter[Any]]:
    """The values that are kept of each person."""
    owners = [owner for owner, _ in rows]
    values = pa.array([value for _, value in rows], pa.int64())
    table = pa.table({"id": pa.array(owners, pa.string()), "who": pa.array(owners, pa.string()), "x": values})
    columns = {"who": Categorical(categories=("p", "q", "r")), "x": Integer(min=-3, max=3)}
    found: dict[Any, Counter[Any]] = {}
    for (who, x), count in encoded(
        table, Schema(name="s", person=Person(column="id", max_rows=cap), columns=columns)
    ).items():
        found.setdefault("pqr"[who], Counter())[None if x == 7 else x - 3] += count
    return found


owned_rows = st.lists(
    st.tuples(st.none() | st.sampled_from(["p", "q", "r"]), st.none() | st.integers(-3, 3)), max_size=12
)


class TestPersons:
    @every_kind
    def test_no_person_has_more_rows_than_the_cap(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=3)})
        owners = Counter(owner for owner in table["person"].to_pylist() if owner is not None)
        rows = encoded(KINDS[kind](tmp_path, table), schema)
        assert rows.total() == sum(min(3, count) for count in owners.values())
        assert rows <= encoded(table, SCHEMA)

    @every_kind
    def test_the_cap_holds_for_each_person(self, kind: str, tmp_path: Path) -> None:
        owners = ["p"] * 5 + ["q"] * 2 + ["r"] + [None] * 4
        table = pa.table({"id": owners, "who": owners, "x": [str(n) for n in range(12)]})
        person = Person(column="id", max_rows=2)
        found = Counter(who for who, _ in texts(KINDS[kind](tmp_path, table), ["who", "x"], person))
        assert found == {"p": 2, "q": 2, "r": 1}

    @every_kind
    def test_kept_rows_are_the_same_again(self, kind: str, table: pa.Table, tmp_path: Path) -> None:
        source = open_source(KINDS[kind](tmp_path, table))
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=2)})
        assert encoded(source, schema) == encoded(source, schema)

    @SOME
    @given(owned_rows, st.integers(1, 4))
    def test_the_cap_holds_for_any_rows(self, rows: list[tuple[Any, Any]], cap: int) -> None:
        owners = Counter(owner for owner, _ in rows if owner is not None)
        found = kept(rows, cap)
        assert {owner: values.total() for owner, values in found.items()} == {o: min(cap, n) for o, n in owners.items()}
        for owner, values in found.items():
            assert values <= Counter(value for other, value in rows if other == owner)

    @SOME
    @given(owned_rows, st.integers(1, 4), st.randoms(use_true_random=False))
    def test_kept_rows_do_not_depend_on_order(self, rows: list[tuple[Any, Any]], cap: int, random: Any) -> None:
        assert kept(random.sample(rows, len(rows)), cap) == kept(rows, cap)

    @SOME
    @given(owned_rows, st.integers(1, 4))
    def test_kept_rows_do_not_depend_on_other_persons(self, rows: list[tuple[Any, Any]], cap: int) -> None:
        found = kept(rows, cap)
        for person in found:
            assert kept([row for row in rows if row[0] == person], cap) == {person: found[person]}

    def test_kept_rows_do_not_depend_on_the_gaps_of_others(self) -> None:
        """pandas makes a column of whole numbers one of floats when another person's value is missing."""
        mine = pd.DataFrame({"id": ["p"] * 20, "x": range(20)})
        both = pd.concat([mine, pd.DataFrame({"id": ["q"], "x": [None]}, dtype=object)]).infer_objects()
        both["x"] = pd.to_numeric(both["x"])
        schema = Schema(name="s", person=Person(column="id", max_rows=4), columns={"x": Integer(min=0, max=19)})
        alone, together = encoded(mine, schema), encoded(both, schema)
        assert together - Counter({(20,): 1}) == alone

    @pytest.mark.parametrize("missing", [text for text in MISSING_TEXTS if text])
    def test_a_missing_text_names_no_person(self, tmp_path: Path, missing: str) -> None:
        path = tmp_path / "t.csv"
        path.write_text(f"id,x\n{missing},a\n{missing},b\n,c\np,d\n")
        assert texts(path, ["x"], Person(column="id", max_rows=1)) == [("d",)]

    def test_nan_names_no_person(self) -> None:
        frame = pl.DataFrame({"id": [float("nan"), float("nan"), 1.0], "x": ["a", "b", "c"]})
        assert texts(frame, ["x"], Person(column="id", max_rows=1)) == [("c",)]

    @pytest.mark.parametrize("name", ["_owner", "owner", "source", "rowid", "ID", "a b", 'say "x"', "select"])
    @pytest.mark.parametrize("kind", ["csv", "table", "parquet"])
    def test_the_cap_holds_whatever_the_columns_are_called(self, kind: str, name: str, tmp_path: Path) -> None:
        table = pa.table({"person": ["p", "p", "q"], name: ["a", "b", "c"]})
        rows = texts(KINDS[kind](tmp_path, table), [name], Person(column="person", max_rows=1))
        assert len(rows) == 2
        assert ("c",) in rows

    @pytest.mark.parametrize("kind", ["csv", "table", "parquet", "pandas", "polars"])
    def test_names_that_differ_in_case_alone(self, kind: str, tmp_path: Path) -> None:
        table = pa.table({"person": ["p", "q"], "x": ["a", "b"], "X": ["c", "d"]})
        rows = texts(KINDS[kind](tmp_path, table), ["X", "x"], Person(column="person", max_rows=1))
        assert rows == [("c", "a"), ("d", "b")]

    def test_a_column_that_is_not_read_may_hold_anything(self) -> None:
        frame = pd.DataFrame({"id": ["p", "q"], "x": ["a", "b"], "junk": [SECRET, 1]})
        assert texts(frame, ["x"], Person(column="id", max_rows=1)) == [("a",), ("b",)]

    def test_the_column_of_persons_must_be_there(self, tmp_path: Path) -> None:
        path = write_csv(tmp_path / "t.csv", pa.table({"x": ["a"]}))
        person = Person(column="id", max_rows=1)
        assert "column 'id' of the schema is not in the table" in refusal(lambda: texts(path, ["x"], person))

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

    def test_no_files_are_left_behind(self, tmp_path: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(scratch))
        schema = SCHEMA.model_copy(update={"person": Person(column="person", max_rows=2)})
        assert encoded(table, schema)
        assert list(scratch.iterdir()) == []


def test_frames_are_read_in_batches() -> None:
    rows = BATCH_ROWS + 10
    table = pa.table({"x": np.arange(rows) % 7})
    schema = Schema(name="s", columns={"x": Integer(min=0, max=6, missing=False)})
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        batches = list(open_source(frame).batches(["x"], schema, silent))
        assert [batch.num_rows for batch in batches] == [BATCH_ROWS, 10]
        assert encoded(frame, schema) == encoded(table, schema)


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


def test_pandas_columns_may_be_named_by_numbers() -> None:
    assert texts(pd.DataFrame({0: ["a", "b"], 1: ["c", "d"]}), ["1", "0"]) == [("c", "a"), ("d", "b")]


class TestOneRowDoesNotChangeTheOthers:
    """One person's value must not decide how another's is read: neither quotes, nor types, nor names."""

    @pytest.mark.parametrize("odd", ['5","x', 's,"a', '5",a', 'a,b"', '"a"b,c', 's,"a""'])
    def test_quotes_out_of_order_are_refused(self, odd: str, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("x,y\n" + "s,a\n" * 50 + odd + "\n" + "s,a\n" * 50)
        assert "double quote" in refusal(lambda: texts(path, ["x", "y"]))

    @pytest.mark.parametrize("good", ['"5""","x"', '"a\nb",c', '"",""', '"a,b",c', "a'b,c'", '"x",y\r'])
    def test_quotes_in_order_are_read(self, good: str, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_bytes(b"\xef\xbb\xbf" + ('"x",y\n' + "s,a\n" * 50 + good + "\n" + "s,a\n" * 50).encode())
        assert len(texts(path, ["x", "y"])) == 101

    @pytest.mark.parametrize(
        ("column", "values", "odd"),
        [
            (Categorical(categories=("7", "19")), [Decimal(7), Decimal(19)], Decimal("7.5")),
            (Real(min=0, max=1, special=(0.1,)), [Decimal("0.1"), Decimal("0.3")], Decimal("1e-20")),
            (Categorical(categories=("123456789012", "5")), [123456789012, 5], 0.5),
            (Categorical(categories=("1", "2")), [1, 2], None),
            (Categorical(categories=("1", "2")), [1, 2], "x"),
            (Integer(min=0, max=9), [1, 2], "3"),
        ],
    )
    @pytest.mark.parametrize("kind", [object, None])
    def test_in_a_pandas_column(self, column: Any, values: list[Any], odd: Any, kind: Any) -> None:
        schema = Schema(name="s", columns={"x": column})
        plain = pd.DataFrame({"x": pd.Series(values * 50, dtype=kind)})
        mixed = pd.DataFrame({"x": pd.Series([*values * 50, odd], dtype=kind)})
        extra = encoded(mixed, schema) - encoded(plain, schema)
        assert extra.total() == 1
        assert encoded(mixed, schema) - extra == encoded(plain, schema)

    def test_one_person_under_two_spellings_is_one_person(self, tmp_path: Path) -> None:
        folder = tmp_path / "t"
        folder.mkdir()
        parquet.write_table(pa.table({"id": [800_000_000_001], "x": ["a"]}), folder / "1.parquet")
        parquet.write_table(pa.table({"id": [800_000_000_001.0], "x": ["b"]}), folder / "2.parquet")
        assert len(texts(folder, ["x"], Person(column="id", max_rows=1))) == 1

    def test_persons_with_fractions_are_refused(self) -> None:
        table = pa.table({"id": [0.5], "x": ["a"]})
        assert "'id'" in refusal(lambda: texts(table, ["x"], Person(column="id", max_rows=1)))

    def test_a_missing_value_in_a_file_of_one_column_is_a_row(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("x\na\n\nb\n")
        assert len(texts(path, ["x"])) == 3


def test_a_misspelt_column_is_recognised_and_other_names_are_not_shown() -> None:
    frame = pd.DataFrame({"bmi": [1.0], SECRET: [2.0]})
    message = refusal(lambda: texts(frame, ["bmii"]))
    assert "Did you mean 'bmi'?" in message
