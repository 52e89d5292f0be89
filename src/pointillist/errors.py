"""What can go wrong by a user's hand.

Every message names the file, column and rule at fault and says what to do next. No message ever carries a value that
was read from private rows: texts are built from the schema, from file names and from the caller's own arguments.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from pointillist.visible import visible

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class PointillistError(Exception):
    """Any mistake that the user can mend. `exit_code` is what the command line returns for it."""

    exit_code = 1
    made: Any = None
    """What had been made and paid for before this went wrong: a release or a choice. It is good; save it."""

    def __str__(self) -> str:
        """The message, with nothing in it that a terminal would obey: names and paths are anyone's."""
        return visible(super().__str__())


class UsageError(PointillistError):
    """An argument is out of range, or two arguments do not go together."""

    exit_code = 2


class SchemaError(PointillistError):
    """The schema file is malformed, incomplete or not reviewed."""

    exit_code = 3


class DataError(PointillistError):
    """The private data cannot be read, or breaks a rule of the schema."""

    exit_code = 4


class BudgetError(PointillistError):
    """The privacy budget does not allow what was asked."""

    exit_code = 5


class LedgerError(BudgetError):
    """The ledger cannot be used: it is not one, it is damaged, or it cannot be written."""


class ArtefactError(PointillistError):
    """A release or model file is damaged, of another kind, or cannot be written."""

    exit_code = 6


class FactsFromDataWarning(UserWarning):
    """A release publishes facts that `draft` read from the private rows, on the owner's word that they are public."""


def level_of_caller() -> int:
    """The `stacklevel` of a warning that is to name the line outside this package that called it."""
    frame, level = inspect.currentframe(), 0
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        frame, level = frame.f_back, level + 1
    return level


def without_context(work: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Let our errors leave `work` without the error that they replaced: that one may quote a private value."""

    @wraps(work)
    def call(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            return work(*arguments, **options)
        except PointillistError as error:
            error.__cause__ = error.__context__ = None
            raise

    return call
