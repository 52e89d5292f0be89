"""Planned: the method of a release, with the settings that it was planned with. They may come in a stranger's file."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pointillist.errors import ArtefactError, UsageError
from pointillist.methods import IMAGE_METHODS, METHODS, method_for
from pointillist.methods.base import Method
from pointillist.release import Release

_MOST = {
    "components": 20_000,
    "points": 1_000_000,
    "steps": 1_000_000,
    "batch": 100_000,
    "breadth": 10_000,
    "noise": 10_000,
}
"""What a release may ask of whoever fits it; who passes a method of their own may ask for more."""


def planned_method(release: Release) -> Method:
    """The release's own method."""
    known = METHODS if release.schema.image is None else IMAGE_METHODS
    options = release.plan.options
    if release.method in known:
        try:
            _check(known[release.method], options)
            return method_for(release.schema, release.method, options)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError) as error:
            raise ArtefactError(
                f"release {release.id}: its plan has settings that {release.method} does not take "
                f"({str(error).splitlines()[0].rstrip('.')}). Get a fresh copy, or pass a method with settings of your own."
            ) from None
    return method_for(release.schema, release.method, options)


def _check(kind: Any, options: Mapping[str, Any]) -> None:
    """Settings must be of the types that the method declares, and no unreasonable amount of work."""
    hints = get_type_hints(kind)
    known = {each.name for each in fields(kind) if each.init}
    for name, value in options.items():
        if name not in known:
            raise ValueError(f"{name[:50]!r} is none of its settings")
        try:
            TypeAdapter(hints[name], config=ConfigDict(arbitrary_types_allowed=True)).validate_json(
                json.dumps(value), strict=True
            )
        except ValidationError:
            raise ValueError(f"{name} is not of the right type") from None
    _check_work(options)


def _check_work(options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if isinstance(value, Mapping):
            _check_work(value)
        elif name in _MOST and isinstance(value, int | float) and value > _MOST[name]:
            raise ValueError(f"{name} = {value:g} is more work than a release may ask for")
