"""The gallery: a public page, so nothing real is on it."""

import base64
import re
from collections.abc import Callable

import numpy as np

import pointillist as pt
from pointillist.methods.image_merf import ImageMerf
from pointillist.pages.gallery import SHOWN, gallery
from pointillist.pages.images import grid, png
from pointillist.reading.image_arrays import images

Bars = Callable[..., pt.Images]


def shown(page: str) -> list[bytes]:
    return [base64.b64decode(each) for each in re.findall(r"data:image/png;base64,([^\"]+)", page)]


def test_it_shows_synthetic_images_of_every_class_and_nothing_else(bars: Bars, bars_schema: pt.Schema) -> None:
    real, made = bars(200, 1), bars(100, 2)
    source = images(real.pixels, real.labels)
    release = pt.release(source, bars_schema, epsilon=1.0, neighbours="replace-one", method=ImageMerf(features=20))
    page = gallery(made, release)
    assert "Private" not in page
    assert "ε = 1" in page
    assert made.codes is not None
    parts = [made.part(made.codes == code).at_most(SHOWN, seed=0) for code in range(3)]
    assert shown(page) == [png(grid(part.pixels, 8)) for part in parts]
    assert shown(gallery(pt.Images(made.pixels[:5]), release)) == [png(grid(made.pixels[:5], 5))]
    assert not np.isin([each.tobytes() for each in real.pixels], [each.tobytes() for each in made.pixels]).any()
