"""Opening: what callers have becomes a source, or is refused in words that help."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.fixtures.sources import SECRET, refusal, texts

import pointillist
from pointillist.errors import UsageError
from pointillist.reading.base import Source
from pointillist.reading.databases import sql
from pointillist.reading.opening import open_source


class TestOpened:
    def test_a_source_stays_what_it_is(self, table: pa.Table) -> None:
        source = open_source(table)
        assert open_source(source) is source

    def test_the_public_name(self) -> None:
        assert isinstance(pointillist.sql("SELECT 1 AS x"), Source)
        assert texts(pointillist.sql("SELECT 'a' AS x"), ["x"]) == [("a",)]


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

    def test_an_unknown_kind_of_address(self) -> None:
        for address in ("ftp://host/t.csv", "mysql://bob:Qw3rty@host/db?table=t"):
            message = refusal(lambda address=address: open_source(address))
            assert "addresses of this kind are not read here" in message
            assert "Qw3rty" not in message

    def test_an_unknown_ending(self, tmp_path: Path) -> None:
        path = tmp_path / "t.docx"
        path.touch()
        assert "the ending is not known" in refusal(lambda: open_source(path))

    @pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.feather"])
    def test_files_that_are_not_what_their_name_says(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text(SECRET)
        assert "cannot be read" in refusal(lambda: texts(tmp_path / name, ["x"]))
