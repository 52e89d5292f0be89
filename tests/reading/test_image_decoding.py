"""Decoding: every kind of image comes out as the schema says, by a stated rule, or with a clear message."""

import io
import struct
import sys
import threading
import warnings
import zlib
from contextlib import suppress
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image as Pillow
from PIL import ImageOps

from pointillist.errors import DataError, UsageError
from pointillist.files.pillow import quiet
from pointillist.reading.image_decoding import decode, header, image_shape, to_bytes
from pointillist.schema import Image

WHERE = "faces: column 'image'"
SECRET = "Confidential417"
Rule = Literal["stretch", "crop", "pad", "error"]
RULES: tuple[Rule, ...] = ("stretch", "crop", "pad")


def noise(height: int, width: int, *channels: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (height, width, *channels), dtype=np.uint8)


def encoded(picture: Any, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    (picture if isinstance(picture, Pillow.Image) else Pillow.fromarray(picture)).save(buffer, kind, **options)
    return buffer.getvalue()


def one(content: bytes, column: Image) -> Any:
    return decode(pa.array([content]), column, WHERE)[0]


def exactly(height: int, width: int, colour: bool = True) -> Image:
    return Image(height=height, width=width, colour=colour, resize="error")


def refusal(array: pa.Array, column: Image | None = None) -> str:
    with pytest.raises(DataError) as failed:
        decode(array, column or exactly(20, 30), WHERE)
    message = str(failed.value)
    assert message.startswith(WHERE)
    assert SECRET not in message
    assert failed.value.__cause__ is None
    assert failed.value.__suppress_context__ or failed.value.__context__ is None
    return message


class TestFormats:
    @pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
    @pytest.mark.parametrize("channels", [(), (3,)])
    def test_lossless_images_come_back(self, kind: str, channels: tuple[int, ...]) -> None:
        pixels = noise(20, 30, *channels)
        found = one(encoded(pixels, kind), exactly(20, 30, bool(channels)))
        assert np.array_equal(found, pixels.reshape(20, 30, -1))

    def test_webp_without_loss_comes_back(self) -> None:
        pixels = noise(20, 30, 3)
        assert np.array_equal(one(encoded(pixels, "WEBP", lossless=True), exactly(20, 30)), pixels)

    @pytest.mark.parametrize("kind", ["JPEG", "GIF"])
    def test_images_with_loss_are_as_pillow_has_them(self, kind: str) -> None:
        content = encoded(noise(20, 30, 3), kind)
        expected = np.asarray(Pillow.open(io.BytesIO(content)).convert("RGB"))
        assert np.array_equal(one(content, exactly(20, 30)), expected)

    def test_other_formats_are_refused(self) -> None:
        assert "none of PNG, JPEG" in refusal(pa.array([encoded(noise(20, 30, 3), "PPM")]))

    def test_the_first_frame_counts(self) -> None:
        frames = [Pillow.fromarray(np.full((20, 30), shade, dtype=np.uint8)) for shade in (40, 90, 200)]
        moving = encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])
        assert (one(moving, exactly(20, 30, False)) == 40).all()
        pages = encoded(frames[1], "TIFF", save_all=True, append_images=frames[2:])
        assert (one(pages, exactly(20, 30, False)) == 90).all()

    @pytest.mark.parametrize("turn", range(1, 9))
    @pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "WEBP"])
    def test_images_are_turned_as_the_camera_says(self, turn: int, kind: str) -> None:
        notes = Pillow.Exif()
        notes[0x0112] = turn
        content = encoded(noise(20, 30, 3), kind, exif=notes)
        expected = np.asarray(ImageOps.exif_transpose(Pillow.open(io.BytesIO(content))))
        height, width = expected.shape[:2]
        assert (height, width) == ((30, 20) if turn > 4 else (20, 30))
        assert np.array_equal(one(content, exactly(height, width)), expected)
        assert header(content, WHERE) == (height, width, True)

    @pytest.mark.parametrize("turn", [0, 9, 65535])
    def test_an_unknown_turn_is_passed_over(self, turn: int) -> None:
        notes = Pillow.Exif()
        notes[0x0112] = turn
        pixels = noise(20, 30, 3)
        assert np.array_equal(one(encoded(pixels, exif=notes), exactly(20, 30)), pixels)

    def test_damaged_notes_are_passed_over(self) -> None:
        pixels = noise(20, 30, 3)
        content = encoded(pixels, exif=b"Exif\0\0MM\0*\0\0\0\x08\0\x09\x01\x12\0\x03")
        assert np.array_equal(one(content, exactly(20, 30)), pixels)


