"""Registry: the things of one protocol, by name. Each registers itself where it is defined, so a new one is a new file.

    METHODS: Registry[type[Method]] = Registry("method", "pointillist.methods")

    @METHODS.register("mosaic", place=10)
    class Mosaic: ...

A thing may say what it suits, in a class method `suits(subject)`; for methods and generators the subject is a schema. A
thing without it suits everything. Two things may have one name only if both say what they suit.
"""

import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar

from pointillist.errors import UsageError

_Thing = TypeVar("_Thing")
LAST = 1000
"""The place of a thing that names none."""


@dataclass(frozen=True)
class _Entry(Generic[_Thing]):
    name: str
    thing: _Thing
    place: int

    def suits(self, subject: Any) -> bool:
        asked = getattr(self.thing, "suits", None)
        return asked is None or bool(asked(subject))


class Registry(Mapping[str, _Thing]):
    """Things by name, in the order of their places and then of their names. The first that suits is the default."""

    def __init__(self, noun: str, *packages: str):
        """`noun` is what messages call a thing. All modules of `packages` are imported before anything is looked up."""
        self.noun = noun
        self._packages = packages
        self._imported = not packages
        self._entries: list[_Entry[_Thing]] = []

    def register(self, name: str, *, place: int = LAST) -> Callable[[_Thing], _Thing]:
        """A decorator that enters a thing by a name that does not change: it may stand in files."""

        def enter(thing: _Thing) -> _Thing:
            for other in self._entries:
                if other.name == name and not (hasattr(other.thing, "suits") and hasattr(thing, "suits")):
                    raise ValueError(f"there is a {self.noun} {name!r} already")
            self._entries.append(_Entry(name, thing, place))
            self._entries.sort(key=lambda each: (each.place, each.name))
            return thing

        return enter

    def named(self, name: Any) -> _Thing:
        """The thing of this name; where several have it, the first."""
        if not isinstance(name, str) or name not in self:
            raise UsageError(f"{self.noun} {name!r} is not known. Known {self.noun}s: {', '.join(self)}.")
        return self[name]

    def name_of(self, thing: _Thing) -> str:
        """The name that a thing was registered by."""
        for each in self._found:
            if each.thing is thing:
                return each.name
        raise UsageError(f"{getattr(thing, '__name__', thing)!r} is not a registered {self.noun}.")

    def suiting(self, subject: Any) -> dict[str, _Thing]:
        """Those that suit a subject; the first is the default."""
        found: dict[str, _Thing] = {}
        for each in self._found:
            if each.suits(subject):
                found.setdefault(each.name, each.thing)
        return found

    @property
    def entries(self) -> tuple[tuple[str, _Thing], ...]:
        """Every name with its thing, also where several have one name."""
        return tuple((each.name, each.thing) for each in self._found)

    @property
    def _found(self) -> list[_Entry[_Thing]]:
        if not self._imported:
            self._imported = True
            for name in self._packages:
                package = import_module(name)
                for module in pkgutil.walk_packages(package.__path__, f"{name}."):
                    import_module(module.name)
        return self._entries

    def __getitem__(self, name: str) -> _Thing:
        for each in self._found:
            if each.name == name:
                return each.thing
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(each.name for each in self._found))

    def __len__(self) -> int:
        return len({each.name for each in self._found})
