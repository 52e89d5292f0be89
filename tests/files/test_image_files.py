"""Image files: what is written comes back through the reader, whole or not at all."""

import io
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from pyarrow import parquet

from pointillist.errors import ArtefactError, UsageError
from pointillist.files import image_files
from pointillist.files.images import Images
from pointillist.reading.image_decoding import decode
from pointillist.reading.opening import open_source
from pointillist.schema import Categorical, Image, Schema

CLASSES = ("anna", "Ben & co.x", "große", "0", "other")


def make(
    count: int = 9,
    height: int = 6,
    width: int = 5,
    channels: int = 3,
    classes: tuple[Any, ...] = CLASSES,
    seed: int = 0,
) -> Images:
    rng = np.random.default_rng(seed)
    pixels = rng.integers(0, 256, (count, height, width, channels), dtype=np.uint8)
    codes = rng.integers(0, len(classes), count).astype(np.uint16) if classes else None
    return Images(pixels, codes, classes)


def pairs(pixels: Any, labels: Any) -> list[tuple[str, bytes]]:
    return sorted((str(label), each.tobytes()) for each, label in zip(pixels, labels, strict=True))


def read_back(path: Path, images: Images) -> list[tuple[str, bytes]]:
    """What the reader of private images finds, under a schema that allows no other size."""
    _, height, width, channels = images.pixels.shape
    column = Image(height=height, width=width, colour=channels == 3, resize="error")
    columns: dict[str, Any] = {"image": column}
    if images.codes is not None:
        columns["label"] = Categorical(categories=images.classes, missing=False, out_of_domain="error")
    source = open_source(path)
    assert source.column_names() == list(columns)
    schema = Schema(name="faces", columns=columns)
    found: list[tuple[str, bytes]] = []
    for batch in source.batches(list(columns), schema, lambda share: None):
        pixels = decode(batch.column(0), column, "")
        names = batch.column(1).to_pylist() if "label" in columns else [""] * batch.num_rows
        found += pairs(pixels, names)
    return sorted(found)


every_form = pytest.mark.parametrize("name", ["out", "out.npz", "out.parquet", "OUT.PQ"])


class TestRoundTrip:
    @every_form
    @pytest.mark.parametrize("channels", [1, 3])
    @pytest.mark.parametrize("classes", [CLASSES, (), (7, 0, 3)])
    def test_images_come_back(self, name: str, channels: int, classes: tuple[Any, ...], tmp_path: Path) -> None:
        images = make(channels=channels, classes=classes)
        image_files.write(images, tmp_path / name)
        labels = [""] * len(images) if images.labels is None else images.labels
        assert read_back(tmp_path / name, images) == pairs(images.pixels, labels)
        assert [each.name for each in tmp_path.iterdir() if "ledger" not in each.name] == [name]

    @given(
        count=st.integers(1, 6),
        height=st.integers(1, 128),
        width=st.integers(1, 128),
        channels=st.sampled_from([1, 3]),
        classes=st.lists(st.text(st.characters(codec="utf-8"), max_size=6), min_size=1, max_size=3, unique=True),
        name=st.sampled_from(["out", "out.npz", "out.parquet"]),
    )
    @settings(max_examples=60)
    def test_any_images_come_back_or_are_refused(
        self, count: int, height: int, width: int, channels: int, classes: list[str], name: str,
        tmp_path_factory: pytest.TempPathFactory,
    ) -> None:  # fmt: skip
        if name == "out.npz" and any(each.endswith("\0") for each in classes):
            return  # numpy's texts end before such a zero
        images = make(count, height, width, channels, tuple(classes))
        path = tmp_path_factory.mktemp("out") / name
        if name == "out" and any(image_files._UNFIT.search(each) for each in classes):
            with pytest.raises(UsageError, match="cannot be the name of a folder"):
                image_files.write(images, path)
            assert not path.exists()
            return
        image_files.write(images, path)
        assert images.labels is not None
        assert read_back(path, images) == pairs(images.pixels, images.labels)

    @every_form
    def test_no_images(self, name: str, tmp_path: Path) -> None:
        image_files.write(make(0), tmp_path / name)
        assert (tmp_path / name).exists()


