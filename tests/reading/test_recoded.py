"""CSV files that are not in UTF-8."""

import gzip
from pathlib import Path

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError, UsageError
from pointillist.reading.base import Source
from pointillist.reading.opening import open_address, open_source
from pointillist.reading.recoded import ENCODINGS, known
from pointillist.schema import Categorical, Schema

TOWNS = ("Zürich", "Besançon", "Ærø")
TEXT = "größe;ort\n" + "".join(f"{n % 9},5;{TOWNS[n % 3]}\n" for n in range(300))
SCHEMA = Schema(name="s", columns={"ort": Categorical(categories=TOWNS)})


def towns(source: Source) -> list[str]:
    return [each for batch in source.batches(["ort"], SCHEMA, lambda part: None) for each in batch["ort"].to_pylist()]


@pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "ISO-8859-15", "utf-8"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_file_is_read_by_the_encoding_that_is_said(tmp_path: Path, encoding: str, ending: str) -> None:
    path, content = tmp_path / f"t.{ending}", TEXT.encode(encoding)
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    source = pt.csv(path, encoding=encoding)
    assert source.column_names() == ["größe", "ort"]
    assert towns(source) == [TOWNS[n % 3] for n in range(300)]
    address = source.address()
    assert address is not None
    assert towns(open_address(address)) == towns(source)
    schema = draft(source, name="s")
    assert schema.columns["größe"].kind == "real"
    assert set(schema.columns["ort"].categories) == set(TOWNS)


def test_other_bytes_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(TEXT.encode("cp1252"))
    with pytest.raises(DataError, match=r"not UTF-8 text.*--encoding cp1252"):
        draft(tmp_path / "t.csv", name="s")
    (tmp_path / "t.csv").write_bytes(b"x,y\n\x81,1\n")
    with pytest.raises(DataError, match="not text in cp1252"):
        list(open_source(tmp_path / "t.csv", encoding="cp1252").batches(["x"], SCHEMA, lambda part: None))


@pytest.mark.parametrize("encoding", ["utf-7", "iso-2022-jp", "utf-16", "rot13", "nonsense", ""])
def test_encodings_in_which_a_row_could_change_the_next_are_refused(encoding: str) -> None:
    with pytest.raises(UsageError, match="Known are utf-8, cp1252"):
        known(encoding)


def test_every_known_encoding_is_read_byte_by_byte() -> None:
    for encoding in ENCODINGS[1:]:
        both = [bytes([each]).decode(encoding, "replace") for each in b"a\xe9\xf1;\n"]
        assert "".join(both) == b"a\xe9\xf1;\n".decode(encoding, "replace")


def test_tables_with_types_have_no_encoding() -> None:
    with pytest.raises(UsageError, match="--encoding"):
        open_source(pa.table({"x": [1]}), encoding="cp1252")
