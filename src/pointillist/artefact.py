"""Artefact: one file that can be opened anywhere, written whole or not at all.

A zip with three members: `manifest.json` (kind, format version, SHA-256 of the others), `facts.json` and
`arrays.safetensors`. Reading one runs no code. The hashes catch damage and careless edits; they are no signature.
"""

import errno
import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from pointillist.errors import ArtefactError
from pointillist.paths import checked

Arrays = dict[str, NDArray[Any]]

_FACTS, _ARRAYS, _MANIFEST = "facts.json", "arrays.safetensors", "manifest.json"
_LARGEST = 8 << 30
_NEVER = (1980, 1, 1, 0, 0, 0)  # one fixed time, so that the same content gives the same bytes


class Pending:
    """A file on its way: its space is taken, its name is not."""

    def __init__(self, path: Path, stream: Any):
        self.path = path
        self._stream = stream
        self.size = 0
        """Bytes of the content, once it is known."""

    def commit(self, content: bytes) -> None:
        """Write `content` and give the file its name, in one step that a crash cannot split."""
        self.size = len(content)
        self._stream.seek(0)
        self._stream.write(content)
        self._stream.truncate()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        os.replace(self._stream.name, self.path)
        _sync_folder(self.path.parent)


@contextmanager
def reserve(path: str | Path, size: int) -> Iterator[Pending]:
    """Take `size` bytes beside `path` now, so that a full disk or a missing folder shows before anything is spent."""
    path = checked(path, ArtefactError)
    if path.is_dir():
        raise ArtefactError(f"{path}: is a folder. Name a file to write.")
    if path.is_file() and _is_database(path):
        raise ArtefactError(f"{path}: is a database, perhaps the ledger, and is not written over. Name another file.")
    try:
        stream = tempfile.NamedTemporaryFile(  # noqa: SIM115  (renamed on success, removed below otherwise)
            dir=path.parent, prefix=f".{path.name}.", suffix=".part", delete=False
        )
    except FileNotFoundError:
        raise ArtefactError(f"{path}: cannot be written: its folder does not exist.") from None
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be written ({error.strerror}).") from None
    pending: Pending | None = None
    try:
        os.chmod(stream.name, 0o666 & ~_umask())
        _fill(stream, size)
        pending = Pending(path, stream)
        yield pending
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS):
            needed = max(size, pending.size if pending else 0)
            raise ArtefactError(
                f"{path}: cannot be written ({error.strerror}); it needs {needed / 1e6:.2g} MB. "
                "Free some space, or write elsewhere."
            ) from None
        raise
    finally:
        with suppress(OSError):
            stream.close()
        with suppress(FileNotFoundError):
            os.unlink(stream.name)


def write(path: str | Path, content: bytes) -> None:
    """Write a file atomically."""
    with reserve(path, len(content)) as pending:
        pending.commit(content)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all; one that has appeared meanwhile is left as it is."""
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", suffix=".part") as stream:
        os.chmod(stream.name, 0o666 & ~_umask())
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
        with suppress(FileExistsError):
            try:
                os.link(stream.name, path)
            except OSError as error:
                if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
                    raise
                with open(path, "xb") as direct:  # a drive without links: as near as it gets
                    direct.write(content)
                    direct.flush()
                    os.fsync(direct.fileno())
    _sync_folder(path.parent)


def pack(kind: str, version: int, facts: dict[str, Any], arrays: Arrays) -> bytes:
    """The artefact's bytes."""
    members = {
        _FACTS: json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False).encode(),
        _ARRAYS: save_arrays({name: np.ascontiguousarray(array) for name, array in arrays.items()}),
    }
    manifest = {
        "kind": kind,
        "format": version,
        "sha256": {name: hashlib.sha256(content).hexdigest() for name, content in members.items()},
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {_MANIFEST: json.dumps(manifest, indent=1).encode(), **members}.items():
            archive.writestr(zipfile.ZipInfo(name, _NEVER), content, zipfile.ZIP_DEFLATED, 6)
    return buffer.getvalue()


def unpack(path: str | Path, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of an artefact of this kind, checked against its hashes."""
    path = Path(path)
    with _open(path) as archive:
        manifest = _manifest(path, archive)
        if manifest["kind"] != kind:
            raise ArtefactError(f"{path}: is a {manifest['kind']} file, where a {kind} file is needed.")
        if manifest["format"] != version:
            raise ArtefactError(
                f"{path}: {kind} format {manifest['format']!r} is not known to this version of pointillist, which reads "
                f"format {version}. Upgrade pointillist, or make the file anew."
            )
        contents = {}
        for name in (_FACTS, _ARRAYS):
            contents[name] = _member(path, archive, name)
            if hashlib.sha256(contents[name]).hexdigest() != manifest["sha256"].get(name):
                raise ArtefactError(
                    f"{path}: {name} does not match its hash: the file was damaged or edited. Get a fresh copy."
                )
    try:
        return json.loads(contents[_FACTS]), dict(load_arrays(contents[_ARRAYS]))
    except Exception:
        raise ArtefactError(f"{path}: its content cannot be read. Get a fresh copy.") from None


def kind_of(path: str | Path) -> str:
    """What kind of artefact a file is."""
    path = Path(path)
    with _open(path) as archive:
        return str(_manifest(path, archive)["kind"])


@contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    checked(path, ArtefactError)
    try:
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise ArtefactError(f"{path}: no such file.") from None
    except zipfile.BadZipFile:
        raise ArtefactError(
            f"{path}: not a pointillist file, or cut short. Get a fresh copy, or make it again from the release or model."
        ) from None
    except OSError as error:
        raise ArtefactError(f"{path}: cannot be read ({error.strerror or 'damaged'}).") from None
    except (NotImplementedError, ValueError, RuntimeError):
        raise ArtefactError(f"{path}: is damaged. Get a fresh copy.") from None
    with archive:
        yield archive


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(_member(path, archive, _MANIFEST))
        if not (isinstance(manifest["kind"], str) and isinstance(manifest["sha256"], dict) and "format" in manifest):
            raise KeyError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ArtefactError(f"{path}: not a pointillist file: it has no readable manifest.") from None
    return manifest


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        if archive.getinfo(name).file_size > _LARGEST:
            raise ArtefactError(f"{path}: {name} is larger than any file that pointillist writes.")
        return archive.read(name)
    except KeyError:
        raise ArtefactError(f"{path}: {name} is not in it: not a pointillist file, or damaged.") from None
    except ArtefactError:
        raise
    except Exception:  # zipfile and its decompressors each have errors of their own
        raise ArtefactError(f"{path}: {name} is damaged. Get a fresh copy.") from None


def _is_database(path: Path) -> bool:
    try:
        with open(path, "rb") as stream:
            return stream.read(16) == b"SQLite format 3\0"
    except OSError:
        return False


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems cannot sync a folder
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _fill(stream: Any, size: int) -> None:
    """Take the space for real: a sparse file would only promise it."""
    block = b"\0" * min(size, 1 << 20)
    while stream.tell() < size:
        stream.write(block[: size - stream.tell()])
    stream.flush()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
