"""Drafts for images: what is in them, that it is marked, and that a release can read by it."""

import io
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image as Pillow
from pyarrow import parquet

import pointillist as pt
from pointillist.cli import main
from pointillist.curator.table_drafting import draft
from pointillist.errors import DataError, UsageError
from pointillist.reading.image_arrays import images
from pointillist.reading.image_decoding import decode
from pointillist.reading.opening import open_source
from pointillist.schema import Categorical, Ignore, Image, Person, Schema


def png(height: int, width: int, *channels: int, seed: int = 0) -> bytes:
    buffer = io.BytesIO()
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, *channels), dtype=np.uint8)
    Pillow.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def folder(path: Path, contents: dict[str, list[bytes]]) -> Path:
    for label, files in contents.items():
        (path / label).mkdir(parents=True)
        for number, content in enumerate(files):
            (path / label / f"{number}.png").write_bytes(content)
    return path


def image_of(schema: Schema) -> Image:
    assert schema.image is not None
    return schema.image[1]


def test_a_folder(tmp_path: Path) -> None:
    made = draft(folder(tmp_path, {"ben": [png(20, 30, 3)] * 7, "anna": [png(20, 30, 3)] * 4, "NA": []}), name="faces")
    assert not made.reviewed
    assert made.rows == 15  # eleven, rounded up as for tables
    assert made.read_from_data == ("rows",)
    column = image_of(made)
    assert (column.height, column.width, column.colour, column.resize) == (20, 30, True, "stretch")
    assert column.read_from_data == ("kind", "height", "width", "colour")
    label = made.columns["label"]
    assert isinstance(label, Categorical)
    assert label.categories == ("anna", "ben")  # an empty folder says nothing about the rows
    assert (label.missing, label.out_of_domain) == (False, "error")
    assert label.read_from_data == ("kind", "categories", "missing")
    assert Schema.parse(tomllib.loads(made.to_toml())) == made


def test_the_most_frequent_size_counts(tmp_path: Path) -> None:
    made = draft(folder(tmp_path, {"a": [png(8, 8), png(9, 7), png(9, 7), png(12, 12, 3)]}), name="faces")
    assert (image_of(made).height, image_of(made).width, image_of(made).colour) == (9, 7, False)


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [(256, 512, (64, 128)), (400, 100, (128, 32)), (3, 900, (1, 128)), (128, 1, (128, 1))],
)
def test_large_sizes_are_made_to_fit(height: int, width: int, expected: tuple[int, int], tmp_path: Path) -> None:
    column = image_of(draft(folder(tmp_path, {"a": [png(height, width)]}), name="faces"))
    assert (column.height, column.width) == expected


def test_images_without_classes(tmp_path: Path) -> None:
    (tmp_path / "1.png").write_bytes(png(4, 4))
    assert list(draft(tmp_path, name="faces").columns) == ["image"]


def test_arrays(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x_train=np.zeros((12, 3, 9, 8), np.uint8), y_train=np.arange(12) % 3)
    made = draft(tmp_path / "x.npz", name="digits")
    assert (image_of(made).height, image_of(made).width, image_of(made).colour) == (9, 8, True)
    assert image_of(made).description == "from the array x_train, labels from y_train"
    assert made.columns["label"].categories == (0, 1, 2)
    assert draft(images(np.zeros((5, 9, 8))), name="digits").columns.keys() == {"image"}


class TestTables:
    pictures = pa.array([{"bytes": png(6, 5, 3, seed=n), "path": None} for n in range(6)])

    @pytest.mark.parametrize("form", ["parquet", "pyarrow", "pandas"])
    def test_hugging_face(self, form: str, tmp_path: Path) -> None:
        table = pa.table({"id": range(6), "image": self.pictures, "label": [3, 1, 1, 2, 3, 3], "by": list("uvwxyz")})
        given: Any = table.to_pandas() if form == "pandas" else table
        if form == "parquet":
            parquet.write_table(table, tmp_path / "x.parquet")
            given = tmp_path / "x.parquet"
        made = draft(given, name="faces")
        assert made.image == ("image", image_of(made))
        assert (image_of(made).height, image_of(made).width, image_of(made).colour) == (6, 5, True)
        assert made.columns["label"].categories == (1, 2, 3)
        assert isinstance(made.columns["id"], Ignore)
        assert isinstance(made.columns["by"], Ignore)

    def test_the_only_other_column_is_the_label(self) -> None:
        made = draft(pa.table({"photo": self.pictures, "who": ["a", "b", "a", "NA", None, "c"]}), name="faces")
        assert made.label == "who"
        assert made.columns["who"].categories == ("a", "b", "c")
        assert made.columns["who"].missing

    def test_captions_are_no_labels(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("pointillist.curator.image_drafting._MOST_CLASSES", 5)
        made = draft(pa.table({"photo": self.pictures, "text": list("abcdef")}), name="faces")
        assert isinstance(made.columns["text"], Ignore)
        assert made.label is None

    def test_tensors(self) -> None:
        tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((6, 7, 9, 1), np.uint8))
        made = draft(pa.table({"image": tensors, "label": list("abcabc")}), name="faces")
        assert (image_of(made).height, image_of(made).width, image_of(made).colour) == (7, 9, False)

    def test_bytes_that_are_no_images_are_left_out(self) -> None:
        made = draft(pa.table({"blob": [b"x", b"y", b"z"], "a": [1, 2, 3]}), name="t")
        assert made.image is None
        assert isinstance(made.columns["blob"], Ignore)

    def test_a_person_with_several_images_is_refused(self) -> None:
        table = pa.table({"image": self.pictures, "who": list("aabbcc")})
        with pytest.raises(UsageError, match="each image is a record of its own"):
            draft(table, name="faces", person=Person(column="who", max_rows=2))


def test_a_draft_of_no_images_is_refused() -> None:
    with pytest.raises(DataError, match="has no images"):
        draft(images(np.zeros((0, 4, 4))), name="faces")


def test_a_damaged_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a file cannot be decoded"):
        draft(folder(tmp_path, {"Confidential417": [png(4, 4), b"no image"]}), name="faces")


def test_the_command_line_drafts_what_the_reader_can_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = folder(tmp_path / "faces", {"anna": [png(20, 30, 3), png(7, 7)], "ben": [png(20, 30, 3)]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["pointillist", "schema", "draft", "faces/", "-o", "faces.toml"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "READ FROM THE DATA" in Path("faces.toml").read_text()
    made = pt.Schema.load("faces.toml")
    assert made.name == "faces"
    (batch,) = open_source(data).batches(["image", "label"], made, lambda share: None)
    assert decode(batch.column(0), image_of(made), "").shape == (3, 20, 30, 3)


def test_a_palette_behind_damaged_pixels_is_a_data_error(tmp_path: Path) -> None:
    """Pillow decodes a GIF to get at its palette."""
    stream = io.BytesIO()
    Pillow.new("P", (40, 40)).save(stream, "GIF")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1.gif").write_bytes(stream.getvalue()[:-30])
    with pytest.raises(DataError, match="cannot be decoded"):
        draft(tmp_path, name="t")