class TestColours:
    def test_grey_is_as_pillow_has_it(self) -> None:
        pixels = noise(64, 64, 3)
        found = one(encoded(pixels), exactly(64, 64, False))
        assert np.array_equal(found[:, :, 0], np.asarray(Pillow.fromarray(pixels).convert("L")))

    def test_grey_images_are_copied_into_all_colours(self) -> None:
        pixels = noise(20, 30)
        found = one(encoded(pixels), exactly(20, 30))
        assert all(np.array_equal(found[:, :, channel], pixels) for channel in range(3))

    def test_palettes_become_colours(self) -> None:
        picture = Pillow.fromarray(noise(20, 30, 3)).quantize(16)
        assert picture.mode == "P"
        assert np.array_equal(one(encoded(picture), exactly(20, 30)), np.asarray(picture.convert("RGB")))

    @pytest.mark.parametrize("colour", [False, True])
    def test_what_is_transparent_becomes_white(self, colour: bool) -> None:
        layer = np.zeros((4, 4, 4), dtype=np.uint8)
        layer[:, :2, 3] = 255  # the left half is black, the right half is transparent black
        for kind in ("PNG", "TIFF"):
            found = one(encoded(layer, kind), exactly(4, 4, colour))
            assert (found[:, :2] == 0).all()
            assert (found[:, 2:] == 255).all()

    def test_half_transparent_grey_is_half_way_to_white(self) -> None:
        picture = Pillow.merge("LA", [Pillow.new("L", (3, 2), 0), Pillow.new("L", (3, 2), 128)])
        assert np.abs(one(encoded(picture), exactly(2, 3, False)).astype(int) - 127).max() <= 1

    def test_a_transparent_entry_of_a_palette_becomes_white(self) -> None:
        picture = Pillow.fromarray(np.array([[0, 1]], dtype=np.uint8), "L").convert("P")
        picture.putpalette([10, 20, 30, 40, 50, 60])
        for kind in ("PNG", "GIF"):
            found = one(encoded(picture, kind, transparency=1), exactly(1, 2))
            assert found.tolist() == [[[10, 20, 30], [255, 255, 255]]]

    def test_one_bit_is_black_or_white(self) -> None:
        picture = Pillow.fromarray(np.array([[0, 255, 0]], dtype=np.uint8)).convert("1")
        assert one(encoded(picture), exactly(1, 3, False))[0, :, 0].tolist() == [0, 255, 0]

    @pytest.mark.parametrize("kind", ["PNG", "TIFF"])
    def test_sixteen_bits_are_divided_by_257_and_rounded(self, kind: str) -> None:
        wide = np.array([[0, 128, 129, 257, 385, 386, 65535, 65406, 65407]], dtype=np.uint16)
        found = one(encoded(wide, kind), exactly(1, 9, False))[0, :, 0]
        assert found.tolist() == [0, 0, 1, 1, 1, 2, 255, 254, 255]

    def test_sixteen_bit_colours_keep_their_upper_eight(self) -> None:
        content = _png_of(
            struct.pack(">B6H", 0, 0x12FF, 0xAB00, 255, 256, 65535, 0), width=2, height=1, depth=16, colour=2
        )
        assert one(content, exactly(1, 2)).tolist() == [[[0x12, 0xAB, 0], [1, 255, 0]]]

    def test_printers_colours_are_converted(self) -> None:
        picture = Pillow.fromarray(noise(20, 30, 3)).convert("CMYK")
        for kind in ("JPEG", "TIFF"):
            content = encoded(picture, kind)
            expected = np.asarray(Pillow.open(io.BytesIO(content)).convert("RGB"))
            assert np.array_equal(one(content, exactly(20, 30)), expected)

    @pytest.mark.parametrize("kind", [np.float32, np.int32])
    def test_numbers_without_a_range_are_refused(self, kind: type) -> None:
        picture = Pillow.fromarray(noise(20, 30).astype(kind))
        assert "32 bits" in refusal(pa.array([encoded(picture, "TIFF")]))


