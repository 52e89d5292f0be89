"""Gallery space: whitened directions of public images, exact whatever the batch."""

import numpy as np
import pytest
from tests.fixtures.galleries import extractor, public, records, space

from pointillist.errors import UsageError
from pointillist.features import Records
from pointillist.features.images.gallery_space import FINE, GallerySpace, averages, deviations


def test_coordinates_of_the_gallery_are_white() -> None:
    values = averages(extractor(), True, public().pixels)
    found, places = GallerySpace.around(extractor(), True, values, 5)
    assert found.directions == 5
    coordinates = places.coordinates / FINE
    assert np.allclose(coordinates.T @ coordinates / len(coordinates), np.eye(5), atol=2e-2)
    assert np.allclose(coordinates.mean(axis=0), 0, atol=2e-2)


def test_an_image_lies_where_it_lies_whatever_the_batch() -> None:
    whole = records(7, 3)
    together = space().located("image", whole)
    for number in range(7):
        alone = space().located("image", whole.part(slice(number, number + 1)))
        assert np.array_equal(alone.coordinates[0], together.coordinates[number])
        assert alone.energy[0] == together.energy[number]
        assert np.array_equal(space().unit(alone)[0], space().unit(together)[number])
        assert space().outside(alone)[0] == space().outside(together)[number]


def test_sums_are_exact_in_the_worst_case() -> None:
    """Every product and every sum of them is a whole number that floats hold."""
    most = np.abs(space().matrix.astype(object)).sum(axis=0).max() * (1 << 20)
    assert most < 1 << 53
    wild = np.array([[np.inf, -np.inf, np.nan, 1e300, -1e300, 0.0, 1.0, 2.0, 3.0, 4.0]])
    found = deviations(wild, space().centre, space().step)
    assert np.abs(found).max() <= 1 << 20
    assert np.array_equal(found, np.rint(found))


def test_lengths_are_at_most_1_and_parts_within_0_and_1() -> None:
    pixels = np.stack([np.zeros((8, 8, 1)), np.full((8, 8, 1), 255), np.eye(8)[:, :, None] * 255]).astype(np.uint8)
    located = space().located("image", Records(3, {}, {}, {"image": pixels}))
    assert (np.linalg.norm(space().unit(located), axis=1) <= 1).all()
    assert ((space().outside(located) >= 0) & (space().outside(located) <= 1)).all()


def test_all_directions_leave_nothing_outside_and_one_leaves_much() -> None:
    values = averages(extractor(), True, public().pixels)
    full, places = GallerySpace.around(extractor(), True, values, 10)
    assert full.outside(places).mean() < 0.01
    assert full.leading(1).outside(places).mean() > 0.1
    assert full.starts_with(full.leading(3))
    assert not full.leading(3).starts_with(GallerySpace.around(extractor(), True, values[:60], 3)[0])


def test_it_is_written_and_read_again() -> None:
    found = GallerySpace.from_facts(space().describe())
    assert space().starts_with(found)
    for name, wrong in {
        "step": -space().step,
        "matrix": space().matrix.astype(np.int64),
        "scales": space().scales[:-1],
        "centre": space().centre * np.nan,
        "spread": "much",
    }.items():
        with pytest.raises(ValueError, match=r"space|direction|above 0|array"):
            GallerySpace.from_facts({**space().describe(), name: wrong})
    long = np.full_like(space().matrix, 2**30)
    with pytest.raises(ValueError, match="too long for exact arithmetic"):
        GallerySpace.from_facts({**space().describe(), "matrix": long})


def test_images_that_are_all_alike_span_nothing() -> None:
    with pytest.raises(UsageError, match="all alike"):
        GallerySpace.around(extractor(), True, np.ones((30, 10)), 4)
