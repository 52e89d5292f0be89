"""Image sources: folders, arrays and tables give the same images, a few at a time, as often as asked."""

import io
import os
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image as Pillow
from pyarrow import feather, parquet

from pointillist.errors import DataError, UsageError
from pointillist.reading import batches as sizes
from pointillist.reading import image_folders
from pointillist.reading.batches import BATCH_ROWS, rows_at_once
from pointillist.reading.databases import sql
from pointillist.reading.image_arrays import ArrayFile, Arrays, images
from pointillist.reading.image_folders import Folder
from pointillist.reading.opening import open_source
from pointillist.reading.pixels import decode
from pointillist.reading.source import Source
from pointillist.schema import Categorical, Image, Integer, Schema

SECRET = "Confidential417"
COLUMN = Image(height=6, width=5, colour=True, resize="error")
SCHEMA = Schema(
    name="faces",
    columns={"image": COLUMN, "label": Categorical(categories=("anna", "ben"), missing=False, out_of_domain="error")},
)
PIXELS = np.random.default_rng(0).integers(0, 256, (7, 6, 5, 3), dtype=np.uint8)
LABELS = ["anna", "anna", "anna", "ben", "ben", "ben", "ben"]


def png(pixels: Any) -> bytes:
    buffer = io.BytesIO()
    Pillow.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def make_folder(path: Path) -> Path:
    for number, (pixels, label) in enumerate(zip(PIXELS, LABELS, strict=True)):
        (path / label).mkdir(parents=True, exist_ok=True)
        (path / label / f"{SECRET}{number}.png").write_bytes(png(pixels))
    return path


def read(
    source: Source, columns: tuple[str, ...] = ("image", "label"), schema: Schema = SCHEMA
) -> list[pa.RecordBatch]:
    shares: list[float] = []
    batches = list(source.batches(list(columns), schema, shares.append))
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)
    assert all(batch.schema.names == list(columns) for batch in batches)
    return batches


def pictures(source: Source, schema: Schema = SCHEMA) -> Any:
    assert schema.image is not None
    parts = [decode(batch.column("image"), schema.image[1], source.name) for batch in read(source, ("image",), schema)]
    return np.concatenate(parts)


def labels(source: Source) -> list[Any]:
    return [value for batch in read(source, ("label",)) for value in batch.column(0).to_pylist()]


def refusal(work: Callable[[], Any]) -> str:
    with pytest.raises((DataError, UsageError)) as failed:
        work()
    assert SECRET not in str(failed.value)
    return str(failed.value)


