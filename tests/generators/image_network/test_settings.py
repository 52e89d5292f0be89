"""Image network settings: refused in words where impossible, and for images alone."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.progress import silent


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"batch": 0}, "batch must be above 0, not 0"),
        ({"breadth": 0}, "breadth must be above 0, not 0"),
        ({"momentum": 1.0}, "momentum must be at least 0 and below 1, not 1.0"),
        ({"architecture": "other"}, "architecture 'other' is not known. Choose one of conv, dense, residual"),
        ({"loss": "mmd"}, "loss 'mmd' is not known. Choose one of distance, likelihood"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        pt.ImageNetworkSettings(**wrong)


def test_a_release_of_a_table_is_refused(
    shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Callable[..., pt.Release]
) -> None:
    release = seeded_release(shapes(100), shapes_schema, method=pt.Merf(features=2))
    with pytest.raises(UsageError, match="is of a table, not of images"):
        pt.ImageNetworkSettings().fit(release, seed=0, progress=silent)
