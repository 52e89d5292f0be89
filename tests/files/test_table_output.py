import datetime as dt
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

from pointillist.errors import ArtefactError, PointillistError, UsageError
from pointillist.files.table_output import check_path, write_table
from pointillist.reading.opening import open_source
from pointillist.schema import Boolean, Ignore, Integer, Real, Schema
from pointillist.schema.csv_form import CsvForm

TABLE = pa.table(
    {
        "town": pa.array(["Ay", 'B"ee', "c,d", "e\nf", "", None]),
        "größe 1": pa.array([1, -5, 2**53, 0, 7, None]),
        "weight": pa.array([0.1, 1e300, -2.5, 0.0, 1e-9, None]),
        "alive": pa.array([True, False, True, True, False, None]),
        "born": pa.array([dt.date(1950, 1, 2), dt.date(2020, 2, 29), *[dt.date(1970, 1, 1)] * 3, None]),
        "seen": pa.array(
            [dt.datetime(1969, 12, 31, 23, 59, 59), *[dt.datetime(2020, 1, 1)] * 4, None], pa.timestamp("us")
        ),
    }
)


def read_csv(path: Path, kinds: pa.Schema) -> pa.Table:
    return pacsv.read_csv(
        pa.input_stream(path, compression={".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower())),
        parse_options=pacsv.ParseOptions(
            newlines_in_values=True, delimiter="\t" if ".tsv" in path.name.lower() else ","
        ),
        convert_options=pacsv.ConvertOptions(
            column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def read(path: Path, kinds: pa.Schema) -> pa.Table:
    kind = path.suffix.lower()
    if ".csv" in path.name.lower() or ".tsv" in path.name.lower():
        return read_csv(path, kinds)
    return parquet.read_table(path) if kind in (".parquet", ".pq") else feather.read_table(path)


ENDINGS = [".csv", ".csv.gz", ".csv.zst", ".tsv", ".tsv.gz", ".TSV.zst", ".parquet", ".pq", ".arrow", ".feather"]
every_ending = pytest.mark.parametrize("ending", [*ENDINGS, ".CSV", ".Parquet"])


class TestRoundTrip:
    @every_ending
    def test_a_table_comes_back(self, ending: str, tmp_path: Path) -> None:
        path = tmp_path / f"out{ending}"
        write_table(TABLE, path)
        assert read(path, TABLE.schema).equals(TABLE)
        assert list(tmp_path.iterdir()) == [path]

    @every_ending
    def test_a_table_without_rows(self, ending: str, tmp_path: Path) -> None:
        path = tmp_path / f"out{ending}"
        write_table(TABLE[:0], str(path))
        assert read(path, TABLE.schema).equals(TABLE[:0])

    @settings(deadline=None, max_examples=60)
    @given(
        ending=st.sampled_from([".csv", ".parquet", ".arrow"]),
        rows=st.lists(
            st.tuples(
                st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\0")),
                st.none() | st.floats(allow_nan=False),
                st.none() | st.integers(-(2**53), 2**53),
            ),
            max_size=8,
        ),
        names=st.lists(
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=3, max_size=3, unique=True
        ),
    )
    def test_any_table_comes_back(self, ending: str, rows: list[Any], names: list[str], tmp_path_factory: Any) -> None:
        columns = [list(column) for column in zip(*rows, strict=True)] or [[], [], []]
        kinds = (pa.string(), pa.float64(), pa.int64())
        table = pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], names=names)
        path = tmp_path_factory.mktemp("out") / f"t{ending}"
        write_table(table, path)
        assert read(path, table.schema).equals(table)

    @pytest.mark.parametrize(
        ("kind", "values"), [(Integer(min=0, max=9), [1, None, 3]), (Boolean(), [True, None, False])]
    )
    def test_csv_keeps_a_row_that_is_missing_altogether(self, kind: Any, values: list[Any], tmp_path: Path) -> None:
        """To most readers a blank line is no row."""
        path, schema = tmp_path / "t.csv", Schema(name="s", columns={"x": kind})
        write_table(pa.table({"x": values}), path)
        batches = open_source(path).batches(["x"], schema, lambda part: None)
        assert sum(batch.num_rows for batch in batches) == 3

    @pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".tsv.gz", ".tsv.zst"])
    def test_what_is_written_compressed_is_read_again(self, ending: str, tmp_path: Path) -> None:
        path, schema = tmp_path / f"t{ending}", Schema(name="s", columns={"x": Integer(min=0, max=9)})
        write_table(pa.table({"x": [1, None, 3], "y": ["a", "b,c", 'd"e']}), path)
        assert path.read_bytes()[:2] in (b"\x1f\x8b", b"\x28\xb5")
        batches = open_source(path).batches(["x"], schema, lambda part: None)
        assert [row for batch in batches for row in batch.column("x").to_pylist()] == [1, None, 3]

    def test_times_are_written_to_the_second_unless_there_is_more_to_say(self, tmp_path: Path) -> None:
        whole, part = dt.datetime(2020, 1, 2, 3, 4, 5), dt.datetime(2020, 1, 2, 3, 4, 5, 600)
        write_table(pa.table({"a": [whole], "b": [part]}), tmp_path / "t.csv")
        assert (tmp_path / "t.csv").read_text() == '"a","b"\n2020-01-02 03:04:05,2020-01-02 03:04:05.000600\n'

    def test_an_existing_file_is_replaced(self, tmp_path: Path) -> None:
        path = tmp_path / "out.parquet"
        path.write_text("old")
        write_table(TABLE, path)
        assert parquet.read_table(path).equals(TABLE)


