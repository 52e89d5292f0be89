"""Hashes of files and folders."""

import hashlib
from pathlib import Path

import pytest

from pointillist.errors import ArtefactError
from pointillist.files.hashed_file import HashedFile


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"1,2\n")
    found = HashedFile.of(tmp_path / "a.csv", "synthetic data")
    assert found == HashedFile("synthetic data", "a.csv", hashlib.sha256(b"1,2\n").hexdigest(), 4)
    assert HashedFile.from_json(found.to_json()) == found


def test_a_folder_changes_with_any_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "f" / "g").mkdir(parents=True)
    (tmp_path / "f" / "g" / "a").write_bytes(b"1")
    first = HashedFile.of(tmp_path / "f", "synthetic data")
    (tmp_path / "f" / "g" / "a").rename(tmp_path / "f" / "g" / "b")
    second = HashedFile.of(tmp_path / "f", "synthetic data")
    assert not first.same(second)
    assert first.size == second.size == 1


def test_what_is_not_there_or_no_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match="no such file"):
        HashedFile.of(tmp_path / "a", "release")
    with pytest.raises(ValueError, match="64"):
        HashedFile.from_json({"role": "release", "name": "a", "sha256": "00", "size": 1})
