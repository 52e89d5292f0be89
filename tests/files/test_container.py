"""Release and model files: whole or not at all, checked when read, and nothing in them runs."""

import json
import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointillist as pt
from pointillist.errors import ArtefactError
from pointillist.files import container

People = Callable[..., pa.Table]


@pytest.fixture
def release(schema: pt.Schema, people: People) -> pt.Release:
    return pt.release(people(300), schema, epsilon=2.0, target="sex")


def test_a_release_survives_its_file(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    back = pt.Release.load(tmp_path / "r")
    assert back.to_bytes() == release.to_bytes()
    assert (back.schema, back.guarantee, back.plan) == (release.schema, release.guarantee, release.plan)
    for ours, theirs in zip(release.measurements, back.measurements, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)
        assert ours.feature_map == theirs.feature_map


def test_a_model_survives_its_file(release: pt.Release, tmp_path: Path) -> None:
    model = pt.fit(release)
    model.save(tmp_path / "m")
    back = pt.Model.load(tmp_path / "m")
    assert back.to_bytes() == model.to_bytes()
    assert back.sample(500, seed=3).equals(pt.Model.load(tmp_path / "m").sample(500, seed=3))


def test_files_are_zips_of_json_and_safetensors(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    with zipfile.ZipFile(tmp_path / "r") as archive:
        assert archive.namelist() == ["manifest.json", "facts.json", "arrays.safetensors"]
        assert json.loads(archive.read("manifest.json"))["format"] == 1


def test_files_may_be_read_by_whom_the_umask_allows(release: pt.Release, tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        release.save(tmp_path / "r")
    finally:
        os.umask(previous)
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o640


def rewrite(path: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(path) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for n, content in members.items():
            archive.writestr(n, change(content) if n == name else content)


def test_a_tampered_fact_is_noticed(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    rewrite(tmp_path / "r", "facts.json", lambda c: c.replace(b'"epsilon": 2.0', b'"epsilon": 0.1'))
    with pytest.raises(ArtefactError, match="does not match its hash"):
        pt.Release.load(tmp_path / "r")


def test_an_unknown_version_is_named(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    rewrite(tmp_path / "r", "manifest.json", lambda c: c.replace(b'"format": 1', b'"format": 99'))
    with pytest.raises(ArtefactError, match="format 99 is not known"):
        pt.Release.load(tmp_path / "r")


def test_the_wrong_kind_is_named(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    with pytest.raises(ArtefactError, match="is a release file, where a model file is needed"):
        pt.Model.load(tmp_path / "r")


@given(cut=st.floats(0, 0.999))
def test_a_truncated_file_is_refused(cut: float, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("cut") / "f"
    content = container.pack("release", 1, {"a": 1}, {"x": np.arange(100)})
    path.write_bytes(content[: int(len(content) * cut)])
    with pytest.raises(ArtefactError):
        container.unpack(path, "release", 1)


@given(place=st.floats(0, 0.9999), flip=st.integers(1, 255))
def test_a_flipped_byte_never_changes_what_is_read(
    place: float, flip: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Either the file is refused, or the byte did not matter (a time stamp, say)."""
    path = tmp_path_factory.mktemp("flip") / "f"
    content = bytearray(container.pack("release", 1, {"a": 1}, {"x": np.arange(100)}))
    content[int(len(content) * place)] ^= flip
    path.write_bytes(bytes(content))
    try:
        facts, arrays = container.unpack(path, "release", 1)
    except ArtefactError:
        return
    assert facts == {"a": 1}
    np.testing.assert_array_equal(arrays["x"], np.arange(100))


@pytest.mark.parametrize("content", [b"", b"PK", b"hello world" * 50, b"\x80\x04\x95pickle"])
def test_other_files_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ArtefactError, match="not a pointillist file"):
        container.kind_of(tmp_path / "f")


def test_a_missing_fact_is_named(release: pt.Release, tmp_path: Path) -> None:
    (tmp_path / "r").write_bytes(container.pack("release", 1, {"kind": "release", "id": "x"}, {}))
    with pytest.raises(ArtefactError, match="created"):
        pt.Release.load(tmp_path / "r")


def test_values_that_do_not_fit_the_map_are_refused(release: pt.Release, tmp_path: Path) -> None:
    release.save(tmp_path / "r")
    facts, arrays = container.unpack(tmp_path / "r", "release", 1)
    arrays["0.values"] = arrays["0.values"][:-1]
    (tmp_path / "r").write_bytes(container.pack("release", 1, facts, arrays))
    with pytest.raises(ArtefactError, match="do not fit"):
        pt.Release.load(tmp_path / "r")


def test_an_existing_file_stays_whole_when_a_write_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    container.write(tmp_path / "f", b"old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ArtefactError, match="No space left"):
        container.write(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_space_is_taken_before_it_is_needed(tmp_path: Path) -> None:
    with container.reserve(tmp_path / "f", 5_000_000) as pending:
        (part,) = tmp_path.iterdir()
        assert part.stat().st_size == 5_000_000
        assert part.stat().st_blocks * 512 >= 4_000_000  # really taken, not only promised
        assert pending.size == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["missing/f", "."])
def test_places_that_cannot_be_written_are_named(target: str, tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"cannot be written|is a folder"):
        container.write(tmp_path / target, b"x")
