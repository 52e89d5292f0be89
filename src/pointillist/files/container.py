"""Container: one file that can be opened anywhere, written whole or not at all.

A zip with three members: `manifest.json` (kind, format version, SHA-256 of the others), `facts.json` and
`arrays.safetensors`. Reading one runs no code. The hashes catch damage and careless edits; they are no signature: a file
may come from anyone. So nothing is taken in before its size is known to be sane, and whatever is wrong with the content
ends in one error of ours.
"""

import errno
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from pointillist.errors import ArtefactError, BudgetError, SchemaError
from pointillist.files.paths import checked
from pointillist.files.temporary import file_beside

Arrays = dict[str, NDArray[Any]]
Made = TypeVar("Made")

_FACTS, _ARRAYS, _MANIFEST = "facts.json", "arrays.safetensors", "manifest.json"
_LARGEST = {_MANIFEST: 1 << 16, _FACTS: 1 << 27, _ARRAYS: 4 << 30}
"""The most bytes of each member."""
_SMALL, _RATIO = 1 << 26, 32
"""A member of more bytes than this may be at most so many times what it takes in the file. Noise hardly compresses."""
_MOST_VALUES, _DEEPEST = 1 << 23, 512
"""Of the facts: values in all, and how deep they may be nested."""
_KINDS = {np.dtype(kind) for kind in ("u1", "u2", "i2", "i4", "i8", "f4", "f8")}
_LONGEST_EMPTY = 1 << 24
"""The longest side of an array without entries: no file holds it, yet sums over it take memory."""
_LONGEST_REASON, _LONGEST_KIND = 300, 20
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
    with ExitStack() as stack:
        try:
            aside = stack.enter_context(file_beside(path))
            stream = stack.enter_context(open(aside, "r+b"))
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
            with suppress(OSError):  # or it tries once more to write what it holds, and fails without our words
                stream.close()
            if error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO, errno.EROFS):
                needed = max(size, pending.size if pending else 0)
                raise ArtefactError(
                    f"{path}: cannot be written ({error.strerror}); it needs {needed / 1e6:.2g} MB. "
                    "Free some space, or write elsewhere."
                ) from None
            raise


def write(path: str | Path, content: bytes) -> None:
    """Write a file atomically."""
    with reserve(path, len(content)) as pending:
        pending.commit(content)


def write_new(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, whole or not at all; one that has appeared meanwhile is left as it is."""
    with file_beside(path) as aside, open(aside, "r+b") as stream:
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


def read(path: str | Path, kind: str, version: int, make: Callable[[dict[str, Any], Arrays, str], Made]) -> Made:
    """What `make` makes of an artefact's facts, its arrays and its name. Whatever is wrong with them is an error of ours."""
    facts, arrays = unpack(path, kind, version)
    with sound(path):
        require_kind(facts, kind)
        return make(facts, arrays, str(path))


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
    members = {_MANIFEST: json.dumps(manifest, indent=1).encode(), **members}
    content, sane = _zipped(members, zipfile.ZIP_DEFLATED)
    # Members that compress beyond what a reader takes are stored as they are.
    return content if sane else _zipped(members, zipfile.ZIP_STORED)[0]


def _zipped(members: dict[str, bytes], method: int) -> tuple[bytes, bool]:
    """A zip of the members, and whether a reader will take its ratios."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, _NEVER), content, method, 6)
        sane = not any(map(_swollen, archive.infolist()))
    return buffer.getvalue(), sane


def _swollen(member: zipfile.ZipInfo) -> bool:
    return member.file_size > max(_SMALL, _RATIO * member.compress_size)


def unpack(path: str | Path, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """Facts and arrays of an artefact of this kind, checked against its hashes."""
    return _unpacked(Path(path), None, kind, version)


def unpack_bytes(content: bytes, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    """The same of an artefact that is no file, but came from another process."""
    return _unpacked(Path(f"the {kind}"), content, kind, version)


def _unpacked(path: Path, content: bytes | None, kind: str, version: int) -> tuple[dict[str, Any], Arrays]:
    with _open(path, content) as archive:
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
    with sound(path):
        facts, arrays = _facts(contents[_FACTS]), dict(load_arrays(contents[_ARRAYS]))
        _check(arrays)
    return facts, arrays


@contextmanager
def sound(path: str | Path) -> Iterator[None]:
    """Around everything that makes sense of a file's content: what does not hold ends in one error that names the file."""
    try:
        yield
    except ArtefactError as error:
        raise ArtefactError(f"{path}: {error}. Get a fresh copy.") from None
    except (SafetensorError, MemoryError, RecursionError):
        raise ArtefactError(f"{path}: its content cannot be read. Get a fresh copy.") from None
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, SchemaError, BudgetError) as error:
        reason = " ".join(str(error).split())[:_LONGEST_REASON].rstrip(".")
        raise ArtefactError(f"{path}: a fact is missing or malformed ({reason}). Get a fresh copy.") from None


