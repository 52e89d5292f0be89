"""A file from a stranger asks for no endless work, in whichever part of its settings."""

import pytest

from pointillist.methods.work_limits import check_work


@pytest.mark.parametrize("options", [{}, {"steps": 1_000_000}, {"network": {"steps": 5_000}, "steps": "many"}])
def test_reasonable_work(options: dict[str, object]) -> None:
    assert check_work(options) is None  # type: ignore[func-returns-value]  # what is of a wrong type is refused elsewhere


@pytest.mark.parametrize("options", [{"steps": 1_000_001}, {"network": {"steps": 10**9}}, {"points": float("inf")}])
def test_endless_work_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="more work than a release may ask for"):
        check_work(options)
