"""Mixture settings: impossible numbers are refused, and a fit is one go."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.progress import silent


@pytest.mark.parametrize("wrong", [{"components": 0}, {"steps": 0}, {"rate": float("nan")}, {"grain": -3}], ids=str)
def test_impossible_numbers_are_refused(wrong: dict[str, Any]) -> None:
    (name, value) = next(iter(wrong.items()))
    with pytest.raises(UsageError, match=f"{name} must be above 0, not {value}"):
        pt.MixtureSettings(**wrong)


def test_it_takes_no_checkpoint(
    shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Callable[..., pt.Release], tmp_path: Path
) -> None:
    release = seeded_release(shapes(100), shapes_schema, method=pt.Merf(features=2))
    with pytest.raises(UsageError, match="takes no checkpoint"):
        pt.MixtureSettings().fit(release, seed=0, progress=silent, checkpoint=tmp_path / "c")
