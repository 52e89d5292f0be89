"""Errors: an exit code each, nothing that a terminal obeys, and no trace of the error that was replaced."""

import traceback

import pytest

from pointillist import errors
from pointillist.errors import PointillistError, without_context

KINDS = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, PointillistError)]


def test_the_command_line_can_tell_them_apart() -> None:
    codes = {each.__name__: each.exit_code for each in KINDS if each is not errors.LedgerError}
    assert len(set(codes.values())) == len(codes)
    assert errors.LedgerError.exit_code == errors.BudgetError.exit_code
    assert not {0, 70, 130} & set(codes.values())  # done, a fault of ours, an interrupt


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_shown_written_out(kind: type[PointillistError]) -> None:
    assert str(kind("column \x1b[31mred")) == "column \\u001b[31mred"


def test_the_error_that_was_replaced_does_not_leave() -> None:
    """It may quote a private value."""

    @without_context
    def work(value: str) -> int:
        """Read a number."""
        try:
            return int(value)
        except ValueError as error:
            raise errors.DataError("not a number") from error

    assert work("7") == 7
    assert (work.__name__, work.__doc__) == ("work", "Read a number.")
    secret = "".join(("SEC", "RET"))  # not as it would stand in a line of the traceback
    with pytest.raises(errors.DataError) as caught:
        work(secret)
    assert secret not in "".join(traceback.format_exception(caught.value))


def test_other_errors_are_left_alone() -> None:
    @without_context
    def work() -> None:
        raise KeyError("a") from ValueError("b")

    with pytest.raises(KeyError) as caught:
        work()
    assert isinstance(caught.value.__cause__, ValueError)
