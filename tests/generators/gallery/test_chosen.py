"""Chosen: from a measurement to images of a gallery."""

from dataclasses import replace

import numpy as np
import pytest
from tests.fixtures.galleries import extractor, method, public, quiet_release

from pointillist.features.images.public_gallery import PublicGallery
from pointillist.generators.gallery.chosen import Chosen


def test_classes_get_images_of_their_own_and_the_private_sharpness() -> None:
    made = quiet_release(method(probe_share=0.0))
    first = made.measurements[0]
    gallery = PublicGallery.of(public(), extractor()).leading(made.plan.options["directions"])
    chosen = Chosen.of(first, gallery, None, 20, sharpness=False)
    assert chosen.images is gallery.images.pixels
    brighter = chosen.images[:, :4].mean(axis=(1, 2, 3)) > chosen.images[:, 4:].mean(axis=(1, 2, 3))
    assert brighter[chosen.members[0]].all()
    assert not brighter[chosen.members[1]].any()
    assert chosen.counts.sum() == pytest.approx(300, abs=10)
    assert (chosen.reach > 0.7).all()
    # A gallery with twice the contrast is filtered back.
    harder = replace(
        gallery.images, pixels=np.clip(gallery.images.pixels.astype(int) * 2 - 70, 0, 255).astype(np.uint8)
    )
    filtered = Chosen.of(first, replace(gallery, images=harder), None, 20, sharpness=True)
    used = np.unique(filtered.members)
    assert filtered.images[used].std() < 0.8 * harder.pixels[used].std()
