"""CSV files: read strictly, so that no row changes how another is read."""

import gzip
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures.sources import FEW, SCHEMA, SECRET, encoded, refusal, silent, texts, write_csv

import pointillist
from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError, UsageError
from pointillist.reading.connection import connect
from pointillist.reading.databases import sql
from pointillist.reading.opening import open_source
from pointillist.schema import (
    MISSING_TEXTS,
    Categorical,
    Integer,
    Person,
    Real,
    Schema,
)
from pointillist.schema.levels import levels_of

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda content: content[:-50],
    "nonsense": lambda content: content[:12] + b"\xff" * 60,
    "a hole": lambda content: content[:20_000] + bytes(500) + content[20_500:],
    "a byte before": lambda content: b"x" + content,
}


class TestRefusals:
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
        write_csv(path, table, "|")
        assert "pass --delimiter '|'" in refusal(lambda: encoded(path, SCHEMA))

    @pytest.mark.parametrize("delimiter", [";", "\t"])
    def test_semicolons_and_tabs_are_found(self, path: Path, delimiter: str, table: pa.Table, expected: Any) -> None:
        write_csv(path, table, delimiter)
        assert encoded(path, SCHEMA) == expected

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


class TestStrict:
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

    def test_a_missing_value_in_a_file_of_one_column_is_a_row(self, tmp_path: Path) -> None:
        path = tmp_path / "t.csv"
        path.write_text("x\na\n\nb\n")
        assert len(texts(path, ["x"])) == 3


def test_an_archive_with_one_file_of_text(tmp_path: Path, table: pa.Table, expected: Any) -> None:
    inner = write_csv(tmp_path / "t.csv", table)
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as archive:
        archive.write(inner, "folder/t.csv")
    assert encoded(tmp_path / "t.zip", SCHEMA) == encoded(inner, SCHEMA)
    drafts = [draft(path, name="s") for path in (inner, tmp_path / "t.zip")]
    assert drafts[0] == drafts[1]
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n1\n")
    with pytest.raises(DataError, match="ending is not known"):
        open_source(tmp_path / "two.zip")
