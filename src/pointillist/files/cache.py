"""Cache: what was worked out from public data and can be worked out again. Nothing about private data is ever kept here.

Files are named by a hash of what they were made from. A file that cannot be read, or is another's, counts as not there; one
that cannot be written is done without.
"""

import os
from pathlib import Path
from typing import Any

from pointillist.errors import PointillistError
from pointillist.files import container


def folder() -> Path:
    """Where files are kept: POINTILLIST_CACHE, or the user's own folder for such things."""
    given = os.environ.get("POINTILLIST_CACHE")
    if given:
        return Path(given)
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "pointillist"


def kept(name: str, kind: str, form: int) -> tuple[dict[str, Any], container.Arrays] | None:
    """What a file holds, if it is there and of this kind."""
    path = folder() / f"{name}.{kind}"
    if not path.is_file():
        return None
    try:
        facts, arrays = container.unpack(path, kind, form)
    except (OSError, PointillistError):
        return None
    return (facts, arrays) if facts.get("name") == name else None


def keep(name: str, kind: str, form: int, arrays: container.Arrays) -> None:
    """Write a file, whole or not at all."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        container.write(folder() / f"{name}.{kind}", container.pack(kind, form, {"name": name}, arrays))
    except (OSError, PointillistError):
        return
