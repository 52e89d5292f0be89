"""Points settings: refused in words where impossible; how many points may be left open."""

from typing import Any

import pytest

import pointillist as pt
from pointillist.errors import UsageError


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"points": 0}, "points must be above 0, not 0"),
        ({"steps": 0}, "steps must be above 0, not 0"),
        ({"rate": float("nan")}, "rate must be above 0"),
        ({"weights": "signed"}, "weights 'signed' are not known. Weights: probabilities, bounded, uniform"),
        ({"search": "random"}, "search 'random' is not known. Searches: joint, greedy"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pt.PointsSettings(**wrong)
    assert pt.PointsSettings().points is None
