"""Images as the schema sees them, from files and from memory."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images.reading import flat, labels_of, read, require_alike

Bars = Callable[..., pt.Images]


def test_an_npz_file(bars: Bars, bars_schema: pt.Schema, tmp_path: Path) -> None:
    made = bars(50, 1)
    np.savez(tmp_path / "bars.npz", images=made.pixels, labels=np.array(made.classes)[made.codes])
    found = read(tmp_path / "bars.npz", bars_schema)
    assert np.array_equal(found.pixels, made.pixels)
    assert np.array_equal(found.codes, made.codes)
    assert found.classes == made.classes


def test_what_classifiers_take(bars: Bars) -> None:
    made = bars(5, 1)
    assert flat(made).shape == (5, 144)
    assert 0 <= flat(made).min() < flat(made).max() <= 1
    assert labels_of(made).dtype == np.int64
    with pytest.raises(UsageError, match="no labels"):
        labels_of(pt.Images(made.pixels))


def test_only_images_that_are_alike_are_compared(bars: Bars) -> None:
    require_alike(bars(2, 1), bars(3, 2))
    with pytest.raises(UsageError, match="differ in size"):
        require_alike(bars(2, 1), bars(2, 1, channels=3))
