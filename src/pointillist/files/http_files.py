"""HTTP files: one file behind an https:// address, read in parts as they are asked for.

The first answer says which state of the file it is (an ETag, or a time and a size); an answer from another state is refused,
so what is read is one file, and not pieces of two.
"""

import io
import re
import urllib.error
import urllib.request
from http.client import HTTPException
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileInfo, FileSystemHandler, FileType

from pointillist.errors import UsageError
from pointillist.files.urls import Url

_SECONDS, _BUFFER = 60, 1 << 20
_HERE = ("127.0.0.1", "localhost", "[::1]")
State = tuple[str, str, int]
"""ETag, time and size of a file."""


class _NoDowngrade(urllib.request.HTTPRedirectHandler):
    """Follows an answer that names another place, but not from https to what anybody on the way can read."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise OSError("it leads to an address without https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class HttpFiles(FileSystemHandler):  # type: ignore[misc]
    """A file system of one file, to be read."""

    def __init__(self, url: Url):
        if url.user:
            raise UsageError(f"{url}: leave user and password out of the address.")
        if url.scheme == "http" and url.host.rpartition(":")[0] not in _HERE and url.host not in _HERE:
            raise UsageError(f"{url}: anybody on the way could read and change that. Use https://.")
        self._url, self._opener = url, urllib.request.build_opener(_NoDowngrade)

    def ask(self, start: int) -> tuple[Any, State]:
        """The file's bytes from a place on, as a stream, and the file's state."""
        request = urllib.request.Request(self._url.secret, headers={"Range": f"bytes={start}-"})
        try:
            answer = self._opener.open(request, timeout=_SECONDS)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code in (404, 410):
                raise FileNotFoundError(str(self._url)) from None
            if error.code in (401, 403):
                raise PermissionError(str(self._url)) from None
            raise OSError(f"the server answers {error.code}") from None
        except (urllib.error.URLError, HTTPException, TimeoutError):
            raise ConnectionError("the server cannot be reached") from None
        whole = re.fullmatch(r"bytes \d+-\d+/(\d+)", answer.headers.get("Content-Range") or "")
        size = int(whole[1]) if whole else int(answer.headers.get("Content-Length") or -1)
        if start and not whole:
            answer.close()
            raise OSError("the server hands out no parts of a file")
        return answer, (answer.headers.get("ETag") or "", answer.headers.get("Last-Modified") or "", size)

    def state(self) -> State:
        """What differs once the file has been written anew."""
        answer, state = self.ask(0)
        answer.close()
        return state

    def get_type_name(self) -> str:
        return "https"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        try:
            size = self.state()[2]
        except FileNotFoundError:
            return [FileInfo(path, FileType.NotFound) for path in paths]
        return [FileInfo(path, FileType.File, size=max(size, 0)) for path in paths]

    def open_input_stream(self, path: str) -> Any:
        return pa.PythonFile(io.BufferedReader(_HttpFile(self), _BUFFER), mode="r")

    open_input_file = open_input_stream

    def _refuse(self, *arguments: Any, **options: Any) -> Any:
        raise OSError("a file behind an https:// address is read, and not written or listed")

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse
    delete_file = move = copy_file = open_output_stream = open_append_stream = _refuse


class _HttpFile(io.RawIOBase):
    """A file that is fetched from wherever it is read; what follows in it comes with the same answer."""

    def __init__(self, files: HttpFiles):
        self._files, self._at = files, 0
        self._answer, self._state = files.ask(0)
        self._from = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._state[2] >= 0

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._state[2]}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        if self._state[2] >= 0 and self._at >= self._state[2]:
            return 0
        if self._from != self._at:
            self._answer.close()
            self._answer, state = self._files.ask(self._at)
            if state != self._state:
                raise OSError("the file was changed while it was read")
        try:
            part = self._answer.read(len(buffer))
        except (HTTPException, TimeoutError):
            raise ConnectionError("the server ended the connection") from None
        if not part and self._state[2] >= 0:
            raise ConnectionError("the server ended the connection")
        buffer[: len(part)] = part
        self._at += len(part)
        self._from = self._at
        return len(part)

    def close(self) -> None:
        if not self.closed:
            self._answer.close()
        super().close()
