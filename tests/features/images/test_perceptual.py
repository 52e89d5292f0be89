"""Perceptual features: of length 1, of one record alone, and moved by a neighbour no farther than stated."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pointillist.curator.embedding import Embedding
from pointillist.curator.releasing import embed
from pointillist.errors import ArtefactError, UsageError
from pointillist.features import Extractor, Labelled, OneHot, Perceptual, Records
from pointillist.features.images.extractor import Frozen, Input
from pointillist.features.images.public_network import small_network
from pointillist.features.serial import from_nodes, to_nodes
from pointillist.privacy.grid import Grid
from pointillist.privacy.guarantee import Neighbours
from pointillist.privacy.sensitivity import squared_sensitivity
from pointillist.reading import batches
from pointillist.reading.image_arrays import images
from pointillist.schema import Categorical, Image, Schema

Pixels = NDArray[np.uint8]
SIDE = 12
WIDTHS = ((4,), (6,))


def extractor(channels: int = 1) -> Extractor:
    torch.manual_seed(5)
    taken = Input(SIDE, SIDE, channels, (0.5,) * channels, (0.25,) * channels)
    return Extractor.small("tiny", taken, WIDTHS, small_network(channels, WIDTHS))


def plain(mean: float = 0.0) -> Extractor:
    """One convolution that gives back the image itself, minus its mean."""
    module = torch.nn.Conv2d(1, 1, 3, padding=1, bias=False)
    with torch.no_grad():
        module.weight.zero_()
        module.weight[0, 0, 1, 1] = 1.0
    return Extractor.of(torch.nn.Sequential(module), "plain", Input(SIDE, SIDE, 1, (mean,), (1.0,)))


def drawn(count: int, seed: int = 0, channels: int = 1) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (count, SIDE, SIDE, channels)).astype(np.uint8)


def records(pixels: Pixels, labels: list[int] | None = None) -> Records:
    codes = {} if labels is None else {"label": np.array(labels, dtype=np.uint16)}
    return Records(len(pixels), codes, {}, {"image": pixels})


def points(*places: int) -> Pixels:
    """Black images with one white pixel each."""
    found = np.zeros((len(places), SIDE * SIDE, 1), dtype=np.uint8)
    found[np.arange(len(places)), places] = 255
    return found.reshape(len(places), SIDE, SIDE, 1)


BLACK_AND_WHITE = np.stack([np.full((SIDE, SIDE, 1), value, dtype=np.uint8) for value in (0, 255)])
OPTIONS = st.fixed_dictionaries(
    {
        "pool": st.sampled_from([None, 1, 5]),
        "moments": st.sampled_from([1, 2]),
        "second_share": st.sampled_from([0.1, 0.5, 1.0]),
        "rectified": st.booleans(),
        "equal_layers": st.booleans(),
    }
)


@given(OPTIONS, st.integers(0, 1000), st.sampled_from([1, 3]))
def test_bound_sign_and_size(options: dict[str, object], seed: int, channels: int) -> None:
    feature_map = Perceptual.of("image", extractor(channels), **options)  # type: ignore[arg-type]
    pixels = drawn(4, seed, channels)
    pixels[0] = 0
    pixels[1] = 255
    features = feature_map(records(pixels))
    assert features.shape == (4, feature_map.dimension)
    assert np.linalg.norm(features, axis=1).max() <= feature_map.bound
    if feature_map.nonnegative:
        assert features.min() >= 0
    twin = feature_map.soft_images(torch.as_tensor(pixels).permute(0, 3, 1, 2).float() / 255)
    np.testing.assert_allclose(twin.numpy(), features, atol=1e-4)


def test_moments_have_their_shares() -> None:
    feature_map = Perceptual.of("image", extractor(), second_share=0.3, rectified=False)
    features = feature_map(records(drawn(5)))
    first, second = np.split(features, 2, axis=1)
    np.testing.assert_allclose((first**2).sum(axis=1), 0.7, rtol=1e-9)
    np.testing.assert_allclose((second**2).sum(axis=1), 0.3, rtol=1e-9)
    alike = first**2 / np.linalg.norm(first**2, axis=1, keepdims=True) * math.sqrt(0.3)
    np.testing.assert_allclose(second, alike, rtol=1e-6, atol=1e-9)


def test_averages() -> None:
    whole = Perceptual.of("image", plain(), moments=2)(records(drawn(3)))
    kept = Perceptual.of("image", plain(), moments=2, pool=6)(records(drawn(3)))
    assert kept.shape[1] == whole.shape[1] // 4
    for mine, theirs in zip(np.split(whole, 2, axis=1), np.split(kept, 2, axis=1), strict=True):
        means = mine.reshape(3, 6, 2, 6, 2).mean(axis=(2, 4)).reshape(3, -1)
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        np.testing.assert_allclose(theirs * math.sqrt(2), means, rtol=1e-6)


def test_gradients_reach_the_pixels() -> None:
    images = torch.rand(4, 1, SIDE, SIDE, requires_grad=True)
    feature_map = Perceptual.of("image", extractor(), pool=3)
    feature_map.soft_images(images).square()[:, : feature_map.activations].cumsum(dim=1).sum().backward()
    assert images.grad is not None
    assert torch.isfinite(images.grad).all()
    assert (images.grad.flatten(1).abs().sum(dim=1) > 0).all()


def test_an_image_without_activations_has_no_features_and_no_bad_gradient() -> None:
    feature_map = Perceptual.of("image", plain())
    assert np.abs(feature_map(records(np.zeros((2, SIDE, SIDE, 1), dtype=np.uint8)))).max() == 0
    images = torch.zeros(2, 1, SIDE, SIDE, requires_grad=True)
    feature_map.soft_images(images).sum().backward()
    assert images.grad is not None
    assert torch.isfinite(images.grad).all()


def test_neither_other_images_nor_place_nor_number_matters() -> None:
    feature_map = Perceptual.of("image", extractor())
    pixels = drawn(11)
    first = feature_map(records(pixels))
    for place in (0, 3, 10):
        changed = drawn(11, seed=99)
        changed[place] = pixels[place]
        assert np.array_equal(feature_map(records(changed))[place], first[place])
    assert np.array_equal(feature_map(records(pixels[2:])), first[2:])
    assert np.array_equal(feature_map(records(pixels[::-1])), first[::-1])


def test_the_network_sees_one_image_at_a_time_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    feature_map = Perceptual.of("image", extractor())
    seen = []
    run = Frozen.__call__

    def watched(self: Frozen, images: torch.Tensor) -> list[torch.Tensor]:
        seen.append((tuple(images.shape), torch.get_num_threads()))
        return run(self, images)

    monkeypatch.setattr(Frozen, "__call__", watched)
    feature_map(records(drawn(3)))
    assert seen == [((1, 1, SIDE, SIDE), 1)] * 3


def test_threads_change_nothing() -> None:
    feature_map = Perceptual.of("image", extractor())
    pixels = drawn(40)
    first = feature_map(records(pixels))
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda start: feature_map(records(pixels[start : start + 8])), range(0, 40, 8)))
    assert np.array_equal(np.concatenate(parts), first)


def test_a_pass_of_eight_workers_and_batches_of_one_gives_the_same_integers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every worker comes and goes for each image while the others are at work, with torch on several threads outside."""
    schema = Schema(
        name="letters",
        columns={
            "image": Image(height=SIDE, width=SIDE),
            "label": Categorical(categories=(0, 1), missing=False, out_of_domain="error"),
        },
    )
    feature_map = Labelled.of(Perceptual.of("image", extractor()), OneHot("label", 2))
    grid = Grid.dense(feature_map.dimension)
    source = images(drawn(60)[..., 0], np.arange(60) % 2)
    first, rows = embed(source, schema, feature_map, grid, threads=1)
    monkeypatch.setattr(batches, "BATCH_IMAGES", 1)
    threads = torch.get_num_threads()
    torch.set_num_threads(4)
    try:
        for _ in range(3):
            again, found = embed(source, schema, feature_map, grid, threads=8)
            assert found == rows == 60
            assert np.array_equal(again, first)
    finally:
        torch.set_num_threads(threads)


