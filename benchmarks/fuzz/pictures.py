"""Pictures: arrays and image files of odd shapes and types, and damaged ones."""

import io
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from benchmarks.fuzz.kind import Attempt, Kind
from benchmarks.fuzz.mutation import TEXTS, damaged
from benchmarks.fuzz.reading import IMAGES, drafted, read

_TYPES = ("u1", "u1", "u1", "<u2", ">u2", "i1", "i8", "f4", ">f8", "f2", "?", "U3", "S3", "c8", "M8[s]", "V4")
_SHAPES = (
    (3, 4, 4),
    (3, 4, 4, 1),
    (3, 4, 4, 3),
    (3, 3, 4, 4),
    (5, 7, 2),
    (0, 4, 4),
    (3, 0, 4),
    (3,),
    (),
    (2, 2, 2, 2, 2),
)
_FORMATS = ("PNG", "PNG", "JPEG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")
_MODES = ("L", "RGB", "RGBA", "1", "P", "LA", "CMYK", "I;16", "F")


def _asked(source: Any, rng: Random) -> Attempt:
    if rng.random() < 0.4:
        return lambda: drafted(source)
    columns = {"image": IMAGES.columns["image"]} if rng.random() < 0.3 else IMAGES.columns
    schema = IMAGES.model_copy(update={"columns": columns})
    return lambda: _read(source, schema)


def _read(source: Any, schema: Any) -> None:
    read(source, schema)


def _array(rng: Random) -> Any:
    usual = rng.random() < 0.5
    array = np.zeros((3, 4, 4) if usual else rng.choice(_SHAPES), "u1" if usual else rng.choice(_TYPES))
    if array.dtype.kind in "iuf" and array.size:
        array.flat[:] = np.frombuffer(rng.randbytes(array.size), np.uint8).astype(array.dtype)
        if array.dtype.kind == "f":
            array.flat[0] = rng.choice((np.nan, np.inf, -1.0, 0.5))
    return np.asfortranarray(array) if rng.random() < 0.1 else array


def _labels(rng: Random) -> Any:
    if rng.random() < 0.5:
        return np.array(["a", "b", "a"])
    return rng.choice(
        (
            np.array([0, 1, 1]),
            np.array(["a", "b", rng.choice(TEXTS).replace("\x00", "")]),
            np.array([b"a", b"\xff", b"b"]),
            np.array([[0], [1], [0]]),
            np.array([0.5, np.nan, 1.0]),
            np.array([True, False, True]),
            np.zeros(0),
            np.zeros((3, 2)),
            np.array([1j, 2j, 3j]),
        )
    )


def _npz(rng: Random, folder: Path) -> Attempt:
    names = rng.choice((("x", "y"), ("x_train", "y_train"), ("images", "labels"), ("x", "z"), ("a", "b")))
    stream = io.BytesIO()
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(stream, **{names[0]: _array(rng), names[1]: _labels(rng)})
    path = folder / "t.npz"
    path.write_bytes(damaged(stream.getvalue(), rng, rng.choice((0, 3))))
    return _asked(path, rng)


def _npy(rng: Random, folder: Path) -> Attempt:
    stream = io.BytesIO()
    np.save(stream, _array(rng))
    content = bytearray(stream.getvalue())
    if rng.random() < 0.6:  # the head is Python, and where things go wrong
        content[:128] = damaged(bytes(content[:128]), rng, 3)
    path = folder / "t.npy"
    path.write_bytes(damaged(bytes(content), rng, 1))
    return _asked(path, rng)


def _encoded(rng: Random) -> bytes:
    size = rng.choice(((4, 4), (4, 4), (5, 9), (1, 1), (1, 300)))
    picture = Image.new(rng.choice(_MODES), size)
    if picture.mode in ("L", "RGB", "RGBA"):
        picture.frombytes(rng.randbytes(size[0] * size[1] * len(picture.getbands())))
    stream, form = io.BytesIO(), rng.choice(_FORMATS)
    try:
        picture.save(stream, form)
    except (OSError, ValueError, KeyError):  # the format has no such mode
        picture.convert("L").save(stream, form)
    return damaged(stream.getvalue(), rng, 3)


def _picture(rng: Random, folder: Path) -> Attempt:
    contents = [_encoded(rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:
        path = folder / "t.parquet"
        values = [{"bytes": each, "path": "x"} for each in contents] if rng.random() < 0.5 else contents
        pq.write_table(pa.table({"image": values, "label": ["a"] * len(values)}), path)
        return _asked(path, rng)
    for number, content in enumerate(contents):
        inside = folder / "images" / rng.choice(("a", "b", "c"))
        inside.mkdir(parents=True, exist_ok=True)
        (inside / f"{number}{rng.choice(('.png', '.jpg', '.tif', '.gif'))}").write_bytes(content)
    return _asked(folder / "images", rng)


KINDS = (Kind("npz", _npz, 2), Kind("npy", _npy, 2), Kind("image", _picture, 3))
