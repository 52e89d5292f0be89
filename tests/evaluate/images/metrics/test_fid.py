"""FID and KID: known values in a tiny space, and the network that they need."""

import numpy as np
import pytest
from numpy.typing import NDArray

import pointillist as pt
from pointillist.errors import UsageError
from pointillist.evaluate.images.feature_space import Space
from pointillist.evaluate.images.metric import ImageContext
from pointillist.evaluate.images.metrics.distances import frechet
from pointillist.evaluate.images.metrics.fid import Fid, FidMetric, kernel_distances
from pointillist.files.images import Images

SCHEMA = pt.Schema(name="dots", columns={"image": pt.Image(height=2, width=2)})
CORNERS = Space("four pixels", lambda pixels: pixels.reshape(len(pixels), -1) / 255.0)


def dots(count: int, shift: int = 0, seed: int = 0) -> Images:
    pixels = np.random.default_rng(seed).integers(0, 100, (count, 2, 2, 1)) + shift
    return Images(pixels.astype(np.uint8))


def found(real: Images, synthetic: Images, space: Space | None = CORNERS) -> Fid | None:
    context = ImageContext(real, synthetic, None, SCHEMA, None, None, 0, fid=space)
    return context.ask(FidMetric)


def test_values_by_the_definition() -> None:
    """Covariances over n - 1; a shift of all pixels by s moves the means by 2 s and nothing else."""
    first = CORNERS(dots(300).pixels)
    assert frechet(first, first + 0.3, unbiased=True) == pytest.approx(4 * 0.09)
    tall = np.array([[0.0], [2.0]])  # variance 2 over n - 1, 1 over n
    flat = np.array([[1.0], [1.0]])
    assert frechet(tall, flat, unbiased=True) == pytest.approx(2.0)
    assert frechet(tall, flat) == pytest.approx(1.0)


def test_kid_by_hand() -> None:
    """Three points each, all in every subset: the mean over pairs of one set, of the other, less twice that between."""
    first, second = np.array([[0.0], [1.0], [2.0]]), np.array([[1.0], [1.0], [3.0]])

    def kernel(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((x @ y.T + 1.0) ** 3)

    def pairs(x: NDArray[np.float64]) -> float:
        return float(np.mean([kernel(x, x)[i, j] for i in range(3) for j in range(3) if i != j]))

    wanted = pairs(first) + pairs(second) - 2 * kernel(first, second).mean()
    np.testing.assert_allclose(kernel_distances(first, second), wanted)


def test_like_sets_are_near_and_others_far() -> None:
    near, far = found(dots(400), dots(400, seed=1)), found(dots(400), dots(400, shift=120, seed=1))
    assert near is not None
    assert far is not None
    assert near.fid < 0.02
    assert far.fid > 0.5
    assert abs(near.kid) < 0.02
    assert far.kid > 0.2
    assert far.images == (400, 400)
    assert not far.few
    assert far.headlines() == {"FID": far.fid, "KID": far.kid}
    assert far.to_json()["network"] == "four pixels"
    assert "Compare with figures of as many images" in far.lines()[0]
    assert "FID" in str(far.sections()[0])


def test_few_images_are_said_to_be_few() -> None:
    few = found(dots(3), dots(9, seed=1))
    assert few is not None
    assert few.few
    assert "make FID larger" in few.lines()[0]
    with pytest.raises(UsageError, match="FID needs 2 images"):
        found(dots(1), dots(9))


def test_without_a_network_there_is_none() -> None:
    assert found(dots(10), dots(10), None) is None
