"""Image decoding: images as they come, encoded or as arrays, to pixels of the schema's size.

Each image is decoded on its own, and every rule looks at that image alone. Messages name the column, the rule and, for
a folder, the class as the schema has it: never a file's name, which may be a person's, and never anything that stands
in the file.
"""

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pointillist.errors import DataError
from pointillist.files.pillow import pillow, quiet
from pointillist.schema import Image

Pixels = NDArray[np.uint8]

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
"""The formats that are read, by Pillow's names."""
MOST_PIXELS = 64_000_000
"""An image that claims to have more is refused before it is decoded: a few bytes may stand for gigabytes."""
_ORIENTATION = 0x0112
"""The EXIF field that says how a camera was held."""
_WIDE = ("I;16", "I;16L", "I;16B", "I;16N")


def decode(array: pa.Array, column: Image, where: str) -> Pixels:
    """Images of any form as (rows, height, width, channels) of the column; `where` starts every message."""
    if len(array) == 0:  # of whatever type: a frame without rows may not know better
        return np.empty((0, *column.shape), dtype=np.uint8)
    if array.null_count:
        raise DataError(f"{where}: a row has no image. Leave such rows out.")
    raw = _raw(array, column, where)
    if raw is not None and raw.shape[1:] == column.shape:
        return np.array(raw, order="C")  # Arrow's own memory may not be written to
    found = np.empty((len(array), *column.shape), dtype=np.uint8)
    with quiet():
        if raw is not None:
            for row, pixels in enumerate(raw):
                found[row] = _fitted(pixels, column, f"{where}: an image")
        else:
            for row, (content, what) in enumerate(_contents(array, where)):
                found[row] = _fitted(_decoded(content, what), column, what)
    return found


def header(content: Any, what: str) -> tuple[int, int, bool]:
    """Height, width and whether there is colour, without decoding the image. Secret."""
    with quiet():
        picture = _opened(content, what)
        try:  # Pillow turns TIFF files by itself
            turned = picture.format != "TIFF" and picture.getexif().get(_ORIENTATION) in _SIDEWAYS
        except Exception:  # as in _turned
            turned = False
        width, height = reversed(picture.size) if turned else picture.size
        colour = picture.mode not in ("1", "L", "LA", "La", "I", "F", *_WIDE)
        if picture.mode == "P" and picture.palette is not None:
            colour = _has_colours(picture, what)
        return height, width, colour


def _has_colours(picture: Any, what: str) -> bool:
    """Whether there is more than grey in a palette."""
    try:
        palette = bytes(picture.getpalette("RGB") or b"")
    except Exception:  # to get at it, Pillow decodes the image
        raise _damaged(what) from None
    colours = np.frombuffer(palette, dtype=np.uint8).reshape(-1, 3)
    return bool((colours != colours[:, :1]).any())


def contents(array: pa.Array, where: str) -> Iterator[tuple[Any, str]]:
    """The bytes of every encoded image, and how messages call it; refuses a row without an image."""
    if array.null_count:
        raise DataError(f"{where}: a row has no image. Leave such rows out.")
    yield from _contents(array, where)


