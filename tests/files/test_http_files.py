"""HTTP files: parts of a file from a real web server, from one state of it."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointillist.errors import UsageError
from pointillist.files.http_files import HttpFiles
from pointillist.files.urls import Url

CONTENT = bytes(range(256)) * 20_000


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(places=st.lists(st.tuples(st.integers(0, len(CONTENT) + 10), st.integers(0, 70_000)), max_size=4))
def test_any_part_is_that_of_the_file(web: tuple[Path, str], places: list[tuple[int, int]]) -> None:
    folder, address = web
    (folder / "f.parquet").write_bytes(CONTENT)
    with HttpFiles(Url.parse(f"{address}/f.parquet")).open_input_file("f") as file:
        for start, length in places:
            file.seek(start)
            assert file.read(length) == CONTENT[start : start + length]
        assert file.size() == len(CONTENT)


def test_a_server_without_parts_is_read_from_the_beginning(web: tuple[Path, str]) -> None:
    folder, address = web
    (folder / "whole.csv").write_bytes(CONTENT)
    files = HttpFiles(Url.parse(f"{address}/whole.csv"))
    with files.open_input_stream("f") as file:
        assert file.read() == CONTENT
    with files.open_input_file("f") as file:
        file.seek(3_000_000)
        with pytest.raises(OSError, match="no parts"):
            file.read(10)


def test_pieces_of_two_states_are_not_put_together(web: tuple[Path, str]) -> None:
    folder, address = web
    (folder / "f.csv").write_bytes(CONTENT)
    with HttpFiles(Url.parse(f"{address}/f.csv")).open_input_file("f") as file:
        file.read(10)
        (folder / "f.csv").write_bytes(CONTENT[::-1])
        file.seek(4_000_000)
        with pytest.raises(OSError, match="was changed"):
            file.read(10)


def test_only_https_and_this_machine() -> None:
    for text in ("http://example.org/t.csv", "http://127.0.0.1.example.org/t.csv"):
        with pytest.raises(UsageError, match="Use https"):
            HttpFiles(Url.parse(text))
    with pytest.raises(UsageError, match="leave user and password out"):
        HttpFiles(Url.parse("https://bob:pw@example.org/t.csv"))


def test_nothing_is_written() -> None:
    with pytest.raises(OSError, match="not written"):
        HttpFiles(Url.parse("https://example.org/t.csv")).delete_file("t.csv")
