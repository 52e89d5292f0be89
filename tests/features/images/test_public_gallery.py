"""Public gallery: located once, kept by hash, found again."""

from pathlib import Path

import numpy as np
import pytest
from tests.fixtures.galleries import extractor, public

from pointillist.errors import UsageError
from pointillist.features.images import public_gallery
from pointillist.features.images.public_gallery import PublicGallery, images_hash
from pointillist.files import cache


def test_a_network_looks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = PublicGallery.of(public(), extractor())
    monkeypatch.setattr(public_gallery, "averages", None)  # nothing may be looked at again
    found = PublicGallery.of(public(), extractor())
    assert np.array_equal(found.units, made.units)
    assert found.space.starts_with(made.space)
    assert found.facts == made.facts
    again = PublicGallery.again(made.sha256, made.space.leading(3), None)
    assert again is not None
    assert np.array_equal(again.images.pixels, public().pixels)
    assert np.array_equal(again.units, made.leading(3).units)


def test_without_the_cache_images_must_be_given(own_cache: Path) -> None:
    made = PublicGallery.of(public(), extractor())
    for path in own_cache.iterdir():
        path.unlink()
    assert PublicGallery.again(made.sha256, made.space, None) is None
    found = PublicGallery.again(made.sha256, made.space.leading(4), public())
    assert found is not None
    assert np.array_equal(found.units, made.leading(4).units)
    assert PublicGallery.again(made.sha256, made.space, public(60)) is None


def test_a_damaged_file_counts_as_not_there(own_cache: Path) -> None:
    made = PublicGallery.of(public(), extractor())
    (path,) = own_cache.iterdir()
    path.write_bytes(path.read_bytes()[:-100])
    assert np.array_equal(PublicGallery.of(public(), extractor()).units, made.units)
    facts = cache.kept(path.stem, "gallery", 1)
    assert facts is not None
    cache.keep(path.stem, "gallery", 1, {**facts[1], "step": -facts[1]["step"]})
    assert np.array_equal(PublicGallery.of(public(), extractor()).units, made.units)


def test_hashes_tell_images_apart() -> None:
    assert images_hash(public()) == images_hash(public())
    assert images_hash(public()) != images_hash(public(seed=2))


def test_few_images_are_no_gallery() -> None:
    with pytest.raises(UsageError, match="has 1 images, and a gallery needs 20 at least"):
        PublicGallery.of(public(1), extractor())
