"""Image overlap: a private image among the public ones stops a release before anything is spent."""

import numpy as np
import pytest
from tests.fixtures.galleries import bars, method, private, public, schema

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.features.images.extractor_training import PublicImages


def test_a_private_image_is_found() -> None:
    mixed = np.concatenate([public().pixels, bars(300, 0)[0][7:8]])
    given = method(public=PublicImages.of("photos", mixed), probe_share=0.0)
    with pytest.raises(UsageError, match="a private image is among the public ones"):
        pt.release(private(), schema(), epsilon=1, method=given)
    assert pt.Ledger(None).accounts() == ()
    said = method(public=PublicImages.of("photos", mixed), probe_share=0.0, overlap=True)
    assert pt.release(private(), schema(), epsilon=1, method=said).method == "gallery"


def test_one_colour_is_no_copy() -> None:
    mixed = np.concatenate([public().pixels, np.zeros((1, 8, 8, 1), np.uint8)])
    pixels, codes = bars(60, 0)
    pixels[0] = 0
    source = pt.images(pixels, np.array(["a", "b"])[codes])
    given = method(public=PublicImages.of("photos", mixed), probe_share=0.0)
    assert pt.release(source, schema(), epsilon=1, method=given).method == "gallery"