def require_kind(facts: dict[str, Any], kind: str) -> None:
    """Refuse facts that say they are of another kind than their file."""
    if facts.get("kind") != kind:
        raise ArtefactError("its facts are of another kind")


def _facts(content: bytes) -> dict[str, Any]:
    """JSON as the standard has it, of sane size."""
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:  # no value goes without one of these
        raise ArtefactError("its facts are more than pointillist ever writes")
    facts = json.loads(content, parse_constant=_no_number)
    if not isinstance(facts, dict):
        raise ArtefactError("its facts have no names")
    level: list[Any] = [facts]
    depth = 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise ArtefactError("its facts are nested too deep")
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [value for values in inner for value in values if isinstance(value, dict | list)]
    return facts


def _no_number(text: str) -> Any:
    raise ArtefactError(f"{text} is not a number")


def _check(arrays: Arrays) -> None:
    """Only the kinds of numbers that we write, and only numbers. (That sizes fit was checked by safetensors.)"""
    for name, array in arrays.items():
        if array.dtype not in _KINDS:
            raise ArtefactError(f"array {name[:100]!r} is of a kind that pointillist never writes")
        if not array.size and max(array.shape) > _LONGEST_EMPTY:
            raise ArtefactError(f"array {name[:100]!r} has no entries, and a size beyond reason")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ArtefactError(f"array {name[:100]!r} has entries that are not numbers")


def kind_of(path: str | Path) -> str:
    """What kind of artefact a file is."""
    path = Path(path)
    with _open(path) as archive:
        return str(_manifest(path, archive)["kind"])


@contextmanager
def _open(path: Path, content: bytes | None = None) -> Iterator[zipfile.ZipFile]:
    checked(path, ArtefactError)
    try:
        archive = zipfile.ZipFile(path if content is None else io.BytesIO(content))
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
        if len(archive.infolist()) > len(_LARGEST) or len(set(archive.namelist())) < len(archive.infolist()):
            raise ArtefactError(f"{path}: not a pointillist file: it holds more than a pointillist file does.")
        yield archive


def _manifest(path: Path, archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        manifest = json.loads(_member(path, archive, _MANIFEST))
        kind, named = manifest["kind"], isinstance(manifest["sha256"], dict) and "format" in manifest
        if not (named and isinstance(kind, str) and kind.isascii() and kind.isalpha() and len(kind) <= _LONGEST_KIND):
            raise KeyError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ArtefactError(f"{path}: not a pointillist file: it has no readable manifest.") from None
    return manifest


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        member = archive.getinfo(name)
        if member.file_size > _LARGEST[name] or _swollen(member):
            raise ArtefactError(f"{path}: {name} is larger than any that pointillist writes.")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArtefactError(
                f"{path}: {name} is damaged, or compressed in a way that pointillist never uses. Get a fresh copy."
            )
        with archive.open(member) as stream:  # gives no more than the size above, whatever the compressed bytes hold
            return stream.read(member.file_size)
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