class TestSizes:
    def test_a_constant_image_stays_so_when_it_is_stretched_or_cropped(self) -> None:
        content = encoded(np.full((37, 11, 3), (10, 200, 90), dtype=np.uint8))
        for rule in ("stretch", "crop"):
            found = one(content, Image(height=8, width=16, colour=True, resize=rule))
            assert (found == [10, 200, 90]).all()

    def test_stretching_takes_in_all_pixels(self) -> None:
        # Stripes of one pixel: skipping pixels would give stripes, or one of the two shades.
        stripes = np.tile(np.array([0, 255], dtype=np.uint8), (64, 32))
        found = one(encoded(stripes), Image(height=8, width=8))
        assert np.abs(found.astype(int) - 127).max() < 12

    def test_cropping_keeps_the_middle(self) -> None:
        pixels = np.zeros((10, 30), dtype=np.uint8)
        pixels[:, 10:20] = 255
        assert (one(encoded(pixels), Image(height=10, width=10, resize="crop")) == 255).all()
        assert (one(encoded(pixels.T), Image(height=10, width=10, resize="crop")) == 255).all()

    def test_padding_is_black_and_on_both_sides(self) -> None:
        found = one(encoded(np.full((10, 20), 255, dtype=np.uint8)), Image(height=20, width=20, resize="pad"))
        assert (found[5:15] == 255).all()
        assert not found[:5].any()
        assert not found[15:].any()

    @given(
        st.integers(1, 70), st.integers(1, 70), st.integers(1, 40), st.integers(1, 40), st.booleans(),
        st.sampled_from([(), (3,)]), st.sampled_from(RULES),
    )  # fmt: skip
    def test_any_size_fits_any_schema(
        self, height: int, width: int, high: int, wide: int, colour: bool, channels: tuple[int, ...], rule: Rule
    ) -> None:
        pixels = noise(height, width, *channels)
        column = Image(height=high, width=wide, colour=colour, resize=rule)
        found = decode(pa.array([encoded(pixels)]), column, WHERE)
        assert found.shape == (1, *column.shape)
        assert found.dtype == np.uint8
        raw = pa.FixedShapeTensorArray.from_numpy_ndarray(pixels.reshape(1, height, width, -1))
        assert np.array_equal(decode(raw, column, WHERE), found)

    def test_a_line_of_pixels_can_be_padded(self) -> None:
        assert one(encoded(noise(1, 900)), Image(height=10, width=10, resize="pad")).any()

    def test_another_size_is_refused_if_the_schema_says_so(self) -> None:
        message = refusal(pa.array([encoded(noise(20, 31))]), exactly(20, 30))
        assert "20 pixels high and 30 wide" in message
        assert 'resize = "error"' in message
        assert "31" not in message  # the size of a private image

    def test_mixed_sizes_do_not_change_each_other(self) -> None:
        contents = [encoded(noise(5 + 7 * n, 40 - 5 * n, 3, seed=n)) for n in range(6)]
        column = Image(height=12, width=9, colour=True)
        together = decode(pa.array(contents), column, WHERE)
        assert all(np.array_equal(together[n], one(content, column)) for n, content in enumerate(contents))


