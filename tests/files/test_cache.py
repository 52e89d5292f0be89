"""Cache: what is there is found, what is not, or is damaged, is done without."""

from pathlib import Path

import numpy as np
import pytest

from pointillist.files import cache


def test_kept_and_found(own_cache: Path) -> None:
    assert cache.kept("abc", "thing", 1) is None
    cache.keep("abc", "thing", 1, {"x": np.arange(3)})
    found = cache.kept("abc", "thing", 1)
    assert found is not None
    assert found[1]["x"].tolist() == [0, 1, 2]
    (own_cache / "abc.thing").rename(own_cache / "def.thing")
    assert cache.kept("def", "thing", 1) is None  # another's


def test_what_cannot_be_read_or_written_is_done_without(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own_cache.mkdir()
    (own_cache / "abc.thing").write_bytes(b"no zip")
    assert cache.kept("abc", "thing", 1) is None
    (own_cache / "file").write_bytes(b"")
    monkeypatch.setenv("POINTILLIST_CACHE", str(own_cache / "file"))
    cache.keep("abc", "thing", 1, {"x": np.arange(3)})
    assert cache.kept("abc", "thing", 1) is None


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache.folder() == tmp_path / "cache"
    monkeypatch.delenv("POINTILLIST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache.folder() == tmp_path / "x" / "pointillist"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.folder() == Path.home() / ".cache" / "pointillist"
