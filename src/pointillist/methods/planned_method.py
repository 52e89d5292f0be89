"""Planned method: the method of a release, with the settings that it was planned with. Its file may be a stranger's."""

from collections.abc import Mapping
from typing import Any

from pointillist.errors import ArtefactError, UsageError
from pointillist.methods import METHODS, method_for
from pointillist.methods.base import Method
from pointillist.release import Release
from pointillist.settings import require_types

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
    known = METHODS.suiting(release.schema)
    options = release.plan.options
    if release.method in known:
        try:
            require_types(known[release.method], options)
            _check_work(options)
            return method_for(release.schema, release.method, options)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError) as error:
            raise ArtefactError(
                f"release {release.id}: its plan has settings that {release.method} does not take "
                f"({str(error).splitlines()[0].rstrip('.')}). Get a fresh copy, or pass a method with settings of your own."
            ) from None
    return method_for(release.schema, release.method, options)


def _check_work(options: Mapping[str, Any]) -> None:
    """Refuse an unreasonable amount of work."""
    for name, value in options.items():
        if isinstance(value, Mapping):
            _check_work(value)
        elif name in _MOST and isinstance(value, int | float) and value > _MOST[name]:
            raise ValueError(f"{name} = {value:g} is more work than a release may ask for")
