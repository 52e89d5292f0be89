"""Gallery: public images drawn by class and weight, written and read again."""

import numpy as np
import pytest
from tests.fixtures.galleries import bars, schema

from pointillist.generators.gallery.gallery import Gallery
from pointillist.generators.image_generator import ImageColumns

COLUMNS = ImageColumns("image", "label")


def made() -> Gallery:
    members = np.array([[0, 1, 4], [4, 5, 6]])
    weights = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    return Gallery.choosing(bars(9, 0)[0], members, weights, (0.75, 0.25), ("for training",), COLUMNS)


def test_only_chosen_images_are_kept_and_drawn_by_weight() -> None:
    gallery = made()
    assert len(gallery.images) == 5
    drawn = gallery.sample(400, np.random.default_rng(0))
    codes, pixels = drawn.codes["label"], drawn.images["image"]
    assert (codes == 0).sum() == 300
    whole = bars(9, 0)[0]
    assert (pixels[codes == 1] == whole[4]).all()
    firsts = (pixels[codes == 0] == whole[0]).all(axis=(1, 2, 3)).sum()
    assert abs(int(firsts) - 150) <= 1
    assert "5 public images, 3 for each class" in gallery.describe()
    assert gallery.notes == ("for training",)


def test_without_labels() -> None:
    gallery = Gallery.choosing(
        bars(4, 0)[0], np.arange(4)[None], np.full((1, 4), 0.25), (), (), ImageColumns("image", None)
    )
    assert gallery.sample(8, np.random.default_rng(0)).rows == 8
    assert gallery.fits(schema(labelled=False))
    assert not gallery.fits(schema())


def test_it_is_written_and_read_again_and_checked() -> None:
    facts, arrays = made().to_facts()
    found = Gallery.from_facts(facts, arrays, schema())
    assert found.fits(schema())
    assert found.notes == ("for training",)
    assert np.array_equal(found.members, made().members)
    for name, wrong in {
        "images": arrays["images"].astype(np.float32),
        "members": arrays["members"] + 3,
        "weights": arrays["weights"] * 2,
    }.items():
        with pytest.raises(ValueError, match=r"gallery|probabilities"):
            Gallery.from_facts(facts, {**arrays, name: wrong}, schema())
    with pytest.raises(ValueError, match="for each class"):
        Gallery.from_facts({**facts, "shares": [0.2, 0.3, 0.5]}, arrays, schema())