class TestArrow:
    """Every type of column that may hold images."""

    pixels = np.random.default_rng(1).integers(0, 256, (5, 6, 7, 3), dtype=np.uint8)
    column = exactly(6, 7)

    @pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.binary_view()])
    def test_bytes(self, kind: pa.DataType) -> None:
        array = pa.array([encoded(each) for each in self.pixels], kind)
        assert np.array_equal(decode(array, self.column, WHERE), self.pixels)
        assert np.array_equal(decode(array.slice(2, 2), self.column, WHERE), self.pixels[2:4])

    def test_hugging_face(self) -> None:
        array = pa.array([{"bytes": encoded(each), "path": f"{SECRET}.png"} for each in self.pixels])
        assert np.array_equal(decode(array, self.column, WHERE), self.pixels)
        assert np.array_equal(decode(array.slice(3), self.column, WHERE), self.pixels[3:])

    def test_paths_without_bytes_are_refused(self) -> None:
        array = pa.array(
            [{"bytes": None, "path": f"{SECRET}.png"}], pa.struct({"bytes": pa.binary(), "path": pa.string()})
        )
        assert "only the path" in refusal(array)

    def test_a_damaged_file_is_not_named(self) -> None:
        array = pa.array([{"bytes": b"no image", "path": f"{SECRET}.png"}])
        assert "an image cannot be decoded" in refusal(array)

    @pytest.mark.parametrize("array", [pa.array([None, b"x"]), pa.array([None], pa.struct({"bytes": pa.binary()}))])
    def test_missing_images_are_refused(self, array: pa.Array) -> None:
        assert "a row has no image" in refusal(array)

    @pytest.mark.parametrize("array", [pa.array([SECRET]), pa.array([1.5]), pa.array([{"path": SECRET}])])
    def test_other_types_are_refused(self, array: pa.Array) -> None:
        assert "does not hold images" in refusal(array)

    def test_no_rows_give_no_images(self) -> None:
        for array in (pa.nulls(0), pa.array([], pa.binary())):
            assert decode(array, self.column, WHERE).shape == (0, 6, 7, 3)

    @pytest.mark.parametrize("kind", [pa.list_(pa.uint8(), 126), pa.binary(126)])
    def test_pixels_in_a_row(self, kind: pa.DataType) -> None:
        rows: list[Any] = [each.ravel().tolist() for each in self.pixels]
        if pa.types.is_fixed_size_binary(kind):
            rows = [bytes(row) for row in rows]
        array = pa.array(rows, kind)
        assert np.array_equal(decode(array, self.column, WHERE), self.pixels)
        assert np.array_equal(decode(array.slice(1, 3), self.column, WHERE), self.pixels[1:4])
        grey = decode(array, exactly(6, 7, False), WHERE)
        assert grey.shape == (5, 6, 7, 1)

    def test_pixels_in_a_row_must_fit_the_schema(self) -> None:
        message = refusal(pa.array([[0] * 10], pa.list_(pa.uint8(), 10)), self.column)
        assert "42 for grey images, 126 in colour" in message

    def test_tensors(self) -> None:
        tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(self.pixels)
        found = decode(tensors, self.column, WHERE)
        assert np.array_equal(found, self.pixels)
        assert found.flags.writeable
        assert np.array_equal(decode(tensors.slice(2, 2), self.column, WHERE), self.pixels[2:4])
        first = pa.FixedShapeTensorArray.from_numpy_ndarray(np.ascontiguousarray(np.moveaxis(self.pixels, 3, 1)))
        assert np.array_equal(decode(first, self.column, WHERE), self.pixels)
        floats = pa.FixedShapeTensorArray.from_numpy_ndarray((self.pixels / 255).astype(np.float32))
        assert np.array_equal(decode(floats, self.column, WHERE), self.pixels)

    def test_the_class_is_named_and_the_file_is_not(self) -> None:
        kind = pa.struct({"bytes": pa.binary(), "folder": pa.string()})
        assert f"{WHERE}: a file in 'anna' cannot" in refusal(pa.array([{"bytes": b"", "folder": "anna"}], kind))
        assert f"{WHERE}: a file cannot" in refusal(pa.array([{"bytes": b"", "folder": None}], kind))


