"""Image generators: labels first, by their shares or as asked for, and only images of the schema."""

import numpy as np
import pytest
from numpy.typing import NDArray

import pointillist as pt
from pointillist.generators.image_generator import USUAL, ImageColumns, ImageGenerator, Outline

LABEL = pt.Categorical(categories=("a", "b", "c"), missing=False, out_of_domain="error")
LABELLED = pt.Schema(name="l", columns={"image": pt.Image(height=2, width=1), "label": LABEL})
PLAIN = pt.Schema(name="p", columns={"photo": pt.Image(height=2, width=1)})


class Greys(ImageGenerator):
    """Every class is a grey of its own."""

    def __init__(self, *shares: float, columns: ImageColumns = USUAL):
        self.shares, self.columns = shares, columns

    @property
    def outline(self) -> Outline:
        return Outline((2, 1, 1), self.shares, self.columns)

    def pixels(self, count: int, codes: NDArray[np.uint16] | None, rng: np.random.Generator) -> NDArray[np.uint8]:
        grey = np.zeros(count) if codes is None else codes
        return np.broadcast_to(grey[:, None, None, None], (count, 2, 1, 1)).astype(np.uint8)


def test_labels_come_first_and_images_follow() -> None:
    found = Greys(0.5, 0.25, 0.25).sample(40, np.random.default_rng(0))
    assert np.bincount(found.codes["label"]).tolist() == [20, 10, 10]
    np.testing.assert_array_equal(found.images["image"][:, 0, 0, 0], found.codes["label"])
    plain = Greys(columns=ImageColumns("photo", None)).sample(3, np.random.default_rng(0))
    assert (dict(plain.codes), plain.images["photo"].shape) == ({}, (3, 2, 1, 1))


def test_classes_by_their_shares_among_each_other() -> None:
    """An empty class that is asked for has a chance of one in some thousands beside others, and all of it alone."""
    greys = Greys(0.75, 0.25, 0.0)
    chance, some = greys.given({"label": np.array([1.0, 1.0, 0.0])})
    assert chance == pytest.approx(1.0, abs=0.001)
    codes = some.sample(4_000, np.random.default_rng(0)).codes["label"]
    assert set(codes.tolist()) == {0, 1}
    assert np.mean(codes == 0) == pytest.approx(0.75, abs=0.05)
    chance, empty = greys.given({"label": np.array([0.0, 0.0, 1.0])})
    assert 0 < chance < 0.001
    assert empty.sample(5, np.random.default_rng(0)).codes["label"].tolist() == [2] * 5
    assert greys.given({"label": np.zeros(3)})[0] == 0.0


def test_it_fits_its_schema_alone() -> None:
    assert Greys(0.5, 0.5, 0.0).fits(LABELLED)
    assert not Greys(0.5, 0.5).fits(LABELLED)
    assert not Greys().fits(LABELLED)
    assert not Greys(0.5, 0.5, 0.0).fits(PLAIN)
    assert not Greys().fits(PLAIN)  # its images are called otherwise
    assert Greys(columns=ImageColumns.of(PLAIN)).fits(PLAIN)
    assert not Greys(0.5, 0.5, 0.0).fits(pt.Schema(name="t", columns={"a": pt.Boolean()}))


def test_images_without_labels_have_none_to_ask_for() -> None:
    with pytest.raises(ValueError, match="no labels"):
        Greys().with_labels(np.zeros(3, dtype=np.uint16), np.random.default_rng(0))
    with pytest.raises(ValueError, match="needs a schema with images"):
        ImageColumns.of(pt.Schema(name="t", columns={"a": pt.Boolean()}))
