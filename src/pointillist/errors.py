"""What can go wrong by a user's hand.

Every message names the file, column and rule at fault and says what to do next. No message ever carries a value that
was read from private rows: texts are built from the schema, from file names and from the caller's own arguments.
"""


class PointillistError(Exception):
    """Any mistake that the user can mend. `exit_code` is what the command line returns for it."""

    exit_code = 1


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


class ArtefactError(PointillistError):
    """A release or model file is damaged, of another kind, or cannot be written."""

    exit_code = 6