class TestDamage:
    whole = encoded(noise(20, 30, 3))

    @pytest.mark.parametrize(
        "content", [b"", b"\0", f"{SECRET} is no image".encode(), whole[:30], whole[:200], whole[:-40]]
    )
    def test_damaged_images_are_refused(self, content: bytes) -> None:
        message = refusal(pa.array([self.whole, content]))
        assert "damaged, cut short" in message
        assert "remove it" in message

    @given(st.integers(0, len(whole) - 1), st.integers(1, 255), st.sampled_from(["PNG", "JPEG", "GIF", "BMP", "TIFF"]))
    def test_one_wrong_byte_gives_an_image_or_a_message(self, place: int, change: int, kind: str) -> None:
        content = bytearray(encoded(noise(20, 30, 3), kind))
        content[place % len(content)] ^= change
        with suppress(DataError):  # and no other error
            assert one(bytes(content), Image(height=4, width=4)).shape == (4, 4, 1)

    @given(st.binary(max_size=200))
    def test_any_bytes_give_a_message(self, content: bytes) -> None:
        refusal(pa.array([content]))

    @pytest.mark.parametrize(("width", "height"), [(30_000, 30_000), (8_001, 8_000), (100_000, 100_000)])
    def test_bombs_are_refused_before_they_are_decoded(self, width: int, height: int) -> None:
        assert "more than 64,000,000 pixels" in refusal(pa.array([_png_head(width, height)]))

    def test_an_image_without_pixels_is_refused(self) -> None:
        refusal(pa.array([_png_head(0, 10)]))
        with pytest.raises(DataError, match="from 1 to"):
            image_shape((5, 0, 10), WHERE)

    def test_no_warning_escapes(self) -> None:
        # Pillow warns of palettes with transparency in bytes, of notes it cannot read, and of large images.
        picture = Pillow.fromarray(noise(20, 30, 3)).quantize(16)
        content = encoded(picture, transparency=bytes(range(16)))
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            one(content, exactly(20, 30))
            one(encoded(noise(20, 30), "TIFF")[:-2] + b"zz", exactly(20, 30))
        assert found == []

    def test_silence_ends_whichever_thread_leaves_last(self) -> None:
        before = list(warnings.filters)
        entered, leave = threading.Event(), threading.Event()

        def other() -> None:
            with quiet():
                entered.set()
                leave.wait(10)

        thread = threading.Thread(target=other)
        with quiet():
            thread.start()
            entered.wait(10)
        assert warnings.filters[0][0] == "ignore"
        leave.set()
        thread.join()
        assert list(warnings.filters) == before

    def test_without_pillow_the_message_says_how_to_get_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "PIL", None)
        with pytest.raises(UsageError, match=r"pip install 'pointillist\[images\]'"):
            one(self.whole, exactly(20, 30))
        raw = pa.FixedShapeTensorArray.from_numpy_ndarray(noise(5, 4, 3, 1))
        assert decode(raw, exactly(4, 3, False), WHERE).shape == (
            5,
            4,
            3,
            1,
        )  # pixels of the right size need no library


def _png_of(lines: bytes, *, width: int, height: int, depth: int, colour: int) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def _png_head(width: int, height: int) -> bytes:
    return _png_of(b"", width=width, height=height, depth=8, colour=0)


class TestNumbers:
    @given(st.integers(0, 65_535))
    def test_sixteen_bits(self, value: int) -> None:
        (found,) = to_bytes(np.array([value], dtype=np.uint16), WHERE)
        assert int(found) == round(value / 257)  # 257 is odd: there are no ties
        assert to_bytes(np.array([value], dtype=">u2"), WHERE)[0] == found

    @pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, ">f4"])
    def test_floats_lie_between_0_and_1(self, kind: Any) -> None:
        values = np.array([-3.0, 0.0, 0.25, 0.5, 1.0, 200.0, np.inf, -np.inf], dtype=kind)
        assert to_bytes(values, WHERE).tolist() == [0, 0, 64, 128, 255, 255, 255, 0]

    def test_no_value_changes_how_another_is_read(self) -> None:
        assert to_bytes(np.array([1.0, 255.0]), WHERE)[0] == to_bytes(np.array([1.0, 0.0]), WHERE)[0]

    def test_truths_are_black_and_white(self) -> None:
        assert to_bytes(np.array([True, False]), WHERE).tolist() == [255, 0]

    def test_what_is_not_a_number_is_refused(self) -> None:
        with pytest.raises(DataError, match="NaN"):
            to_bytes(np.array([0.5, np.nan]), WHERE)

    @pytest.mark.parametrize("kind", [np.int64, np.int8, np.uint32, np.complex64, "datetime64[s]", "U3"])
    def test_other_types_are_refused(self, kind: Any) -> None:
        with pytest.raises(DataError, match="Convert them to uint8"):
            to_bytes(np.empty(3, dtype=kind), WHERE)

    @pytest.mark.parametrize("shape", [(), (5,), (5, 784), (5, 4, 4, 2), (5, 4, 4, 4), (5, 2, 4, 4), (5, 4, 4, 3, 1)])
    def test_other_shapes_are_refused(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(DataError, match=r"Reshape it\."):
            image_shape(shape, WHERE)
