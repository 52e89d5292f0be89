"""Folders of images: classes, clutter, and file names that never leave."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet
from tests.fixtures.images_on_disk import (
    LABELS,
    PIXELS,
    SECRET,
    labels,
    make_folder,
    pictures,
    png,
    read,
    refusal,
)

from pointillist.reading import batches as sizes
from pointillist.reading import image_folders
from pointillist.reading.databases import sql
from pointillist.reading.image_folders import Folder
from pointillist.reading.opening import open_source


class TestFolder:
    def test_a_folder_of_classes(self, tmp_path: Path) -> None:
        source = open_source(make_folder(tmp_path / "faces"))
        assert isinstance(source, Folder)
        assert source.column_names() == ["image", "label"]
        for _ in range(2):
            assert np.array_equal(pictures(source), PIXELS)
            assert labels(source) == LABELS

    def test_columns_come_in_the_order_asked_for(self, tmp_path: Path) -> None:
        source = open_source(make_folder(tmp_path))
        assert read(source, ("label", "image"))[0].column(0).to_pylist() == LABELS

    def test_the_path_goes_no_further(self, tmp_path: Path) -> None:
        (batch,) = read(open_source(make_folder(tmp_path)), ("image",))
        assert batch.column(0).type.names == ["bytes", "folder"]
        assert SECRET not in str(batch.column(0).field("folder"))

    def test_images_without_classes(self, tmp_path: Path) -> None:
        for number, pixels in enumerate(PIXELS):
            (tmp_path / f"{number}.PNG").write_bytes(png(pixels))
        source = open_source(tmp_path)
        assert source.column_names() == ["image"]
        assert np.array_equal(pictures(source), PIXELS)
        assert "'label'" in refusal(lambda: read(source))

    def test_clutter_and_empty_classes_are_passed_over(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        (tmp_path / "clara").mkdir()
        (tmp_path / ".git").mkdir()
        for name in (".DS_Store", "anna/.hidden.txt", "ben/Thumbs.db", "desktop.ini"):
            (tmp_path / name).write_text("x")
        assert labels(open_source(tmp_path)) == LABELS

    def test_one_class(self, tmp_path: Path) -> None:
        (tmp_path / "anna").mkdir()
        (tmp_path / "anna" / "1.png").write_bytes(png(PIXELS[0]))
        assert labels(open_source(tmp_path)) == ["anna"]

    @pytest.mark.parametrize("name", [f"anna/{SECRET}.txt", f"{SECRET}.txt", f"anna/{SECRET}"])
    def test_what_is_no_image_is_refused(self, name: str, tmp_path: Path) -> None:
        make_folder(tmp_path)
        (tmp_path / name).write_text("x")
        message = refusal(lambda: read(open_source(tmp_path)))
        assert "is no image by its ending" in message
        assert ".png, .jpg" in message

    def test_images_beside_classes_are_refused(self, tmp_path: Path) -> None:
        (make_folder(tmp_path) / f"{SECRET}.png").write_bytes(png(PIXELS[0]))
        assert "side by side" in refusal(lambda: read(open_source(tmp_path)))

    def test_folders_in_classes_are_refused(self, tmp_path: Path) -> None:
        (make_folder(tmp_path) / "anna" / SECRET).mkdir()
        assert "Classes have no sub-classes" in refusal(lambda: read(open_source(tmp_path)))

    def test_a_folder_without_images_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / SECRET).mkdir()
        assert "a folder of images for each" in refusal(lambda: open_source(tmp_path))

    def test_a_damaged_file_is_named_by_its_class_if_that_is_public(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        (tmp_path / "ben" / f"{SECRET}x.png").write_bytes(png(PIXELS[0])[:60])
        assert "a file in 'ben' cannot be decoded" in refusal(lambda: pictures(open_source(tmp_path)))
        (tmp_path / "ben").rename(tmp_path / SECRET)
        assert ": a file cannot be decoded" in refusal(lambda: pictures(open_source(tmp_path)))

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_a_file_that_may_not_be_read(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        next((tmp_path / "ben").iterdir()).chmod(0)
        assert "may not be read" in refusal(lambda: pictures(open_source(tmp_path)))

    def test_a_huge_file_is_not_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(image_folders, "_MOST_FILE_BYTES", 10)
        assert "a file has more than" in refusal(lambda: pictures(open_source(make_folder(tmp_path))))

    def test_names_that_are_not_utf8_are_refused(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        try:
            os.mkdir(os.fsencode(tmp_path) + b"/\xff")
        except OSError:
            pytest.skip("this file system takes UTF-8 only")
        assert "is not UTF-8" in refusal(lambda: read(open_source(tmp_path)))

    def test_a_folder_of_tables_is_still_one(self, tmp_path: Path) -> None:
        parquet.write_table(pa.table({"a": [1]}), tmp_path / "part.parquet")
        assert open_source(tmp_path).column_names() == ["a"]

    def test_sql_is_refused(self, tmp_path: Path) -> None:
        make_folder(tmp_path)
        assert "Leave --sql out" in refusal(lambda: read(sql("SELECT * FROM source", tmp_path)))

    @given(rows=st.integers(1, 9), size=st.sampled_from([1, 300, 1 << 25]))
    @settings(max_examples=15)
    def test_batches_of_any_size_are_the_same_images(
        self, rows: int, size: int, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        source = open_source(make_folder(tmp_path_factory.mktemp("faces")))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sizes, "BATCH_IMAGES", rows)
            patch.setattr(sizes, "BATCH_BYTES", size)
            batches = read(source)
            assert max(batch.num_rows for batch in batches) <= rows
            assert [value for batch in batches for value in batch.column(1).to_pylist()] == LABELS
            assert np.array_equal(pictures(source), PIXELS)
