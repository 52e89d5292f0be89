"""Planned method: the method of a release, with the settings that it was planned with. Its file may be a stranger's."""

from collections.abc import Mapping
from typing import Any

from pointillist.errors import ArtefactError, UsageError
from pointillist.methods import METHODS, method_for
from pointillist.methods.base import Method
from pointillist.methods.work_limits import check_work
from pointillist.release import Release
from pointillist.schema import Schema
from pointillist.settings import require_types


def planned_method(release: Release) -> Method:
    """The release's own method."""
    return method_of(release.schema, release.method, release.plan.options, f"release {release.id}")


def method_of(schema: Schema, method: str, options: Mapping[str, Any], origin: str) -> Method:
    """The method of a plan that came in a file, which messages call `origin`."""
    known = METHODS.suiting(schema)
    if method in known:
        try:
            require_types(known[method], options)
            check_work(options)
            return method_for(schema, method, dict(options))
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError) as error:
            raise ArtefactError(
                f"{origin}: its plan has settings that {method} does not take "
                f"({str(error).splitlines()[0].rstrip('.')}). Get a fresh copy, or pass a method with settings of your own."
            ) from None
    return method_for(schema, method, dict(options))
