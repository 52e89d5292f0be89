"""Soft records: on rows that are hard, soft features are the features."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pointillist.features import (
    Concat,
    FeatureMap,
    Hermite,
    Labelled,
    OneHot,
    Product,
    RandomFourier,
    Records,
    Tiles,
    Weighted,
)
from pointillist.generators.soft import SoftRecords, mean_features, soft_features

COLOUR, LABEL = OneHot("colour", 4), OneHot("label", 3)
leaves = st.sampled_from(
    [COLOUR, Tiles("colour", (0, 0, 1, 1)), RandomFourier.draw(("a", "b"), 6, 0.5, seed=1), Hermite("a", 4, 0.3)]
)


def maps() -> st.SearchStrategy[FeatureMap]:
    """Sums, weights, classes and products of a few leaves."""
    simple = st.one_of(leaves, st.builds(Weighted, leaves, st.floats(0, 1)))
    sums = st.lists(simple, min_size=1, max_size=3).map(lambda parts: Concat(tuple(parts)))
    products = st.just(Product((Hermite("a", 2, 0.5), Hermite("b", 3, 0.7), COLOUR)))
    return st.one_of(sums, sums.map(lambda each: Labelled.of(each, LABEL)), products)


def rows(count: int, seed: int) -> tuple[Records, SoftRecords]:
    """The same rows, hard and soft."""
    rng = np.random.default_rng(seed)
    codes = {"colour": rng.integers(0, 4, count), "label": rng.integers(0, 3, count)}
    units = {"a": rng.random(count), "b": rng.random(count)}
    hard = Records(count, {name: values.astype(np.uint16) for name, values in codes.items()}, units)
    soft = SoftRecords(
        count,
        {"colour": COLOUR, "label": LABEL},
        {name: torch.eye(4 if name == "colour" else 3)[torch.as_tensor(values)] for name, values in codes.items()},
        {name: torch.as_tensor(values, dtype=torch.float32) for name, values in units.items()},
    )
    return hard, soft


@given(feature_map=maps(), count=st.integers(1, 12), seed=st.integers(0, 99))
def test_hard_rows_have_the_features_that_the_map_gives_them(feature_map: FeatureMap, count: int, seed: int) -> None:
    hard, soft = rows(count, seed)
    expected = feature_map(hard)
    assert soft_features(feature_map, soft).numpy() == pytest.approx(expected, abs=1e-5)
    assert mean_features(feature_map, soft).numpy() == pytest.approx(expected.mean(axis=0), abs=1e-5)


def test_soft_levels_give_expected_features() -> None:
    """Columns are independent given the row, so products of probabilities are probabilities of products."""
    chances = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    labels = torch.tensor([[0.5, 0.25, 0.25]])
    soft = SoftRecords(1, {"colour": COLOUR, "label": LABEL}, {"colour": chances, "label": labels}, {})
    found = mean_features(Labelled.of(COLOUR, LABEL), soft)
    assert found.numpy() == pytest.approx(torch.outer(labels[0], chances[0]).flatten().numpy())


def test_gradients_reach_levels_and_positions() -> None:
    _, soft = rows(5, 0)
    chances = torch.full((5, 4), 0.25, requires_grad=True)
    place = torch.full((5,), 0.3, requires_grad=True)
    moved = SoftRecords(5, soft.tiles, {**soft.probabilities, "colour": chances}, {**soft.units, "a": place})
    whole = Concat((COLOUR, RandomFourier.draw(("a", "b"), 6, 0.5, seed=1), Hermite("a", 3, 0.5)))
    mean_features(whole, moved).sum().backward()
    assert chances.grad is not None
    assert place.grad is not None
    assert place.grad.abs().min() > 0