def sums(feature_map: Labelled, pixels: Pixels, labels: list[int], grid: Grid) -> NDArray[np.int64]:
    found = Embedding(feature_map, grid)
    found.add(records(pixels, labels))
    return found.sums()


@given(OPTIONS, st.integers(0, 100), st.integers(0, 3), st.integers(0, 1), st.integers(0, 1))
def test_no_replacement_moves_the_sum_farther_than_stated(
    options: dict[str, object], seed: int, place: int, before: int, after: int
) -> None:
    feature_map = Labelled.of(Perceptual.of("image", extractor(), **options), OneHot("label", 2))  # type: ignore[arg-type]
    grid = Grid.dense(feature_map.dimension)
    pixels, labels = drawn(4, seed), [0, 1, 0, 1]
    labels[place] = before
    first = sums(feature_map, pixels, labels, grid)
    pixels[place], labels[place] = drawn(1, seed + 1000)[0], after
    moved = first - sums(feature_map, pixels, labels, grid)
    limit = squared_sensitivity(grid.squared_norm, Neighbours.REPLACE_ONE, None, nonnegative=feature_map.nonnegative)
    assert int(moved @ moved) <= limit


@pytest.mark.parametrize(
    ("feature_map", "pixels", "squared"),
    [
        # first moments that point opposite ways: 2
        (Perceptual.of("image", plain(0.5), moments=1, rectified=False), BLACK_AND_WHITE, 4),
        # images with nothing in common, rectified: sqrt 2
        (Perceptual.of("image", plain(), moments=2), points(3, 40), 2),
        (Perceptual.of("image", plain(), moments=2, second_share=1.0, rectified=False), points(3, 40), 2),
    ],
)  # fmt: skip
def test_the_stated_sensitivity_is_attained(feature_map: Perceptual, pixels: Pixels, squared: int) -> None:
    first, second = feature_map(records(pixels))
    factor = squared_sensitivity(1, Neighbours.REPLACE_ONE, None, nonnegative=feature_map.nonnegative)
    assert factor == squared
    assert ((first - second) ** 2).sum() == pytest.approx(squared, rel=1e-9)


