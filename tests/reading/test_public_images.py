"""Public images: folders, arrays and tables, at the private images' size."""

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tests.fixtures.galleries import SIDE, bars, schema

import pointillist as pt
from pointillist.errors import DataError, UsageError


def png(pixels: np.ndarray) -> bytes:  # type: ignore[type-arg]
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    return stream.getvalue()


def test_folder_npz_and_parquet_are_the_same_images(tmp_path: Path) -> None:
    pixels = bars(5, 0)[0]
    (tmp_path / "photos").mkdir()
    for number, each in enumerate(pixels):
        (tmp_path / "photos" / f"{number}.png").write_bytes(png(each[:, :, 0]))
    np.savez(tmp_path / "photos.npz", images=pixels)
    column = pa.array([png(each[:, :, 0]) for each in pixels], pa.binary())
    pq.write_table(pa.table({"n": range(5), "image": column}), tmp_path / "photos.parquet")
    for name in ("photos", "photos.npz", "photos.parquet"):
        assert np.array_equal(pt.public_images(tmp_path / name, schema()).pixels, pixels), name


def test_other_sizes_and_colours_are_brought_to_the_schemas() -> None:
    wide = np.random.default_rng(0).integers(0, 256, (3, 20, 30, 3), dtype=np.uint8)
    strict = schema().model_copy(update={"columns": {"image": pt.Image(height=SIDE, width=SIDE, resize="error")}})
    assert pt.public_images(pt.images(wide), strict).pixels.shape == (3, SIDE, SIDE, 1)


def test_bad_input_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "n.parquet")
    with pytest.raises(DataError, match=r"n\.parquet: has no column 'image' of images"):
        pt.public_images(tmp_path / "n.parquet", schema())
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "one.png").write_bytes(b"no image")
    with pytest.raises(DataError, match="photos"):
        pt.public_images(tmp_path / "photos", schema())
    with pytest.raises(DataError, match="has no images"):
        pt.public_images(pt.images(np.zeros((0, 8, 8), np.uint8)), schema())
    table = pt.Schema(name="t", columns={"a": pt.Boolean(missing=False)})
    with pytest.raises(UsageError, match="has no column of images"):
        pt.public_images(tmp_path / "photos", table)
