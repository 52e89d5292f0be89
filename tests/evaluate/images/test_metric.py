"""What metrics of images are given."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images.metric import METRICS, ImageContext

Bars = Callable[..., pt.Images]


def context(real: pt.Images, holdout: pt.Images | None, schema: pt.Schema) -> ImageContext:
    return ImageContext(real, real, holdout, schema, None, None, 0)


def test_every_metric_is_found_in_its_folder_and_in_its_place() -> None:
    assert list(METRICS) == ["copies", "shares", "samples", "classifiers", "diversity", "distances", "fid"]


def test_images_to_train_on_and_to_test_on(bars: Bars, bars_schema: pt.Schema) -> None:
    real, held = bars(40, 1), bars(10, 2)
    assert context(real, held, bars_schema).training_and_test == (real, held)
    training, test = context(real, None, bars_schema).training_and_test
    assert (len(training), len(test)) == (30, 10)
    both = np.concatenate([training.pixels, test.pixels])
    assert sorted(each.tobytes() for each in both) == sorted(each.tobytes() for each in real.pixels)
    with pytest.raises(UsageError, match="too few"):
        _ = context(bars(1, 1), None, bars_schema).training_and_test