def test_a_change_of_class_moves_the_sum_by_sqrt_two() -> None:
    feature_map = Labelled.of(Perceptual.of("image", plain()), OneHot("label", 2))
    grid = Grid.dense(feature_map.dimension)
    moved = sums(feature_map, points(3), [0], grid) - sums(feature_map, points(3), [1], grid)
    # A bound of 1, for the one vector that a class's block loses, would miss the block that gains it.
    assert float(moved @ moved) / grid.squared_norm == pytest.approx(2, rel=1e-4)


def test_the_published_sensitivity_of_two_moments_is_too_small() -> None:
    """It gives the mean of first moments the sensitivity 2/m, that of second moments 1/m, and noise to match.

    Its loss is then thought to be (2/2)^2 + (1/1)^2 = 2 in units of 1/sigma^2. Two images with nothing in common move
    second moments by sqrt 2, not by 1.
    """
    firsts = Perceptual.of("image", plain(), moments=1)(records(points(3, 40)))
    seconds = Perceptual.of("image", plain(), moments=2, second_share=1.0)(records(points(3, 40)))
    moved_first, moved_second = (math.dist(*features) for features in (firsts, seconds))
    assert moved_second == pytest.approx(math.sqrt(2))
    assert moved_second > 1
    assert (moved_first / 2) ** 2 + (moved_second / 1) ** 2 == pytest.approx(2.5)


def test_round_trip_with_weights_inside() -> None:
    feature_map = Labelled.of(Perceptual.of("image", extractor(), pool=4), OneHot("label", 2))
    nodes, arrays = to_nodes(feature_map)
    back = from_nodes(nodes, arrays)
    assert isinstance(back, Labelled)
    batch = records(drawn(4), [0, 1, 1, 0])
    assert np.array_equal(back(batch), feature_map(batch))
    assert nodes[1]["extractor"][0]["sha256"] == extractor().sha256
    first = next(name for name in arrays if arrays[name].dtype == np.float32)
    with pytest.raises(ArtefactError, match="does not match its hash"):
        from_nodes(nodes, {**arrays, first: arrays[first] * 2})


def test_round_trip_of_a_network_that_must_be_passed() -> None:
    feature_map = Perceptual.of("image", plain())
    nodes, arrays = to_nodes(feature_map)
    assert arrays == {}
    back = from_nodes(nodes, arrays)
    assert isinstance(back, Perceptual)
    assert back.dimension == feature_map.dimension
    with pytest.raises(UsageError, match="owner's own network"):
        back(records(points(1)))
    again = back.with_extractor(plain())
    assert np.array_equal(again(records(points(1))), feature_map(records(points(1))))
    with pytest.raises(UsageError, match="is another"):
        back.with_extractor(plain(0.5))


@pytest.mark.parametrize("options", [{"moments": 3}, {"second_share": 0.0}])
def test_settings_out_of_range(options: dict[str, float]) -> None:
    with pytest.raises(ValueError):
        Perceptual.of("image", plain(), **options)
    with pytest.raises(UsageError, match="pool must be at least 1"):
        Perceptual.of("image", plain(), pool=0)
