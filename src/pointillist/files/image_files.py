"""Image files: synthetic images as a folder, an npz file or a Parquet file, written whole or not at all."""

import io
import json
import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from pointillist.errors import ArtefactError, UsageError
from pointillist.files import container
from pointillist.files.folders import beside, replace
from pointillist.files.images import Images
from pointillist.files.paths import checked
from pointillist.files.pillow import pillow

_ROWS = 1000
"""Images in a part of a Parquet file: readers hold one part at a time."""
_UNFIT = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]|^\.|[. ]$|^$|^thumbs\.db$|^desktop\.ini$', re.IGNORECASE)
"""What cannot be, or had better not be, the name of a folder on some system, or is passed over by readers."""
_OURS = (".png", ".ds_store", "thumbs.db", "desktop.ini")


def check(path: str | Path, *, overwrite: bool = False) -> None:
    """Refuse a path that could not be written, before anything is computed for it."""
    path = checked(path, ArtefactError)
    if not _is_folder(path):
        with container.reserve(path, 0):
            return
    if path.is_dir() and any(path.iterdir()):
        if not overwrite:
            raise UsageError(f"{path}: is there already, and not empty. Name another folder, or pass --overwrite.")
        if not _only_images(path):
            raise UsageError(
                f"{path}: holds other things than PNG images in folders, and is not written over. Name another folder."
            )
    with beside(path):
        pass


def write(images: Images, path: str | Path, *, overwrite: bool = False) -> None:
    """Write images in the form that the path's ending names: .npz, .parquet, or none for a folder.

    A folder that holds anything is replaced only with `overwrite`, and only if nothing but PNG images is in it.
    """
    path = Path(path)
    check(path, overwrite=overwrite)
    if _is_folder(path):
        _write_folder(images, path)
    else:
        container.write(path, (_npz if path.suffix.lower() == ".npz" else _parquet)(images))


def _is_folder(path: Path) -> bool:
    ending = path.suffix.lower()
    if path.is_dir() or not ending:
        return True
    if ending not in (".npz", ".parquet", ".pq"):
        raise UsageError(
            f"{path}: the ending is not known for images. Known are .npz, .parquet, and none for a folder."
        )
    return False


def _labels(images: Images) -> NDArray[Any] | None:
    """Whole numbers if all classes are, else texts."""
    if images.codes is None:
        return None
    whole = all(isinstance(name, int) for name in images.classes)
    names = np.array(images.classes, dtype=np.int64) if whole else np.array([str(name) for name in images.classes])
    return np.asarray(names[images.codes])


def _npz(images: Images) -> bytes:
    """`x` as (number, height, width), with a last axis of 3 in colour, and `y`."""
    labels = _labels(images)
    grey = images.pixels.shape[3] == 1
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        x=images.pixels[:, :, :, 0] if grey else images.pixels,
        **({} if labels is None else {"y": labels}),
    )
    return buffer.getvalue()


def _png(pixels: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    pillow().fromarray(np.ascontiguousarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)).save(buffer, "PNG")
    return buffer.getvalue()


def _parquet(images: Images) -> bytes:
    """The layout of Hugging Face data sets: a struct of bytes and path for each image, and its label."""
    labels = _labels(images)
    fields = [("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())]))]
    features: dict[str, Any] = {"image": {"_type": "Image"}}
    if labels is not None:
        kind = pa.int64() if labels.dtype.kind == "i" else pa.string()
        fields.append(("label", kind))
        features["label"] = {"dtype": str(kind), "_type": "Value"}
    schema = pa.schema(fields, metadata={"huggingface": json.dumps({"info": {"features": features}})})
    buffer = io.BytesIO()
    with parquet.ParquetWriter(buffer, schema) as writer:
        for start in range(0, len(images), _ROWS):
            part = slice(start, start + _ROWS)
            rows = [
                {"bytes": _png(pixels), "path": _file_name(start + number)}
                for number, pixels in enumerate(images.pixels[part], start=1)
            ]
            arrays = [pa.array(rows, fields[0][1])]
            if labels is not None:
                arrays.append(pa.array(labels[part].tolist(), fields[1][1]))
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    return buffer.getvalue()


def _file_name(number: int) -> str:
    return f"{number:06}.png"


def _write_folder(images: Images, path: Path) -> None:
    folders = _folders(images, path)
    with beside(path) as aside:
        fresh = aside / "new"
        fresh.mkdir()
        counts = dict.fromkeys(range(len(folders)), 0)
        codes = np.zeros(len(images), dtype=np.uint16) if images.codes is None else images.codes
        for code in np.unique(codes).tolist():
            if folders[code]:
                _make(fresh / folders[code], path)
        for code, pixels in zip(codes.tolist(), images.pixels, strict=True):
            counts[code] += 1
            (fresh / folders[code] / _file_name(counts[code])).write_bytes(_png(pixels))
        replace(path, fresh, aside)


def _folders(images: Images, path: Path) -> list[str]:
    """The folder of every class; the path itself if there are no classes."""
    if images.codes is None:
        return [""]
    names = [str(name) for name in images.classes]
    for name in names:
        if _UNFIT.search(name) or len(os.fsencode(name)) > 255:
            raise UsageError(
                f"{path}: class {name!r} cannot be the name of a folder. Write the images to an .npz or a .parquet file, or "
                "rename the class in the schema."
            )
    return names


def _make(folder: Path, path: Path) -> None:
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(
            f"{path}: two classes have names that are the same to this file system. Write an .npz or a .parquet file."
        ) from None


def _only_images(path: Path) -> bool:
    """Whether a folder may be replaced: it holds PNG images, or folders of them, and nothing that is not ours."""
    for entry in path.iterdir():
        inside = entry.iterdir() if entry.is_dir() and not entry.is_symlink() else [entry]
        if any(not each.name.lower().endswith(_OURS) or each.is_dir() for each in inside):
            return False
    return True
