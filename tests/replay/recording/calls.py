"""Calls: the way that a run takes through the library, outside the pass over the rows."""

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pointillist
from pointillist.curator import choosing, releasing

_HOME = str(Path(pointillist.__file__).parent)
_ROOMS = (f"{_HOME}/curator/", f"{_HOME}/engines/", f"{_HOME}/reading/")
"""Where rows are read: how often something is called there depends on how many there are."""
_DOORS = (releasing.__file__, choosing.__file__)
"""What settles there is the order of things: that must not depend on rows."""


@contextmanager
def recorded_calls() -> Iterator[list[str]]:
    """Every call of a function of the library, in order; except in readers, and during `embed`, where the rows are.

    What is worked out once and kept is left out: whether the pass or someone else asks for it first is all the same.
    """
    found: list[str] = []
    embed, apart = releasing.embed.__code__, {releasing.embed.__code__, *_kept()}
    names: dict[CodeType, str | None] = {}
    inside = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal inside
        code = frame.f_code
        if code in apart:
            inside += {"call": 1, "return": -1}.get(event, 0)
            if code is embed and event == "call":
                found.append("embed")
        elif event == "call" and not inside:
            if code not in names:
                names[code] = _name(code)
            name = names[code]
            if name is not None:
                found.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def _name(code: CodeType) -> str | None:
    file = code.co_filename
    if not file.startswith(_HOME) or (file.startswith(_ROOMS) and file not in _DOORS):
        return None
    return f"{file.removeprefix(_HOME)}:{code.co_qualname}"


def _kept() -> Iterator[CodeType]:
    """Functions of the library whose results are kept."""
    for name, module in list(sys.modules.items()):
        if not name.startswith("pointillist"):
            continue
        for owner in (module, *(each for each in vars(module).values() if isinstance(each, type))):
            for each in vars(owner).values():
                inner = each.func if isinstance(each, functools.cached_property) else getattr(each, "__wrapped__", None)
                if isinstance(each, functools.cached_property | functools._lru_cache_wrapper):
                    yield inner.__code__
