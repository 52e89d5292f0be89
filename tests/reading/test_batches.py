"""Batches: rows at a time, fewer where images are large."""

import pointillist as pt
from pointillist.reading import batches

TABLE = pt.Schema(name="t", columns={"a": pt.Integer(min=0, max=1)})


def images(side: int) -> pt.Schema:
    return pt.Schema(name="t", columns={"image": pt.Image(height=side, width=side, colour=True)})


def test_tables_have_one_size() -> None:
    assert batches.rows_at_once(TABLE) == batches.BATCH_ROWS
    assert batches.rows_within(TABLE, [(1, 1 << 40)]) == batches.BATCH_ROWS


def test_images_are_counted_and_weighed() -> None:
    assert batches.rows_at_once(images(8)) == batches.BATCH_IMAGES
    assert batches.rows_at_once(images(128)) * 128 * 128 * 3 <= batches.BATCH_BYTES
    few = batches.rows_within(images(8), [(10, 100), (2, batches.BATCH_BYTES)])
    assert few == 2
    assert batches.rows_within(images(8), [(1, batches.BATCH_BYTES * 9)]) == 1
