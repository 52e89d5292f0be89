"""Network settings: values that come back from files, and refused in words where impossible."""

from dataclasses import asdict, replace
from typing import Any

import pytest

import pointillist as pt
from pointillist.errors import UsageError


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        *(({name: 0}, f"{name} must be above 0, not 0") for name in ("noise", "steps", "batch")),
        *(({name: -1.0}, f"{name} must be above 0, not -1") for name in ("rate", "check", "gamma")),
        ({"batch": 1}, "batch must be at least 2, not 1"),
        ({"loss": "mmd"}, "loss 'mmd' is not known. Losses: likelihood, distance"),
        ({"hidden": (5, 0)}, "every hidden layer needs at least one unit"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pt.NetworkSettings(**wrong)


def test_settings_are_values() -> None:
    """Lists come back from files where tuples went in."""
    assert pt.NetworkSettings(hidden=[3, 4]) == pt.NetworkSettings(hidden=(3, 4))  # type: ignore[arg-type]
    settings = pt.NetworkSettings(steps=7, loss="distance")
    assert pt.NetworkSettings(**asdict(settings)) == settings
    assert len({settings, replace(settings), pt.NetworkSettings()}) == 2
