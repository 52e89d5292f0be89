"""Settings: the fields of a dataclass as a user may set them. Name, type and default are the field's; its meaning is the
text that stands after it in the source. Methods and generators have no other list of their settings.
"""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pointillist.errors import UsageError

_Value = TypeVar("_Value")
_WORDS = {int: "whole number", float: "number", bool: "true or false", str: "text"}


@dataclass(frozen=True)
class Setting:
    """One field."""

    name: str
    kind: Any
    """Its type, as declared."""
    default: Any
    meaning: str
    of_fit: bool
    """Whether it matters to the fit alone, and can be changed after the release."""

    @property
    def takes(self) -> str:
        """What its type allows, in words."""
        return " or ".join(dict.fromkeys(_words(self.kind)))

    @property
    def settable(self) -> bool:
        """Whether a text can say what it should be."""
        return bool(self.takes)

    @property
    def shown_default(self) -> str:
        return "none" if self.default is None else json.dumps(self.default, default=str).strip('"')

    def accepts(self, value: Any) -> bool:
        """Whether a value as it comes from JSON is of its type."""
        adapter: TypeAdapter[Any] = TypeAdapter(self.kind, config=ConfigDict(arbitrary_types_allowed=True))
        try:
            adapter.validate_json(json.dumps(value), strict=True)
        except ValidationError:
            return False
        return True

    def parse(self, text: str) -> Any:
        """The value that a text stands for: JSON, `none`, a text as it is, or values with commas between them."""
        for value in _readings(text):
            if self.accepts(value):
                return value
        raise UsageError(f"{self.name} takes {self.takes or 'no value of this kind'}, not {text!r}. {self.meaning}")

    def __str__(self) -> str:
        return f"{self.name} ({self.takes or 'in Python only'}; default {self.shown_default}): {self.meaning}"


def of_fit(default: _Value) -> _Value:
    """A field's default, where the field matters to the fit alone: what is measured does not depend on it."""
    found: _Value = field(default=default, metadata={"of_fit": True})
    return found


def settings_of(kind: type) -> tuple[Setting, ...]:
    """All settings of a dataclass, those that it inherits first."""
    hints, meanings = get_type_hints(kind), _meanings(kind)
    return tuple(
        Setting(
            each.name,
            hints[each.name],
            each.default if each.default_factory is MISSING else each.default_factory(),
            meanings.get(each.name, ""),
            bool(each.metadata.get("of_fit")),
        )
        for each in fields(kind)
        if each.init
    )


def parsed(kind: type, name: str, given: Sequence[str]) -> dict[str, Any]:
    """What `--set NAME=VALUE` asks for, by setting. `name` is what the dataclass is called."""
    known = {each.name: each for each in settings_of(kind)}
    found: dict[str, Any] = {}
    for text in given:
        own, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text!r} is not of the form NAME=VALUE.")
        if own not in known:
            listing = "\n".join(f"  {each}" for each in known.values())
            raise UsageError(f"--set: {name} has no setting {own!r}. Its settings:\n{listing}")
        if own in found:
            raise UsageError(f"--set {own} is given twice.")
        try:
            found[own] = known[own].parse(value)
        except UsageError as error:
            raise UsageError(f"--set: {error}") from None
    return found


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Where settings of the right types are put to use: whatever is wrong about them is the user's mistake."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UsageError(f"--set: {name} does not take these settings ({type(error).__name__}: {error}).") from None


def require_types(kind: type, options: Mapping[str, Any]) -> None:
    """Refuse options, as they come from a file, that are no settings or not of their types."""
    known = {each.name: each for each in settings_of(kind)}
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"{name[:50]!r} is none of its settings")
        if not known[name].accepts(value):
            raise ValueError(f"{name} is not of the right type")


def _readings(text: str) -> Iterator[Any]:
    """What a text may mean, the likeliest first."""
    for written in (text, text.lower(), f"[{text}]"):
        try:
            yield json.loads(written)
        except ValueError:
            continue
    if text.lower() == "none":
        yield None
    yield text
    yield [part.strip() for part in text.split(",")]


def _words(kind: Any) -> Iterator[str]:
    """The kinds of values that a type allows and that a text can give."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        for each in inner:
            yield from _words(each)
    elif origin is Literal:
        yield from map(str, inner)
    elif origin in (tuple, list):
        one = next(_words(inner[0]), "value")
        yield f"{one}s with commas between them"
    elif kind is NoneType:
        yield "none"
    elif origin in (dict, Mapping) or kind in (dict, Mapping):
        yield "values by name, as JSON"
    elif kind in _WORDS:
        yield _WORDS[kind]


@cache
def _meanings(kind: type) -> dict[str, str]:
    """For each field of a class and of those that it is derived from, the text that stands after it."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        if "__dataclass_fields__" not in vars(each):
            continue
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(each))).body
        assert isinstance(body, ast.ClassDef)
        for declared, after in zip(body.body, body.body[1:], strict=False):
            if not (isinstance(declared, ast.AnnAssign) and isinstance(declared.target, ast.Name)):
                continue
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                found[declared.target.id] = " ".join(str(after.value.value).split())
    return found
