"""Images: images with labels, checked when they are made."""

from pathlib import Path

import numpy as np
import pytest

import pointillist as pt

PIXELS = np.random.default_rng(0).integers(0, 256, (4, 3, 2, 1), dtype=np.uint8)
CODES = np.array([1, 0, 2, 1], dtype=np.uint16)


def test_labels_are_the_names_of_the_codes() -> None:
    images = pt.Images(PIXELS, CODES, ("cat", 7, "other"))
    assert len(images) == 4
    assert images.labels is not None
    assert images.labels.tolist() == [7, "cat", "other", 7]
    assert pt.Images(PIXELS).labels is None


def test_no_images_have_no_labels() -> None:
    empty = pt.Images(PIXELS[:0], CODES[:0], ("cat",))
    assert len(empty) == 0
    assert empty.labels is not None
    assert empty.labels.tolist() == []


def test_what_they_are_called() -> None:
    assert repr(pt.Images(PIXELS, CODES, ("a", "b", "c"))) == "<4 images, 3 x 2, grey in 3 classes>"
    colour = np.zeros((1234, 5, 6, 3), dtype=np.uint8)
    assert repr(pt.Images(colour)) == "<1,234 images, 5 x 6, colour>"


@pytest.mark.parametrize(
    "pixels",
    [
        PIXELS.astype(np.int64),
        PIXELS / 255,
        PIXELS[..., 0],
        np.zeros((2, 3, 2, 2), dtype=np.uint8),
        np.zeros((2, 3, 2, 4), dtype=np.uint8),
    ],
    ids=["wide", "fractions", "flat", "two channels", "four channels"],
)
def test_pixels_that_are_none_are_refused(pixels: np.ndarray) -> None:
    with pytest.raises(ValueError, match="pixels must be whole numbers from 0 to 255"):
        pt.Images(pixels)


@pytest.mark.parametrize("codes", [CODES[:3], CODES[:, None], CODES + 1], ids=["few", "flat", "beyond"])
def test_codes_that_do_not_fit_are_refused(codes: np.ndarray) -> None:
    with pytest.raises(ValueError, match="one of the classes"):
        pt.Images(PIXELS, codes.astype(np.uint16), ("a", "b", "c"))


def test_saving_keeps_images_and_labels(tmp_path: Path) -> None:
    images = pt.Images(PIXELS, CODES, ("a", "b", "c"))
    images.save(tmp_path / "made.npz")
    with np.load(tmp_path / "made.npz", allow_pickle=False) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    kept = next(array for array in found.values() if array.dtype == np.uint8)
    np.testing.assert_array_equal(kept.reshape(PIXELS.shape), PIXELS)


def test_parts() -> None:
    images = pt.Images(PIXELS, CODES, ("cat", 7, "other"))
    some = images.part(np.array([True, False, True, False]))
    assert some.labels is not None
    assert (len(some), some.labels.tolist()) == (2, [7, "other"])
    assert np.array_equal(some.pixels, PIXELS[[0, 2]])
    assert len(pt.Images(PIXELS).part(np.array([3, 3, 3]))) == 3


def test_smaller_parts_lie_within_larger_ones() -> None:
    images = pt.Images(np.arange(100, dtype=np.uint8).reshape(100, 1, 1, 1))
    small, large = (images.at_most(count, seed=3).pixels for count in (10, 40))
    assert np.array_equal(small, large[:10])
    assert images.at_most(100, seed=3) is images