def to_bytes(values: NDArray[Any], where: str) -> Pixels:
    """Brightness as numbers from 0 to 255, by the type of the numbers alone: what the values are like is not asked."""
    kind = values.dtype.newbyteorder("=")
    if kind == np.uint8:
        return values
    if kind == np.bool_:
        return values.astype(np.uint8) * np.uint8(255)
    if kind == np.uint16:
        return ((values.astype(np.uint32) + 128) // 257).astype(np.uint8)
    if np.issubdtype(kind, np.floating):
        if np.isnan(values).any():
            raise DataError(f"{where}: an image has pixels that are not numbers (NaN). Fill them.")
        return np.floor(np.clip(values, 0.0, 1.0).astype(np.float64) * 255 + 0.5).astype(np.uint8)
    raise DataError(
        f"{where}: pixels of type {kind.name} have no known range. Convert them to uint8 (0 to 255), uint16 (0 to "
        "65,535), bool, or floats from 0 to 1."
    )


def image_shape(shape: tuple[int, ...], where: str) -> tuple[tuple[int, int, int], bool]:
    """Height, width and channels of an array of images, and whether its channels come before height and width."""
    size, first = shape[1:], False
    if len(shape) == 3:
        size = (*size, 1)
    elif len(shape) == 4 and size[2] not in (1, 3) and size[0] in (1, 3):
        size, first = (size[1], size[2], size[0]), True
    if len(size) != 3 or size[2] not in (1, 3):
        raise DataError(
            f"{where}: images must come as (number, height, width), with 1 or 3 channels after the number or at the "
            f"end, and not as an array of {len(shape)} dimensions like this one. Reshape it."
        )
    if not 0 < size[0] * size[1] <= MOST_PIXELS:
        raise DataError(f"{where}: images must have from 1 to {MOST_PIXELS:,} pixels.")
    return (size[0], size[1], size[2]), first


def is_raw(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds pixels rather than encoded images."""
    return isinstance(kind, pa.FixedShapeTensorType) or (
        pa.types.is_fixed_size_list(kind) and pa.types.is_uint8(kind.value_type)
    )


def is_encoded(kind: pa.DataType) -> bool:
    """Whether an Arrow type may hold encoded images."""
    if pa.types.is_struct(kind):
        return kind.get_field_index("bytes") >= 0 and is_encoded(kind.field("bytes").type)
    return bool(
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_binary_view(kind)
        or pa.types.is_fixed_size_binary(kind)
    )


def _raw(array: pa.Array, column: Image, where: str) -> Pixels | None:
    """Pixels as (rows, height, width, channels) of their own, where the column holds pixels."""
    kind = array.type
    if isinstance(kind, pa.FixedShapeTensorType):
        values = array.to_numpy_ndarray()
        shape, first = image_shape(values.shape, where)
        values = np.moveaxis(values, 1, -1) if first else values
        return to_bytes(values.reshape(len(array), *shape), where)
    # Without a shape of its own, only the schema's will do: grey or in colour.
    size = column.height * column.width
    if pa.types.is_fixed_size_binary(kind) and kind.byte_width in (size, 3 * size):
        buffer = array.buffers()[1]
        flat = np.frombuffer(buffer, dtype=np.uint8)[array.offset * kind.byte_width :][: len(array) * kind.byte_width]
    elif is_raw(kind):
        if kind.list_size not in (size, 3 * size):
            raise DataError(
                f"{where}: has {kind.list_size:,} pixel values in a row, and the schema's size is {column.height} x "
                f"{column.width}: {size:,} for grey images, {3 * size:,} in colour. Correct the schema's height and width."
            )
        flat = array.flatten()
        if flat.null_count:
            raise DataError(f"{where}: an image has pixels that are missing. Fill them.")
        flat = flat.to_numpy()
    else:
        return None
    return np.asarray(flat).reshape(len(array), column.height, column.width, -1)


def _contents(array: pa.Array, where: str) -> Iterator[tuple[Any, str]]:
    if not is_encoded(array.type):
        raise DataError(
            f"{where}: does not hold images. Encoded images come as binary values, or as a struct with a field 'bytes'; "
            "pixels as a fixed-shape tensor, or as a list of fixed size of uint8."
        )
    folders: pa.Array | None = None
    if pa.types.is_struct(array.type):
        # "folder" is the class, as the folder's reader puts it. A "path" is a file's name, and is not looked at.
        folders = array.field("folder") if array.type.get_field_index("folder") >= 0 else None
        array = array.field("bytes")
    if array.null_count:
        raise DataError(
            f"{where}: an image is not in the table, but only the path of its file, or nothing. Put the images' bytes "
            "into the table, or leave such rows out."
        )
    for row, value in enumerate(array):
        folder = None if folders is None else folders[row].as_py()
        what = "an image" if folders is None else f"a file{f' in {folder!r}' if folder else ''}"
        yield value.as_buffer(), f"{where}: {what}"


def _opened(content: Any, what: str) -> Any:
    """An image whose head has been read, and nothing else."""
    try:
        picture = pillow().open(io.BytesIO(content), formats=FORMATS)
    except pillow().DecompressionBombError:
        raise _too_large(what) from None
    except Exception:  # each format has errors of its own, and their messages may quote the file
        raise _damaged(what) from None
    if picture.width * picture.height > MOST_PIXELS:
        raise _too_large(what)
    if picture.width * picture.height == 0:
        raise DataError(f"{what} has no pixels. Remove it.")
    return picture


def _damaged(what: str) -> DataError:
    return DataError(
        f"{what} cannot be decoded: it is damaged, cut short or none of {', '.join(FORMATS)}. Repair it, or remove it."
    )


def _too_large(what: str) -> DataError:
    return DataError(f"{what} has more than {MOST_PIXELS:,} pixels. Make it smaller, or remove it.")


def _decoded(content: Any, what: str) -> Pixels:
    """The first frame of an image, upright, as (height, width, 1 or 3)."""
    picture = _opened(content, what)
    try:
        picture.load()
        return _turned(_plain(picture, what), picture)
    except DataError:
        raise
    except Exception:  # as above
        raise _damaged(what) from None


def _plain(picture: Any, what: str) -> Pixels:
    """Eight bits, grey or red-green-blue, without transparency: what is transparent becomes white."""
    if picture.mode in _WIDE or (picture.mode == "I" and picture.format == "PNG"):
        return to_bytes(np.asarray(picture).astype(np.uint16), what)[:, :, None]
    if picture.mode in ("I", "F"):
        raise DataError(f"{what} has 32 bits for each pixel, and no known range. Convert it to 8 or 16 bits.")
    if picture.has_transparency_data:
        layer = picture.convert("RGBA")
        picture = pillow().alpha_composite(pillow().new("RGBA", layer.size, "white"), layer)
    elif picture.mode in ("1", "L"):
        return np.asarray(picture.convert("L"))[:, :, None]
    return np.asarray(picture.convert("RGB"))


# Where the first row and the first column of a stored image belong: swapped, flipped up-down, flipped left-right.
_TURNS = {
    2: (False, False, True), 3: (False, True, True), 4: (False, True, False), 5: (True, False, False),
    6: (True, False, True), 7: (True, True, True), 8: (True, True, False),
}  # fmt: skip
_SIDEWAYS = [number for number, (swapped, _, _) in _TURNS.items() if swapped]


def _turned(pixels: Pixels, picture: Any) -> Pixels:
    """Upright, as the camera says; damaged notes of a camera are passed over, as viewers do."""
    try:
        orientation = picture.getexif().get(_ORIENTATION)
    except Exception:
        return pixels
    swapped, vertical, horizontal = _TURNS.get(orientation, (False, False, False))
    pixels = pixels.swapaxes(0, 1) if swapped else pixels
    pixels = pixels[::-1] if vertical else pixels
    return pixels[:, ::-1] if horizontal else pixels


def _fitted(pixels: Pixels, column: Image, what: str) -> Pixels:
    """One image in the column's colours and size."""
    pixels = _coloured(pixels, column.colour)
    height, width = pixels.shape[:2]
    if (height, width) == (column.height, column.width):
        return pixels
    if column.resize == "error":
        raise DataError(
            f"{what} is not {column.height} pixels high and {column.width} wide, and the schema says resize = "
            '"error". Correct the size, or set resize to "stretch", "crop" or "pad".'
        )
    wide, high = column.width / width, column.height / height
    if column.resize == "stretch":
        return _resized(pixels, column.height, column.width, (0, 0, width, height))
    if column.resize == "crop":
        scale = max(wide, high)
        left = max(0.0, (width - column.width / scale) / 2)
        top = max(0.0, (height - column.height / scale) / 2)
        return _resized(pixels, column.height, column.width, (left, top, width - left, height - top))
    scale = min(wide, high)
    inner = max(1, round(height * scale)), max(1, round(width * scale))
    found = np.zeros(column.shape, dtype=np.uint8)
    above, before = (column.height - inner[0]) // 2, (column.width - inner[1]) // 2
    found[above : above + inner[0], before : before + inner[1]] = _resized(pixels, *inner, (0, 0, width, height))
    return found


def _coloured(pixels: Pixels, colour: bool) -> Pixels:
    """Grey or red-green-blue, as wanted; grey by the weights of ITU-R 601, to the bit as Pillow has it."""
    if colour or pixels.shape[2] == 1:
        return np.repeat(pixels, 3, axis=2) if colour and pixels.shape[2] == 1 else pixels
    red, green, blue = np.moveaxis(pixels.astype(np.uint32), 2, 0)
    return ((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16).astype(np.uint8)[:, :, None]


def _resized(pixels: Pixels, height: int, width: int, box: tuple[float, float, float, float]) -> Pixels:
    """A part of an image at another size: bilinear, over all pixels that a new one covers."""
    picture = pillow().fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels))
    found = np.asarray(picture.resize((width, height), pillow().Resampling.BILINEAR, box=box))
    return found.reshape(height, width, pixels.shape[2])
