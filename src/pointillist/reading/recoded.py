"""Recoded: a stream of bytes of another encoding, as UTF-8.

Only encodings with one byte for each letter are known: in others a row's bytes could change how the next row is read.
"""

import codecs
from typing import Any

from pointillist.errors import UsageError

UTF8 = "utf-8"
ENCODINGS = (
    UTF8, "cp1252", "latin-1", "iso-8859-15", "cp1250", "iso-8859-2", "cp1251", "cp1253", "cp1254", "cp437", "cp850",
    "mac-roman",
)  # fmt: skip
"""How a CSV file may be encoded; Western Europe's Windows and Excel write cp1252."""


def known(encoding: str) -> str:
    """The encoding by the name that it has here; one that is not known is refused."""
    try:
        found = codecs.lookup(encoding).name
    except (LookupError, ValueError):
        found = ""
    name = next((each for each in ENCODINGS if codecs.lookup(each).name == found), None)
    if name is None:
        raise UsageError(f"encoding {encoding!r} is not known. Known are {', '.join(ENCODINGS)}.")
    return name


class Recoded:
    """A file to read, whose bytes come out as UTF-8."""

    closed = False

    def __init__(self, stream: Any, encoding: str):
        self._stream, self._decoder = stream, codecs.getincrementaldecoder(encoding)()

    def read(self, size: int = -1) -> bytes:
        """As many bytes as were read, recoded: these may be more."""
        block = self._stream.read(size)
        return self._decoder.decode(block).encode()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
