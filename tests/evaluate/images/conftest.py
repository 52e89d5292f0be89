"""Small images that need no file: a bright bar whose place tells the class, some noise, and shapes that vary."""

from collections.abc import Callable

import numpy as np
import pytest

import pointillist as pt

CLASSES = ("left", "middle", "right")
SIZE = 12


def draw(
    count: int, seed: int, *, noise: float = 10.0, channels: int = 1, length: tuple[int, int] = (4, 11)
) -> pt.Images:
    """Bars of varying length, place and brightness."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, len(CLASSES), count).astype(np.uint16)
    pixels = rng.normal(20, noise, (count, SIZE, SIZE, channels))
    for number, code in enumerate(codes):
        column = 1 + 4 * int(code) + int(rng.integers(0, 2))
        start, tall = int(rng.integers(0, 2)), int(rng.integers(*length))
        pixels[number, start : start + tall, column : column + 2] += rng.uniform(100, 200)
    return pt.Images(np.clip(pixels, 0, 255).astype(np.uint8), codes, CLASSES)


@pytest.fixture(scope="session")
def bars() -> Callable[..., pt.Images]:
    return draw


@pytest.fixture
def bars_schema() -> pt.Schema:
    label = pt.Categorical(categories=CLASSES, missing=False, out_of_domain="error")
    return pt.Schema(name="bars", reviewed=True, columns={"image": pt.Image(height=SIZE, width=SIZE), "label": label})
