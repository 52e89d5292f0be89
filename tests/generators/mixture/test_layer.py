"""Layers: tables over tiles as matrices, and what they say of probabilities."""

import numpy as np
import pytest

from pointillist.features import OneHot, Tiles
from pointillist.generators.mixture.layer import Histogram, Histograms, Layer

A, B = OneHot("a", 4), OneHot("b", 3)
COARSE = Tiles("a", (0, 0, 1, 1))
BASE: dict[str, Tiles] = {"a": A, "b": B}
PLACES = {"a": slice(0, 4), "b": slice(4, 7)}


def joint(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(12)).reshape(4, 3)


def test_a_layer_takes_tables_over_its_own_tiles() -> None:
    layer = Layer(None)
    layer.put(A, B, joint()[None], 1.0)
    assert not layer.takes(None, A, B)  # it has this one
    assert layer.takes(None, A, OneHot("c", 2))
    assert not layer.takes(None, COARSE, OneHot("c", 2))
    assert not layer.takes(B, A, OneHot("c", 2))


def test_coarser_tiles_are_sums_of_base_tiles() -> None:
    truth = joint()
    layer = Layer(None)
    layer.put(COARSE, B, np.stack([truth[:2].sum(0), truth[2:].sum(0)])[None], 100.0)
    layer.finish(BASE, PLACES, 7)
    assert not layer.same
    table = np.concatenate([truth.sum(1), truth.sum(0)]).astype(np.float32)[None]
    np.testing.assert_allclose(layer.join(table)[0, :2], [truth[:2].sum(), truth[2:].sum()], rtol=1e-6)
    to_weights, to_table = np.zeros(1, np.float32), np.zeros((1, 7), np.float32)
    chi_squared = layer.add_slopes(np.ones(1, np.float32), table, to_weights, to_table)
    assert chi_squared == pytest.approx(layer.distance(table[0]), rel=1e-4)
    assert to_table[0, 0] == to_table[0, 1] != 0
    assert layer.distance(np.concatenate([truth.sum(1), truth.sum(0)])) > 0


def test_components_that_make_the_table_have_no_chi_squared() -> None:
    """One component for each row of the table is the table itself."""
    truth = joint()
    layer = Layer(None)
    layer.put(A, B, truth[None], 100.0)
    layer.finish(BASE, PLACES, 7)
    share = truth.sum(1).astype(np.float32)
    table = np.concatenate([np.eye(4), truth / truth.sum(1, keepdims=True)], axis=1).astype(np.float32)
    distance, pushed = layer.push(layer.join(table), share, layer.wanted[0])
    assert abs(distance) < 1e-6
    np.testing.assert_allclose(pushed, 0, atol=1e-3)
    (found, _), *_ = layer.one_ways("a")
    np.testing.assert_allclose(found, truth.sum(1), rtol=1e-5)


def test_histograms_read_unions_of_tiles() -> None:
    histogram = Histogram(COARSE, BASE, PLACES, np.array([0.7, 0.3]), 50.0)
    np.testing.assert_allclose(histogram.precision, 50.0)
    mean = np.array([0.5, 0.2, 0.2, 0.1, 0.3, 0.3, 0.4], dtype=np.float32)
    chi_squared, push = Histograms([histogram]).push(mean)
    assert chi_squared == pytest.approx(0, abs=1e-9)
    np.testing.assert_allclose(push, 0, atol=1e-4)
    mean[0] += 0.1
    chi_squared, push = Histograms([histogram]).push(mean)
    assert chi_squared == pytest.approx(50 * 0.1**2, rel=1e-4)
    np.testing.assert_allclose(push, [5, 5, 0, 0, 0, 0, 0], atol=1e-4)


def test_without_histograms_nothing_is_pushed() -> None:
    chi_squared, push = Histograms([]).push(np.ones(3, np.float32))
    assert (chi_squared, push.tolist()) == (0.0, [0.0, 0.0, 0.0])
