"""Stopping by a proxy: the last block of a release, set apart; what it is good for is in test_perceptual."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.methods.perceptual_proxy import PROXY_NOISE, parted


def test_the_proxy_has_ten_times_the_noise() -> None:
    assert PROXY_NOISE == 10


def test_a_release_without_a_proxy_is_refused(
    shapes: Callable[..., pa.Table], shapes_schema: pt.Schema, seeded_release: Any
) -> None:
    made = seeded_release(shapes(200), shapes_schema, method=pt.Merf(features=4))
    with pytest.raises(UsageError, match="has no proxy to stop by"):
        parted(made, 200.0)
    assert np.isfinite(made.measurements[0].values).all()
