"""The CNN: any size and colour, the last epoch's weights, one thread."""

import numpy as np
import pytest
import torch

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images.cnn import train_network


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 17, 3), (28, 28, 1), (32, 32, 3)])
def test_any_size(shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(0)
    images = pt.Images(
        rng.integers(0, 256, (20, *shape), dtype=np.uint8), (np.arange(20) % 4).astype(np.uint16), ("a", "b", "c", "d")
    )
    network = train_network(images, epochs=1)
    found = network.predict(images.pixels)
    assert found.shape == (20,)
    assert set(found.tolist()) <= {0, 1, 2, 3}
    assert network.predict(images.pixels[:0]).shape == (0,)


def test_colours_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, 300).astype(np.uint16)
    pixels = rng.integers(0, 60, (300, 8, 8, 3)).astype(np.uint8)
    pixels[np.arange(300), :, :, codes] += 120
    images = pt.Images(pixels, codes, ("red", "green", "blue"))
    assert (train_network(images, epochs=6).predict(pixels) == codes).mean() > 0.95


def test_the_caller_keeps_threads_and_random_numbers() -> None:
    images = pt.Images(np.zeros((4, 6, 6, 1), dtype=np.uint8), np.array([0, 1, 0, 1], dtype=np.uint16), ("a", "b"))
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    train_network(images, epochs=1)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.get_num_threads() == threads


def test_images_without_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="no labels"):
        train_network(pt.Images(np.zeros((4, 6, 6, 1), dtype=np.uint8)))