class TestForms:
    def test_npz(self, tmp_path: Path) -> None:
        image_files.write(make(channels=1), tmp_path / "x.npz")
        with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
            assert set(file) == {"x", "y"}
            assert file["x"].shape == (9, 6, 5)
            assert file["x"].dtype == np.uint8
            assert file["y"].dtype.kind == "U"
        image_files.write(make(classes=(1, 2)), tmp_path / "x.npz")
        with np.load(tmp_path / "x.npz", allow_pickle=False) as file:
            assert file["x"].shape == (9, 6, 5, 3)
            assert file["y"].dtype == np.int64

    def test_the_same_images_give_the_same_bytes(self, tmp_path: Path) -> None:
        for name in ("a.npz", "b.npz", "a.parquet", "b.parquet"):
            image_files.write(make(), tmp_path / name)
        for ending in ("npz", "parquet"):
            assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()

    def test_parquet_as_hugging_face_has_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(image_files, "_ROWS", 4)
        images = make()
        image_files.write(images, tmp_path / "x.parquet")
        table = parquet.read_table(tmp_path / "x.parquet")
        assert table.schema.field("image").type == pa.struct({"bytes": pa.binary(), "path": pa.string()})
        features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
        assert features == {"image": {"_type": "Image"}, "label": {"dtype": "string", "_type": "Value"}}
        assert images.labels is not None
        assert table["label"].to_pylist() == images.labels.tolist()
        assert parquet.ParquetFile(tmp_path / "x.parquet").num_row_groups == 3
        for row, pixels in zip(table["image"].to_pylist(), images.pixels, strict=True):
            assert np.array_equal(np.asarray(Pillow.open(io.BytesIO(row["bytes"]))), pixels)

    def test_a_folder_has_a_folder_for_each_class_that_occurs(self, tmp_path: Path) -> None:
        images = Images(np.zeros((3, 2, 2, 1), np.uint8), np.array([0, 2, 2], np.uint16), ("a", "b", "c"))
        image_files.write(images, tmp_path / "out")
        found = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.png"))
        assert found == ["a/000001.png", "c/000001.png", "c/000002.png"]
        assert not (tmp_path / "out" / "b").exists()
        with Pillow.open(tmp_path / "out" / "a" / "000001.png") as image:
            assert image.mode == "L"

    def test_a_folder_may_be_entered_by_whoever_may_enter_others(self, tmp_path: Path) -> None:
        (tmp_path / "plain").mkdir()
        image_files.write(make(), tmp_path / "out")
        assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode


class TestRefusals:
    @pytest.mark.parametrize(
        "name", ["a/b", "a\\b", "", ".", "..", ".hidden", "a:b", "x.", "x ", "\n", "ä" * 200, "Thumbs.db"]
    )
    def test_names_that_are_no_folders_are_refused_before_anything_is_written(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"Write the images to an \.npz or a \.parquet file"):
            image_files.write(make(classes=("a", name)), tmp_path / "out")
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize("name", ["out.csv", "out.png", "out.zip"])
    def test_unknown_endings_are_refused(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match=r"Known are \.npz, \.parquet, and none for a folder"):
            image_files.check(tmp_path / name)

    @every_form
    def test_a_missing_place_is_refused(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(ArtefactError, match="its folder does not exist"):
            image_files.check(tmp_path / "nowhere" / name)

    def test_a_file_is_no_folder(self, tmp_path: Path) -> None:
        (tmp_path / "out").write_text("x")
        with pytest.raises(ArtefactError, match="is a file"):
            image_files.write(make(), tmp_path / "out", overwrite=True)
        assert (tmp_path / "out").read_text() == "x"

    def test_a_folder_is_replaced_only_if_asked_to(self, tmp_path: Path) -> None:
        path = tmp_path / "out"
        path.mkdir()
        image_files.write(make(seed=1), path)  # an empty folder is as good as none
        before = read_back(path, make(seed=1))
        with pytest.raises(UsageError, match="pass --overwrite"):
            image_files.write(make(seed=2), path)
        assert read_back(path, make(seed=1)) == before
        (path / ".DS_Store").write_text("x")
        image_files.write(make(seed=2), path, overwrite=True)
        labels = make(seed=2).labels
        assert read_back(path, make(seed=2)) == pairs(make(seed=2).pixels, labels)
        assert not (path / ".DS_Store").exists()

    @pytest.mark.parametrize("name", ["notes.txt", "anna/notes.txt", "anna/deep/1.png", "photo.jpg"])
    def test_a_folder_of_other_things_is_never_replaced(self, name: str, tmp_path: Path) -> None:
        file = tmp_path / "out" / name
        file.parent.mkdir(parents=True)
        file.write_text("x")
        with pytest.raises(UsageError, match="is not written over"):
            image_files.write(make(), tmp_path / "out", overwrite=True)
        assert file.read_text() == "x"

    def test_a_failure_leaves_what_was_there(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "out"
        image_files.write(make(seed=1), path)
        before = read_back(path, make(seed=1))
        rename, calls = os.rename, []

        def fails_once(source: Any, target: Any) -> None:
            calls.append(target)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
            rename(source, target)

        monkeypatch.setattr(os, "rename", fails_once)
        with pytest.raises(ArtefactError, match="No space left"):
            image_files.write(make(seed=2), path, overwrite=True)
        assert read_back(path, make(seed=1)) == before
        assert [each.name for each in tmp_path.iterdir() if "ledger" not in each.name] == ["out"]

    def test_an_interrupted_folder_leaves_nothing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def stop(pixels: Any) -> bytes:
            raise KeyboardInterrupt

        monkeypatch.setattr(image_files, "_png", stop)
        with pytest.raises(KeyboardInterrupt):
            image_files.write(make(), tmp_path / "out")
        assert [each for each in tmp_path.iterdir() if "ledger" not in each.name] == []