def test_folders_files_and_arrays_of_images_are_whole(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", images=PIXELS)
    np.save(tmp_path / "x.npy", PIXELS)
    for table in (make_folder(tmp_path / "faces"), tmp_path / "x.npz", tmp_path / "x.npy", images(PIXELS)):
        assert open_source(table).whole


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


def save(path: Path, *, compressed: bool = False, **arrays: Any) -> Path:
    (np.savez_compressed if compressed else np.savez)(path, allow_pickle=True, **arrays)
    return path


class TestArrays:
    @pytest.mark.parametrize("compressed", [False, True])
    @pytest.mark.parametrize("keys", [("x", "y"), ("X", "y"), ("images", "labels"), ("x_train", "y_train")])
    def test_an_npz_file(self, keys: tuple[str, str], compressed: bool, tmp_path: Path) -> None:
        arrays = {keys[0]: PIXELS, keys[1]: np.array(LABELS)}
        source = open_source(save(tmp_path / "x.npz", compressed=compressed, **arrays))
        assert isinstance(source, ArrayFile)
        for _ in range(2):
            assert np.array_equal(pictures(source), PIXELS)
            assert labels(source) == LABELS

    def test_of_several_arrays_the_training_set_is_read(self, tmp_path: Path) -> None:
        path = save(tmp_path / "x.npz", x=PIXELS[:1], x_train=PIXELS, y_train=np.arange(7), x_test=PIXELS[:2])
        source = open_source(path)
        assert np.array_equal(pictures(source), PIXELS)
        assert labels(source) == list(range(7))
        assert isinstance(source, ArrayFile)
        assert source.note == "from the array x_train, labels from y_train; the file's other arrays are not read"

    def test_an_npz_file_without_labels(self, tmp_path: Path) -> None:
        assert open_source(save(tmp_path / "x.npz", x=PIXELS)).column_names() == ["image"]

    def test_other_keys_are_refused_and_not_shown(self, tmp_path: Path) -> None:
        message = refusal(lambda: open_source(save(tmp_path / "x.npz", **{SECRET: PIXELS})))
        assert "x_train and y_train" in message

    def test_an_npy_file(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", PIXELS)
        source = open_source(tmp_path / "x.npy")
        assert source.column_names() == ["image"]
        assert np.array_equal(pictures(source), PIXELS)
        np.save(tmp_path / "y.npy", np.asfortranarray(PIXELS))
        assert np.array_equal(pictures(open_source(tmp_path / "y.npy")), PIXELS)

    @pytest.mark.parametrize(
        ("values", "channels"),
        [(PIXELS[..., 0], 1), (PIXELS[..., :1], 1), (PIXELS, 3), (PIXELS[:, None, :, :, 0], 1),
         (np.moveaxis(PIXELS, 3, 1), 3), (PIXELS / 255, 3), ((PIXELS / 255).astype(np.float32), 3),
         (PIXELS.astype(np.uint16) * 257, 3), (PIXELS.astype(">u2") * 257, 3)],
    )  # fmt: skip
    def test_all_shapes_and_types_are_the_same_images(self, values: Any, channels: int, tmp_path: Path) -> None:
        column = Image(height=6, width=5, colour=channels == 3, resize="error")
        schema = Schema(name="faces", columns={"image": column})
        np.save(tmp_path / "x.npy", np.ascontiguousarray(values))
        sources = [
            images(values),
            open_source(tmp_path / "x.npy"),
            open_source(save(tmp_path / "x.npz", x=values.copy())),
        ]
        for source in sources:
            assert np.array_equal(pictures(source, schema), PIXELS[..., :channels])

    @pytest.mark.parametrize(
        "values",
        [
            ["a", "b", "a"],
            np.array([b"a", b"b", b"a"]),
            np.array(["a", "b", "a"], dtype=object),
            pd.Series(["a", "b", "a"]),
        ],
    )
    def test_labels_as_texts(self, values: Any) -> None:
        assert labels(images(PIXELS[:3], values)) == ["a", "b", "a"]

    @pytest.mark.parametrize(
        "values",
        [[1, 0, 1], [True, False, True], np.array([[1], [0], [1]]), np.array([1, 0, 1], ">i4"), [1.0, 0.0, 1.0]],
    )
    def test_labels_as_numbers(self, values: Any) -> None:
        assert labels(images(PIXELS[:3], values)) == [1, 0, 1]

    @pytest.mark.parametrize(
        ("values", "words"),
        [(np.eye(7), "one number or text for each image"), (np.arange(6), "not as many labels"),
         (np.zeros(7, "datetime64[s]"), "one number or text for each image")],
    )  # fmt: skip
    def test_other_labels_are_refused(self, values: Any, words: str, tmp_path: Path) -> None:
        assert words in refusal(lambda: images(PIXELS, values))
        assert words in refusal(lambda: open_source(save(tmp_path / "x.npz", x=PIXELS, y=values)))

    def test_labels_that_are_neither_texts_nor_numbers_are_refused(self) -> None:
        assert "one label for each image" in refusal(lambda: images(PIXELS[:2], [SECRET, None]))

    def test_ragged_arrays_are_refused(self) -> None:
        assert "all images of one size" in refusal(lambda: images([[[1, 2]], [[1, 2, 3]]]))

    @pytest.mark.parametrize("shape", [(7,), (7, 30), (7, 6, 5, 2), (7, 0, 5), (7, 6, 5, 3, 1)])
    def test_other_shapes_are_refused(self, shape: tuple[int, ...], tmp_path: Path) -> None:
        values = np.zeros(shape, dtype=np.uint8)
        np.save(tmp_path / "x.npy", values)
        for work in (
            lambda: images(values),
            lambda: open_source(tmp_path / "x.npy"),
            lambda: open_source(save(tmp_path / "x.npz", x=values)),
        ):
            assert "images must" in refusal(work)

    def test_types_without_a_range_are_refused(self) -> None:
        assert "int64 have no known range" in refusal(lambda: images(PIXELS.astype(np.int64)))

    def test_what_is_not_a_number_is_refused(self) -> None:
        values = PIXELS / 255
        values[3, 2, 1, 0] = np.nan
        assert "NaN" in refusal(lambda: pictures(images(values)))

    def test_pickles_are_refused(self, tmp_path: Path) -> None:
        objects = np.array([SECRET, None], dtype=object)
        np.save(tmp_path / "x.npy", objects, allow_pickle=True)
        for work in (
            lambda: open_source(tmp_path / "x.npy"),
            lambda: open_source(save(tmp_path / "x.npz", x=objects)),
            lambda: open_source(save(tmp_path / "y.npz", x=PIXELS[:2], y=objects)),
        ):
            assert "pickle" in refusal(work)

    def test_an_array_stored_by_columns_is_refused(self, tmp_path: Path) -> None:
        message = refusal(lambda: open_source(save(tmp_path / "x.npz", x=np.asfortranarray(PIXELS))))
        assert "np.ascontiguousarray" in message

    @pytest.mark.parametrize("compressed", [False, True])
    def test_damaged_files_are_refused(self, compressed: bool, tmp_path: Path) -> None:
        path = save(tmp_path / "x.npz", compressed=compressed, x=PIXELS, y=np.array(LABELS))
        whole = path.read_bytes()
        for content in (b"", b"PK\3\4", whole[:300], whole[:250] + b"\0\1\2" + whole[253:]):
            path.write_bytes(content)
            assert "x.npz: cannot be read" in refusal(lambda: pictures(open_source(path)))
        np.save(tmp_path / "x.npy", PIXELS)
        whole = (tmp_path / "x.npy").read_bytes()
        for content in (b"", whole[:40], whole[:-5]):
            (tmp_path / "x.npy").write_bytes(content)
            assert "x.npy: cannot be read" in refusal(lambda: open_source(tmp_path / "x.npy"))

    @pytest.mark.parametrize("rows", [6, 8])
    def test_a_head_that_lies_is_refused(self, rows: int, tmp_path: Path) -> None:
        member = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            member,
            {"descr": "|u1", "fortran_order": False, "shape": (rows, 6, 5, 3)},  # the file has seven
        )
        with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
            archive.writestr("x.npy", member.getvalue() + PIXELS.tobytes())
        assert "cannot be read" in refusal(lambda: pictures(open_source(tmp_path / "x.npz")))

    def test_a_file_of_several_arrays_needs_its_ending(self, tmp_path: Path) -> None:
        save(tmp_path / "x.npz", x=PIXELS).rename(tmp_path / "x.npy")
        assert "should be .npz" in refusal(lambda: open_source(tmp_path / "x.npy"))

    def test_no_images_are_no_batches(self, tmp_path: Path) -> None:
        assert read(images(PIXELS[:0], []), ("image",)) == []
        assert read(open_source(save(tmp_path / "x.npz", x=PIXELS[:0])), ("image",)) == []

    def test_memory_does_not_grow_with_the_images(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sizes, "BATCH_BYTES", 1 << 18)
        path = save(
            tmp_path / "x.npz", compressed=True, x=np.zeros((20_000, 32, 32), np.uint8), y=np.zeros(20_000, np.uint8)
        )
        schema = Schema(name="faces", columns={"image": Image(height=32, width=32)})
        tracemalloc.start()
        try:
            count = sum(batch.num_rows for batch in open_source(path).batches(["image"], schema, lambda share: None))
            most = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert count == 20_000
        assert most < 4 << 20  # the array has 20 MB


class TestTables:
    """The existing readers, with images in them."""

    table = pa.table(
        {"image": [{"bytes": png(each), "path": SECRET} for each in PIXELS], "label": LABELS, "note": LABELS}
    )

    def sources(self, folder: Path) -> dict[str, Any]:
        parquet.write_table(self.table, folder / "x.parquet", row_group_size=3)
        feather.write_feather(self.table, folder / "x.arrow")
        plain = pa.table({"image": self.table["image"].combine_chunks().field("bytes"), "label": LABELS})
        tensors = pa.table({"image": pa.FixedShapeTensorArray.from_numpy_ndarray(PIXELS), "label": LABELS})
        parquet.write_table(tensors, folder / "tensors.parquet")
        return {
            "parquet": folder / "x.parquet",
            "arrow": folder / "x.arrow",
            "dataset": ds.dataset(self.table),
            "pyarrow": self.table,
            "plain": plain,
            "pandas": self.table.to_pandas(),
            "pandas bytes": plain.to_pandas(),
            "polars": pl.from_arrow(self.table),
            "polars bytes": pl.from_arrow(plain),
            "tensors": tensors,
            "tensors in Parquet": folder / "tensors.parquet",
        }

    @pytest.mark.parametrize("rows", [2, 4096])
    def test_every_reader_gives_the_same_images(
        self, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sizes, "BATCH_IMAGES", rows)
        for name, table in self.sources(tmp_path).items():
            source = open_source(table)
            assert np.array_equal(pictures(source), PIXELS), name
            assert [str(each) for each in labels(source)] == LABELS, name
            assert max(batch.num_rows for batch in read(source)) <= rows, name

    def test_a_query_gives_the_same_images_in_some_order(self, tmp_path: Path) -> None:
        self.sources(tmp_path)
        batches = read(open_source(sql("SELECT image, label FROM source", tmp_path / "x.parquet")))
        rows = [
            (pixels.tobytes(), label)
            for batch in batches
            for pixels, label in zip(decode(batch.column(0), COLUMN, ""), batch.column(1).to_pylist(), strict=True)
        ]
        assert sorted(rows) == sorted((each.tobytes(), label) for each, label in zip(PIXELS, LABELS, strict=True))

    def test_large_images_come_in_small_batches(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        content = np.random.default_rng(0).bytes(10_000)
        parquet.write_table(pa.table({"image": [content] * 100}), tmp_path / "x.parquet", use_dictionary=False)
        monkeypatch.setattr(sizes, "BATCH_BYTES", 55_000)
        schema = Schema(name="faces", columns={"image": COLUMN})
        batches = read(open_source(tmp_path / "x.parquet"), ("image",), schema)
        assert max(batch.num_rows for batch in batches) == 5
        assert sum(batch.num_rows for batch in batches) == 100

    def test_tables_without_images_keep_their_batches(self) -> None:
        assert rows_at_once(Schema(name="t", columns={"a": Integer(min=0, max=1)})) == BATCH_ROWS
        largest = Schema(name="t", columns={"image": Image(height=128, width=128, colour=True)})
        assert rows_at_once(largest) * 128 * 128 * 3 <= sizes.BATCH_BYTES

    def test_paths_without_bytes_are_refused(self) -> None:
        kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
        table = pa.table({"image": pa.array([{"bytes": None, "path": SECRET}], kind)})
        assert "only the path of its file" in refusal(lambda: pictures(open_source(table)))


def test_arrays_are_a_source() -> None:
    assert isinstance(images(PIXELS), Arrays)
