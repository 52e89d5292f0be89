"""Image distance: squared, from the centre of the image's class, in parts of a public limit."""

import numpy as np
import pytest
import torch

from pointillist.features import ImageDistance, Records
from pointillist.features.domain import Domain
from pointillist.features.serial import from_nodes, to_nodes

CENTRES = np.array([[0, 0, 0, 0], [255, 255, 255, 255]], dtype=np.uint8)
DISTANCE = ImageDistance("image", "label", CENTRES, 2.0)


def of(*pixels: list[int], codes: tuple[int, ...]) -> Records:
    images = np.array(pixels, dtype=np.uint8).reshape(-1, 2, 2, 1)
    return Records(len(images), {"label": np.array(codes, dtype=np.uint16)}, {}, {"image": images})


def test_distances_are_from_the_own_class() -> None:
    found = DISTANCE(of([0, 0, 0, 0], [255, 0, 0, 0], [0, 0, 0, 0], codes=(0, 0, 1)))
    np.testing.assert_allclose(found[:, 0], [0.0, 0.25, 1.0])


def test_what_is_farther_than_the_limit_counts_1() -> None:
    near = ImageDistance("image", None, CENTRES[:1], 0.5)
    assert near(of([255, 0, 0, 0], codes=(1,)))[0, 0] == 1.0
    assert near.code_columns == frozenset()


def test_it_comes_back_from_its_file_and_fits_its_own_domain() -> None:
    back = from_nodes(*to_nodes(DISTANCE))
    assert isinstance(back, ImageDistance)
    np.testing.assert_array_equal(back.centres, CENTRES)
    assert back.fits(Domain({"label": 2}, frozenset(), "image", (2, 2, 1), "label"))
    assert not back.fits(Domain({"label": 3}, frozenset(), "image", (2, 2, 1), "label"))
    assert not back.fits(Domain({"label": 2}, frozenset(), "image", (2, 2, 3), "label"))


@pytest.mark.parametrize(("centres", "radius"), [(CENTRES[0], 1.0), (CENTRES.astype(float), 1.0), (CENTRES, 0.0)])
def test_impossible_distances_are_refused(centres: np.ndarray, radius: float) -> None:
    with pytest.raises(ValueError):
        ImageDistance("image", "label", centres, radius)


def test_soft_distances_are_taken_where_the_images_are() -> None:
    """First here, then on torch's meta device, which refuses what is elsewhere."""
    labels = torch.zeros(3, dtype=torch.int64)
    assert DISTANCE.soft_images(torch.zeros(3, 1, 2, 2), labels).device.type == "cpu"
    assert DISTANCE.soft_images(torch.zeros(3, 1, 2, 2, device="meta"), labels.to("meta")).device.type == "meta"
