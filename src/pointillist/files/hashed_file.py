"""Hashed file: what a file or a folder held, so that another can be compared with it."""

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from pointillist.errors import ArtefactError
from pointillist.files.facts import text, whole
from pointillist.files.paths import checked

_LETTERS, _MOST_BYTES = 64, 1 << 60


@dataclass(frozen=True)
class HashedFile:
    """A file's name, size and SHA-256. Of a folder: that of the names and hashes of all files in it, in order."""

    role: str
    """What it is to the card: the release, or synthetic data."""
    name: str
    sha256: str
    size: int

    @classmethod
    def of(cls, path: str | Path, role: str) -> Self:
        """Read a file, or all files of a folder."""
        path = checked(path, ArtefactError)
        try:
            if not path.is_dir():
                digest, size = _hash(path)
                return cls(role, path.name, digest, size)
            inside = sorted(each for each in path.rglob("*") if each.is_file())
            found = [(each.relative_to(path).as_posix(), *_hash(each)) for each in inside]
        except FileNotFoundError:
            raise ArtefactError(f"{path}: no such file.") from None
        except OSError as error:
            raise ArtefactError(f"{path}: cannot be read ({error.strerror}).") from None
        lines = "".join(f"{digest}  {name}\n" for name, digest, _ in found)
        size = sum(each for *_, each in found)
        return cls(role, path.name, hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest(), size)

    def same(self, other: "HashedFile") -> bool:
        """Whether the content is the same, under whatever name."""
        return (self.sha256, self.size) == (other.sha256, other.size)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, facts: dict[str, Any]) -> Self:
        """The inverse of `to_json`, for facts from anywhere."""
        digest = text(facts, "sha256", _LETTERS)
        if len(bytes.fromhex(digest)) != _LETTERS // 2:
            raise ValueError("sha256 must have 64 hexadecimal digits")
        return cls(text(facts, "role", 100), text(facts, "name"), digest, whole(facts, "size", 0, _MOST_BYTES))


def _hash(path: Path) -> tuple[str, int]:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size
