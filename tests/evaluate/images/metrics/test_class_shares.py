"""Shares of classes: counted, and graded beyond what chance explains."""

import numpy as np
import pytest

import pointillist as pt
from pointillist.evaluate.images.metrics.class_shares import ClassShares, class_shares


def images(*codes: int) -> pt.Images:
    pixels = np.zeros((len(codes), 2, 2, 1), dtype=np.uint8)
    return pt.Images(pixels, np.array(codes, dtype=np.uint16), ("cat", "dog", "emu"))


def test_shares_are_of_all_images_and_classes_without_any_are_left_out() -> None:
    found = class_shares(images(0, 0, 0, 1), images(1, 1))
    assert found.to_json() == {"cat": [0.75, 0.0], "dog": [0.25, 1.0]}
    assert found.images == (4, 2)
    assert class_shares(pt.Images(images(0).pixels), images(0)).points() == ()


@pytest.mark.parametrize(
    ("made", "count", "grade"),
    [(0.5, 100_000, "good"), (0.53, 100_000, "fair"), (0.6, 100_000, "poor"), (0.6, 9, "unclear")],
)
def test_grades(made: float, count: int, grade: str) -> None:
    (point,) = ClassShares({"cat": (0.5, made), "dog": (0.5, 1 - made)}, (count, count)).points()
    assert (point.question, point.grade) == ("shares of classes", grade)
    assert f"cat: {made:.1%} in place of 50.0%" in point.sentence
