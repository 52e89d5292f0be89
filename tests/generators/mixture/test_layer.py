"""Layers: tables over tiles as matrices, and what they say of probabilities."""

import numpy as np
import pytest

from pointillist.features import OneHot, Tiles
from pointillist.generators.mixture import layer as layer_module
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


@pytest.mark.parametrize("few", [False, True])
def test_pressure_is_on_tables_that_are_off(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One component of independent columns: the table that is one presses no harder, the other one does, and less again
    once it fits."""
    monkeypatch.setattr(layer_module, "_FEW", 2.0 if few else 0.0)
    base: dict[str, Tiles] = {**BASE, "c": OneHot("c", 3)}
    places = {**PLACES, "c": slice(7, 10)}
    down, across = np.full(4, 1 / 4), np.full(3, 1 / 3)
    tied = np.diag(across)
    layer = Layer(None)
    layer.put(A, B, np.outer(down, across)[None], 1e4)
    layer.put(B, base["c"], tied[None], 1e4)
    layer.finish(base, places, 10)
    assert (layer.few is not None) == few
    weights, table = np.ones(1, np.float32), np.concatenate([down, across, across]).astype(np.float32)[None]

    def pushes(of: slice) -> float:
        return float(np.abs(layer.push(table, weights, layer.wanted[0])[1][:, of]).sum())

    before, alone = pushes(slice(4, 10)), layer.push(table, weights, layer.wanted[0])[0]
    for _ in range(4):
        layer.press(weights, table)
    assert layer.pressure[1, 2] == layer.pressure[2, 1] == pytest.approx(4.0)
    assert layer.pressure[0, 1] == 1.0
    assert pushes(slice(4, 10)) == pytest.approx(4 * before, rel=1e-4)
    assert layer.push(table, weights, layer.wanted[0])[0] == pytest.approx(alone, rel=1e-4)  # chi^2 is what it was
    fitting = np.concatenate([np.tile(down, (3, 1)), np.eye(3), np.eye(3)], axis=1).astype(np.float32)
    layer.press(np.full(3, 1 / 3, np.float32), fitting)
    assert layer.pressure[1, 2] == pytest.approx(4.0 / np.sqrt(2))


def test_tables_by_class_add_up_for_a_column() -> None:
    label = OneHot("y", 2)
    layer = Layer(label)
    layer.put(A, B, np.stack([0.3 * joint(1), 0.7 * joint(2)]), 100.0)
    layer.finish({**BASE, "y": label}, {**PLACES, "y": slice(7, 9)}, 9)
    (found, precision), *_ = layer.one_ways("a")
    np.testing.assert_allclose(found, (0.3 * joint(1) + 0.7 * joint(2)).sum(axis=1), rtol=1e-5)
    assert precision == pytest.approx(100.0 / 6)
