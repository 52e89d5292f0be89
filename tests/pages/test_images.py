"""Images on pages: valid PNG files, inside the page, with a text alternative."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pointillist.pages.images import grid, image_tag, png, sheet

SHAPES = st.tuples(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 3]))


@given(SHAPES.flatmap(lambda shape: arrays.arrays(np.uint8, shape)))
def test_png_comes_back_bit_for_bit(image: np.ndarray) -> None:
    """Read by hand, chunk by chunk: no library is needed."""
    data = png(image)
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    found, place = {}, 8
    while place < len(data):
        (length,), kind = struct.unpack(">I", data[place : place + 4]), data[place + 4 : place + 8]
        body = data[place + 8 : place + 8 + length]
        assert struct.unpack(">I", data[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        found[kind], place = body, place + 12 + length
    assert list(found) == [b"IHDR", b"IDAT", b"IEND"]
    width, height, depth, colour, *rest = struct.unpack(">IIBBBBB", found[b"IHDR"])
    assert (height, width, depth, colour, rest) == (*image.shape[:2], 8, 0 if image.shape[2] == 1 else 2, [0, 0, 0])
    lines = np.frombuffer(zlib.decompress(found[b"IDAT"]), dtype=np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    assert np.array_equal(lines[:, 1:].reshape(image.shape), image)


def test_pillow_reads_it() -> None:
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    assert np.array_equal(np.asarray(image.open(io.BytesIO(png(pixels)))), pixels)


@given(st.integers(0, 12), st.integers(1, 5), st.integers(0, 3))
def test_a_grid_holds_every_image_in_order(count: int, columns: int, gap: int) -> None:
    pixels = np.random.default_rng(count).integers(0, 255, (count, 3, 4, 1)).astype(np.uint8)
    found = grid(pixels, columns, gap)
    for number, image in enumerate(pixels):
        top, left = number // columns * (3 + gap), number % columns * (4 + gap)
        assert np.array_equal(found[top : top + 3, left : left + 4], image)
    assert found.shape[1] == columns * (4 + gap) - gap


def test_text_is_escaped() -> None:
    found = str(image_tag(np.zeros((2, 2, 1), dtype=np.uint8), '"><script>'))
    assert "<script>" not in found
    assert found.startswith('<img src="data:image/png;base64,')


@pytest.mark.parametrize("shape", [(2, 2), (2, 2, 4), (0, 2, 1)])
def test_what_is_no_image_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="image must be"):
        png(np.zeros(shape, dtype=np.uint8))


def test_a_sheet_is_at_most_eight_images_wide() -> None:
    pixels = np.zeros((10, 20, 20, 1), dtype=np.uint8)
    assert f'width="{8 * 21 - 1}" height="{2 * 21 - 1}"' in sheet(pixels, "ten images")
    assert "none" in sheet(pixels[:0], "no images")
