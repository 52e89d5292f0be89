"""Probe: what a small network learned from some images, as counts of right and wrong."""

import numpy as np
import pytest
from tests.fixtures.galleries import bars, extractor, records

from pointillist.curator.embedding import Embedding
from pointillist.features import ImageProbe, Records
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid


@pytest.fixture(scope="module")
def probe() -> ImageProbe:
    pixels, codes = bars(60, 4)
    return ImageProbe.taught("image", "label", extractor(), pixels, codes, 2)


def test_it_tells_bars_apart(probe: ImageProbe) -> None:
    pixels, codes = bars(60, 5)
    assert (probe.predicted(pixels) == codes).mean() > 0.95


def test_cells_say_class_and_outcome_whatever_the_batch(probe: ImageProbe) -> None:
    images = records(20, 6)
    wrong = Records(20, {"label": 1 - images.codes["label"]}, {}, images.images)
    for given, outcome in ((images, 1), (wrong, 0)):
        cells = probe.cells(given)
        assert np.array_equal(cells // 2, given.codes["label"])
        assert (cells % 2 == outcome).mean() > 0.9
        assert np.array_equal(cells, [probe.cells(given.part(slice(n, n + 1)))[0] for n in range(20)])


def test_one_image_moves_one_count(probe: ImageProbe) -> None:
    grid = Grid.counting()
    images = records(9, 7)
    sums = []
    for rows in (images, images.part(slice(0, 8))):
        found = Embedding(probe, grid)
        found.add(rows)
        sums.append(found.sums())
    assert ((sums[0] - sums[1]) ** 2).sum() == grid.squared_norm


def test_a_class_that_it_does_not_know(probe: ImageProbe) -> None:
    images = records(2, 7)
    with pytest.raises(IndexError, match="does not know"):
        probe.cells(Records(2, {"label": np.array([0, 2], dtype=np.uint16)}, {}, images.images))


def test_it_is_written_and_read_again_and_checked(probe: ImageProbe) -> None:
    images = records(9, 8)
    found = from_nodes(*to_nodes(probe))
    assert np.array_equal(found(images), probe(images))
    facts = probe.describe()
    for name, wrong in {
        "matrix": probe.matrix.astype(np.float64),
        "offsets": probe.offsets[:1],
        "step": 0 * probe.step,
        "centre": "usual",
    }.items():
        with pytest.raises(ValueError, match="probe"):
            ImageProbe.from_description({**facts, name: wrong}, ())
    with pytest.raises(ValueError, match="too large for exact arithmetic"):
        ImageProbe.from_description({**facts, "matrix": np.full_like(probe.matrix, 2**30)}, ())
