"""DuckDB within bounds: its files are gone afterwards, and it reaches no others."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from pointillist.errors import DataError
from pointillist.reading.connection import MEMORY, confine, connect, noted, pattern


def test_its_folder_is_gone_afterwards() -> None:
    with connect() as db:
        folder = Path(db.execute("SELECT current_setting('temp_directory')").fetchall()[0][0])
        assert folder.is_dir()
        limit = db.execute("SELECT current_setting('memory_limit')").fetchall()[0][0]
        assert float(limit.split()[0]) <= float(MEMORY.removesuffix("MB"))
    assert not folder.exists()


def test_a_confined_connection_reads_what_is_allowed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("mine", "other"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    with connect() as db:
        confine(db, tmp_path / "mine.csv")
        assert db.execute(f"SELECT x FROM '{tmp_path / 'mine.csv'}'").fetchall() == [(1,)]
        with pytest.raises(duckdb.PermissionException):
            db.execute(f"SELECT x FROM '{tmp_path / 'other.csv'}'").fetchall()
        with pytest.raises(duckdb.Error):
            db.execute("SET enable_external_access = true")


def test_a_path_is_no_pattern(tmp_path: Path) -> None:
    assert pattern(tmp_path / "a[b]*?.csv").endswith("a[[]b][*][?].csv")
    with pytest.raises(DataError, match="backslash"):
        pattern(tmp_path / "a\\*.csv")


def test_an_error_of_the_rows_is_noted() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": [1]})
        raise DataError("gone")

    failures: list[BaseException] = []
    stream = noted(broken(), failures)
    assert next(stream).num_rows == 1
    with pytest.raises(DataError, match="gone"):
        next(stream)
    assert [str(each) for each in failures] == ["gone"]
