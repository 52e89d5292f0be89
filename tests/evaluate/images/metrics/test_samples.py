"""Samples: some images of every class, and never in the figures."""

from collections.abc import Callable

import numpy as np

import pointillist as pt
from pointillist.evaluate.images.metric import MOST_CLASSES
from pointillist.evaluate.images.metrics.samples import SHOWN, Samples, samples

Bars = Callable[..., pt.Images]


def test_some_of_every_class(bars: Bars) -> None:
    real, made = bars(200, 1), bars(20, 2)
    found = samples(real, made, seed=0)
    assert list(found) == ["left", "middle", "right"]
    for code, (mine, theirs) in enumerate(found.values()):
        assert len(mine) == SHOWN
        assert len(theirs) <= SHOWN
        assert (mine.codes == code).all()  # type: ignore[union-attr]
        assert (theirs.codes == code).all()  # type: ignore[union-attr]


def test_without_labels_all_are_one(bars: Bars) -> None:
    found = samples(pt.Images(bars(100, 1).pixels), pt.Images(bars(9, 2).pixels), seed=0)
    assert [(name, len(a), len(b)) for name, (a, b) in found.items()] == [("all images", 4 * SHOWN, 9)]


def test_the_page_shows_them_and_the_figures_do_not() -> None:
    one = pt.Images(np.zeros((1, 2, 2, 1), dtype=np.uint8))
    found = Samples({f"class {number}": (one, one) for number in range(MOST_CLASSES + 3)}, {"class 0": (0.25, 0.5)})
    assert found.figures("samples") == {}
    (section,) = found.sections()
    page = str(section.__html__())
    assert page.count("<img ") == 2 * MOST_CLASSES
    assert "25 % of real, 50 % of synthetic" in page
    assert "3 more classes are not shown." in page