class TestRefusals:
    @pytest.mark.parametrize("name", ["out.xlsx", "out", "out.csv.bz2", ".csv", ".csv.gz", "out.gz", "out.json"])
    def test_an_unknown_ending(self, name: str, tmp_path: Path) -> None:
        for work in (check_path, lambda path: write_table(TABLE, path)):
            with pytest.raises(UsageError, match=r"the ending is not known. Known are \.csv, \.csv\.gz"):
                work(tmp_path / name)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        path = tmp_path / "nowhere" / "out.csv"
        for work in (check_path, lambda path: write_table(TABLE, path)):
            with pytest.raises(ArtefactError, match="cannot be written"):
                work(path)

    def test_a_folder_in_the_way(self, tmp_path: Path) -> None:
        (tmp_path / "out.csv").mkdir()
        with pytest.raises(ArtefactError, match="is a folder"):
            write_table(TABLE, tmp_path / "out.csv")

    def test_checking_a_path_writes_nothing(self, tmp_path: Path) -> None:
        check_path(tmp_path / "out.csv")
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "out.csv").write_text("old")
        check_path(tmp_path / "out.csv")
        assert (tmp_path / "out.csv").read_text() == "old"


def full_disk(*_: Any) -> None:
    raise OSError(28, "No space left on device")


class TestAtomic:
    @pytest.fixture
    def old(self, tmp_path: Path) -> Path:
        path = tmp_path / "out.csv"
        path.write_text("the old content")
        return path

    @pytest.mark.parametrize("step", ["os.replace", "os.fsync", "pointillist.files.container._fill"])
    def test_an_existing_file_stays_whole_if_the_disk_is_full(
        self, step: str, old: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(step, full_disk)
        with pytest.raises(ArtefactError, match="cannot be written"):
            write_table(TABLE, old)
        assert old.read_text() == "the old content"
        assert os.listdir(old.parent) == ["out.csv"]

    def test_an_existing_file_stays_whole_if_the_table_cannot_be_written(self, old: Path) -> None:
        with pytest.raises((PointillistError, pa.ArrowException)):
            write_table(pa.table({"x": [[1], [2]]}), old)
        assert old.read_text() == "the old content"
        assert os.listdir(old.parent) == ["out.csv"]

    def test_an_existing_file_stays_whole_if_the_call_is_stopped(
        self, old: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def stop(*_: Any) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("os.replace", stop)
        with pytest.raises(KeyboardInterrupt):
            write_table(TABLE, old)
        assert old.read_text() == "the old content"
        assert os.listdir(old.parent) == ["out.csv"]

    def test_a_new_file_can_be_read_by_those_that_the_umask_allows(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            write_table(TABLE, tmp_path / "out.csv")
        finally:
            os.umask(before)
        assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o640


HOSTILE = ["=1+1", "+1", "-1", "@x", "\tx", "\r=x", "a=b", "", None, "'=1"]


@pytest.mark.parametrize("coded", [False, True])
def test_safe_csv_puts_an_apostrophe_before_formulas_and_leaves_numbers_alone(coded: bool, tmp_path: Path) -> None:
    texts = pa.array(HOSTILE)
    table = pa.table({"=name": texts.dictionary_encode() if coded else texts, "n": [-1.5] * len(HOSTILE)})
    write_table(table, tmp_path / "safe.csv", safe_csv=True)
    found = read_csv(tmp_path / "safe.csv", pa.schema({"'=name": pa.string()}))
    assert found["'=name"].to_pylist() == [
        "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\r=x", "a=b", "", None, "'=1",
    ]  # fmt: skip
    assert found["n"].to_pylist() == [-1.5] * len(HOSTILE)


def test_only_csv_and_only_if_asked(tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(HOSTILE)})
    write_table(table, tmp_path / "as_it_is.csv")
    assert (tmp_path / "as_it_is.csv").read_text().splitlines()[1] == '"=1+1"'
    write_table(table, tmp_path / "safe.parquet", safe_csv=True)
    assert parquet.read_table(tmp_path / "safe.parquet").equals(table)


class TestForm:
    """As the private table's file is written."""

    SCHEMA = Schema(
        name="s",
        columns={
            "town": Ignore(),
            "weight": Real(min=0, max=9),
            "share": Real(min=0, max=99, decimals=1, format="9,9 %"),
        },
        csv=CsvForm(delimiter=";", decimal=","),
    )
    ROWS = pa.table({"town": ["a;b", "c"], "weight": [1.5, None], "share": [12.5, 3.0]})

    def test_delimiter_and_decimals_are_the_schemas(self, tmp_path: Path) -> None:
        write_table(self.ROWS, tmp_path / "t.csv", self.SCHEMA)
        text = (tmp_path / "t.csv").read_text()
        assert text == '"town";"weight";"share"\n"a;b";"1,5";"12,5 %"\n"c";;"3,0 %"\n'
        source = open_source(tmp_path / "t.csv")
        batch = pa.Table.from_batches(source.batches(["weight", "share"], self.SCHEMA, lambda part: None))
        for name in ("weight", "share"):
            found = self.SCHEMA.columns[name].from_arrow(batch[name].combine_chunks()).tolist()
            assert str(found) == str(self.ROWS[name].to_pylist()).replace("None", "nan")

    def test_a_form_that_is_asked_for_comes_first(self, tmp_path: Path) -> None:
        write_table(self.ROWS, tmp_path / "t.csv", self.SCHEMA, form=CsvForm(delimiter="|"))
        assert (tmp_path / "t.csv").read_text().splitlines()[1] == '"a;b"|1.5|"12,5 %"'

    def test_tabs_go_with_the_ending(self, tmp_path: Path) -> None:
        write_table(self.ROWS, tmp_path / "t.tsv", self.SCHEMA)
        assert (tmp_path / "t.tsv").read_text().splitlines()[0] == '"town"\t"weight"\t"share"'
