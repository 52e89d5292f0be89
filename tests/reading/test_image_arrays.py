"""Arrays of images: every shape and type is the same image, and nothing runs code."""

import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.fixtures.images_on_disk import (
    LABELS,
    PIXELS,
    SECRET,
    labels,
    pictures,
    read,
    refusal,
    save,
)

from pointillist.reading import batches as sizes
from pointillist.reading.image_arrays import ArrayFile, Arrays, images
from pointillist.reading.opening import open_source
from pointillist.schema import Image, Schema


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


def test_arrays_are_a_source() -> None:
    assert isinstance(images(PIXELS), Arrays)
