"""Paths as users give them: what cannot be a file is refused before anything waits for it or writes over it."""

import os
import stat
from pathlib import Path

from pointillist.errors import PointillistError


def checked(path: str | Path, refusal: type[PointillistError]) -> Path:
    """The path, if a file or a folder is there or nothing is; pipes, devices and names that no file can have are refused."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return Path(path)  # whoever opens it says what to do about that
    except ValueError:
        raise refusal(f"{path}: no file can have that name: it holds a null character.") from None
    except OSError as error:
        raise refusal(f"{path}: cannot be a file ({error.strerror}).") from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise refusal(f"{path}: is a pipe, a socket or a device. Name a file: it may be read more than once.")
    return Path(path)
