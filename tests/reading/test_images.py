"""Images: what all sources of images have in common, tables with a column of images among them."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import feather, parquet
from tests.fixtures.images_on_disk import (
    COLUMN,
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
from pointillist.reading.batches import BATCH_ROWS, rows_at_once
from pointillist.reading.databases import sql
from pointillist.reading.image_arrays import images
from pointillist.reading.image_decoding import decode
from pointillist.reading.opening import open_source
from pointillist.schema import Image, Integer, Schema


def test_folders_files_and_arrays_of_images_are_whole(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", images=PIXELS)
    np.save(tmp_path / "x.npy", PIXELS)
    for table in (make_folder(tmp_path / "faces"), tmp_path / "x.npz", tmp_path / "x.npy", images(PIXELS)):
        assert open_source(table).whole


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
