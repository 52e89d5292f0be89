"""Choosing: discriminants from noisy sums, weights by tilting."""

import numpy as np
import pytest

from pointillist.generators.gallery.choosing import GallerySums, best, reach, tilted


def clouds(rng: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Three classes of unit vectors in five dimensions."""
    codes = np.arange(number) % 3
    points = rng.standard_normal((number, 5)) + 2 * np.eye(5)[codes]
    return points / np.linalg.norm(points, axis=1, keepdims=True), codes


def sums_of(points: np.ndarray, codes: np.ndarray, edge: float = 0.0) -> GallerySums:  # type: ignore[type-arg]
    counts = np.bincount(codes).astype(float)
    means = np.stack([points[codes == each].mean(axis=0) for each in range(3)])
    return GallerySums(float(len(points)), counts, means, np.zeros(3), points.T @ points / len(points), edge)


def test_discriminants_tell_classes_apart() -> None:
    rng = np.random.default_rng(0)
    sums = sums_of(*clouds(rng, 3000))
    points, codes = clouds(rng, 600)
    scores = sums.scores(points)
    assert np.allclose(np.exp(scores).sum(axis=1), 1)
    assert (scores.argmax(axis=1) == codes).mean() > 0.75
    members = best(scores, 50)
    assert members.shape == (3, 50)
    assert all((codes[own] == number).mean() > 0.95 for number, own in enumerate(members))
    weights = np.full(members.shape, 1 / 50)
    assert (reach(points, members, weights, sums) > 1).all()
    opposite = best(-scores, 50)
    assert (reach(points, opposite, weights, sums) < 0).all()
    assert reach(points, members[:1], weights[:1], sums).tolist() == [1.0]


def test_eigenvalues_are_raised_to_the_edge_of_the_noise() -> None:
    sums = sums_of(*clouds(np.random.default_rng(1), 900), edge=0.15)
    values = np.linalg.eigvalsh(sums.within())
    assert values.min() == pytest.approx(0.15)
    assert values.max() > 0.15


def test_classes_without_images_have_no_share() -> None:
    sums = GallerySums(10.0, np.array([12.0, -2.0]), np.zeros((2, 3)), np.zeros(2), np.eye(3) / 3, 0.01)
    assert sums.shares.tolist() == [1.0, 0.0]
    empty = GallerySums(1.0, np.array([-1.0, -2.0]), np.zeros((2, 3)), np.zeros(2), np.eye(3) / 3, 0.01)
    assert empty.shares.tolist() == [0.5, 0.5]


def test_tilted_weights_have_the_mean() -> None:
    points, codes = clouds(np.random.default_rng(2), 900)
    wanted = points[codes != 0].mean(axis=0)
    weights = tilted(points, wanted, 0.001)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() > 0
    assert np.linalg.norm(weights @ points - wanted) <= 0.003
    assert weights[codes == 0].sum() < 0.2


def test_much_noise_leaves_weights_even() -> None:
    points, _ = clouds(np.random.default_rng(3), 300)
    weights = tilted(points, np.array([0.9, 0, 0, 0, 0]), 10.0)
    assert weights.max() < 2 * weights.min()
