"""Images on pages: grids of small images as PNG, inside the page itself."""

import base64
import struct
import zlib
from html import escape

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
_PAPER = 255
_COLUMNS = 8
"""Images side by side on a sheet."""


def grid(pixels: Pixels, columns: int, gap: int = 1) -> Pixels:
    """Images (number, height, width, channels) side by side, row by row, as one image; what is not filled stays white."""
    if columns < 1 or pixels.ndim != 4:
        raise ValueError("a grid needs images as (number, height, width, channels), and at least one column")
    count, height, width, channels = pixels.shape
    rows = max(1, -(-count // columns))
    found = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, channels), _PAPER, dtype=np.uint8)
    for number, image in enumerate(pixels):
        top, left = number // columns * (height + gap), number % columns * (width + gap)
        found[top : top + height, left : left + width] = image
    return found


def png(image: Pixels) -> bytes:
    """One image (height, width, 1 or 3 channels) as a PNG file."""
    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] not in (1, 3) or not image.size:
        raise ValueError("an image must be whole numbers from 0 to 255, as (height, width, 1 or 3 channels)")
    height, width, channels = image.shape
    lines = np.zeros((height, 1 + width * channels), dtype=np.uint8)  # each line starts with a 0: no filter
    lines[:, 1:] = image.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def image_tag(image: Pixels, text: str, *, zoom: float = 2.0) -> Markup:
    """An image as part of a page, with its text alternative; pixels stay sharp."""
    data = base64.b64encode(png(image)).decode("ascii")
    return Markup(
        f'<img src="data:image/png;base64,{data}" alt="{escape(text, quote=True)}" width="{image.shape[1]}" '
        f'height="{image.shape[0]}" style="display:block;width:{zoom * image.shape[1]:g}px;max-width:100%;height:auto;'
        'image-rendering:pixelated">'
    )


def sheet(pixels: Pixels, text: str) -> Markup:
    """Images in rows, as part of a page, or a word where there are none."""
    if not len(pixels):
        return Markup('<p class="soft tight">none</p>')
    zoom = max(1.0, min(2.0, 40 / pixels.shape[2]))
    return image_tag(grid(pixels, min(_COLUMNS, len(pixels))), text, zoom=zoom)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
