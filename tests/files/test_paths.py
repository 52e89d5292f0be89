"""Paths that can be no file."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pointillist as pt
from pointillist.errors import PointillistError
from pointillist.files import container
from pointillist.reading.opening import open_source
from pointillist.schema import Schema

READERS: dict[str, Callable[[Any], object]] = {
    "table": open_source,
    "sql": lambda path: pt.sql("SELECT 1", path).column_names(),
    "schema": Schema.load,
    "release": pt.Release.load,
    "model": pt.Model.load,
    "output": lambda path: container.write(path, b""),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["x" * 300 + ".csv", "a\0b.csv", "/dev/zero", "/dev/null", "pipe.csv", "loop.csv"])
def test_what_can_be_no_file_is_refused_at_once(reader: str, name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    os.symlink("loop.csv", tmp_path / "loop.csv")
    with pytest.raises(PointillistError, match=r"no file can have|cannot be a file|is a pipe"):
        READERS[reader](str(tmp_path / name))


@pytest.mark.parametrize("content", [b"x = " + b"[" * 2000 + b"]" * 2000, b"[" + b"a." * 2000 + b"a]"])
def test_toml_nested_without_end(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_bytes(content)
    with pytest.raises(PointillistError, match=r"t\.toml"):
        Schema.load(tmp_path / "t.toml")


def test_a_folder_of_everything_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pointillist.reading.parquet_files.MOST_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.parquet").touch()
    with pytest.raises(PointillistError, match="holds more than 3 files"):
        open_source(tmp_path)


@pytest.mark.parametrize("head", [b"{'descr': '<f8', 'fortran((((", b"{'descr': '<f8',\xff", b"x" * 30, b"(" * 3000])
def test_a_damaged_head_of_an_array(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "t.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head)
    with pytest.raises(PointillistError, match=r"t\.npy: cannot be read"):
        open_source(path)
