"""Soft records: on rows that are hard, soft features are the features; otherwise they are expectations, exactly."""

import itertools
from typing import Any

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
    Products,
    RandomFourier,
    Records,
    Tiles,
    Weighted,
)
from pointillist.features.indicator import aggregation
from pointillist.features.soft_records import SoftColumn, SoftRecords
from pointillist.schema import Boolean, Categorical, Integer, Real
from pointillist.schema.levels import Levels

LEVELS = {
    each.name: each
    for each in (
        Levels("colour", Categorical(categories=("r", "g", "b", "w"), missing=False, out_of_domain="error")),
        Levels("label", Boolean()),
        Levels("a", Real(min=1, max=9, bins=6, special=(0.0, 3.0))),  # atoms beyond the range, inside it, and a gap
        Levels("b", Integer(min=0, max=8, missing=False)),
        Levels("c", Real(min=1, max=100, scale="log", bins=5)),
    )
}
NUMBERS = ("a", "b", "c")
COLOUR, LABEL = OneHot("colour", 4), OneHot("label", 3)


def atoms(name: str) -> Tiles:
    """All bins in one tile, every atom in one of its own; no other tiles are wanted of a number with a position."""
    level = LEVELS[name]
    return Tiles(name, (0,) * level.regular + tuple(range(1, 1 + level.size - level.regular)))


FOURIER = RandomFourier.draw(("a", "b", "c"), 8, 0.3, seed=1)
leaves = st.sampled_from(
    [
        COLOUR,
        Tiles("colour", (0, 0, 1, 1)),
        atoms("a"),
        FOURIER,
        RandomFourier.draw(("b",), 6, 0.5, seed=2),
        RandomFourier.draw(("c", "a"), 4, 0.2, seed=3),
        Hermite("a", 4, 0.3),
        Hermite("b", 0, 0.2),
        Hermite.spread("c", 7, 0.1),
    ]
)
PRODUCTS = (
    Product((Hermite("a", 2, 0.5), Hermite("b", 3, 0.7, 2.0), COLOUR)),
    Product((COLOUR, Hermite.spread("c", 5, 0.2))),
    Product((COLOUR, RandomFourier.draw(("a", "c"), 4, 0.5, seed=4), Hermite("b", 2, 0.2))),
    Product((atoms("a"), COLOUR)),
    Product((Hermite("a", 3, 0.1),)),
)


def maps() -> st.SearchStrategy[FeatureMap]:
    """Sums, weights, classes and products of a few leaves."""
    simple = st.one_of(leaves, st.sampled_from(PRODUCTS))
    weighted = st.one_of(simple, st.builds(Weighted, simple, st.floats(0, 1)))
    sums = st.lists(weighted, min_size=1, max_size=3).map(lambda parts: Concat(tuple(parts)))
    return st.one_of(simple, sums, sums.map(lambda each: Labelled.of(each, LABEL)))


def mean_features(feature_map: FeatureMap, soft: SoftRecords) -> torch.Tensor:
    return soft.weigh(feature_map.soft(soft)).sum(dim=0)


def tensor(values: Any) -> torch.Tensor:
    return torch.as_tensor(np.asarray(values), dtype=torch.float32)


def one_hot(codes: Any, size: int) -> torch.Tensor:
    return torch.eye(size)[torch.as_tensor(np.asarray(codes), dtype=torch.int64)]


def places(name: str, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A position in the bin of each code; that of the atom where it is one."""
    low, high = LEVELS[name].spans
    return low[codes] + rng.random(len(codes)) * (high - low)[codes]


def rows(count: int, seed: int) -> tuple[Records, SoftRecords]:
    """The same rows, hard and soft: numbers with a position, beside their atoms where they have some."""
    rng = np.random.default_rng(seed)
    codes = {name: rng.integers(0, level.size, count) for name, level in LEVELS.items()}
    units = {name: places(name, codes[name], rng) for name in NUMBERS}
    columns, chances, positions = {}, {}, {}
    for name, level in LEVELS.items():
        tiles = atoms(name) if level.numeric else OneHot(name, level.size)
        if name == "b":
            columns[name] = SoftColumn(level, None, placed=True)
        else:
            columns[name] = SoftColumn(level, tiles, placed=level.numeric)
            chances[name] = one_hot(tiles.table[codes[name]], tiles.dimension)
        if level.numeric:
            # An atom's position is not its row's to say.
            own = np.where(codes[name] < level.regular, units[name], rng.random(count))
            positions[name] = tensor(own)
    hard = Records(count, {name: values.astype(np.uint16) for name, values in codes.items()}, units)
    return hard, SoftRecords(count, columns, chances, positions)


@given(feature_map=maps(), count=st.integers(1, 12), seed=st.integers(0, 99))
def test_hard_rows_have_the_features_that_the_map_gives_them(feature_map: FeatureMap, count: int, seed: int) -> None:
    hard, soft = rows(count, seed)
    expected = feature_map(hard)
    assert feature_map.soft(soft).numpy() == pytest.approx(expected, abs=1e-5)
    assert mean_features(feature_map, soft).numpy() == pytest.approx(expected.mean(axis=0), abs=1e-5)


def tilings(level: Levels) -> st.SearchStrategy[Tiles]:
    """Tiles of any shape, but fine enough for every map above: levels by themselves, or bins joined in runs."""
    runs = [tuple(range(level.size))]
    if level.numeric:
        joined = [number // 2 for number in range(level.regular)]
        runs.append((*joined, *range(joined[-1] + 1, joined[-1] + 1 + level.size - level.regular)))
    return st.sampled_from([Tiles(level.name, run) for run in runs])


@given(
    feature_map=maps(),
    chosen=st.tuples(*(tilings(level) for level in LEVELS.values())),
    count=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_columns_given_by_tiles_alone_have_expected_features(
    feature_map: FeatureMap, chosen: tuple[Tiles, ...], count: int, seed: int
) -> None:
    """What a mixture rests on: the closed form of `expectation`, for components with weights."""
    rng = np.random.default_rng(seed)
    shares, chances, columns = {}, {}, {}
    for tiles in chosen:
        level = LEVELS[tiles.column]
        chance = rng.dirichlet(np.ones(tiles.dimension), count)
        inside = aggregation(OneHot(level.name, level.size), tiles).T
        shares[level.name] = chance @ (inside / inside.sum(axis=1, keepdims=True))  # levels of a tile alike
        chances[level.name], columns[level.name] = tensor(chance), SoftColumn(level, tiles, placed=False)
    spans = {name: LEVELS[name].spans for name in NUMBERS}
    expected = feature_map.expectation(Products(shares, spans))
    weights = rng.dirichlet(np.ones(count))
    soft = SoftRecords(count, columns, chances, {}, tensor(weights))
    assert feature_map.soft(soft).numpy() == pytest.approx(expected, abs=1e-5)
    assert mean_features(feature_map, soft).numpy() == pytest.approx(weights @ expected, abs=1e-5)
    plain = SoftRecords(count, columns, chances, {})
    assert mean_features(feature_map, plain).numpy() == pytest.approx(expected.mean(axis=0), abs=1e-5)


@given(
    feature_map=st.sampled_from([FOURIER, Hermite("a", 5, 0.2), Product((Hermite("a", 3, 0.3), Hermite("c", 2, 0.5)))]),
    seed=st.integers(0, 99),
)
def test_a_number_with_atoms_is_the_mixture_of_its_place_and_its_atoms(feature_map: FeatureMap, seed: int) -> None:
    """Every combination of what the columns may be, by its probability."""
    rng = np.random.default_rng(seed)
    own = dict.fromkeys(NUMBERS, 0.0) | {name: float(rng.random()) for name in NUMBERS}
    chances = {name: rng.dirichlet(np.ones(atoms(name).dimension)) for name in ("a", "c")}
    expected = np.zeros(feature_map.dimension)
    for first, second in itertools.product(*(range(len(chances[name])) for name in ("a", "c"))):
        units = {"b": np.array([own["b"]])}
        for name, tile in (("a", first), ("c", second)):
            level = LEVELS[name]
            units[name] = np.array([own[name] if tile == 0 else level.spans[0][level.regular + tile - 1]])
        expected += chances["a"][first] * chances["c"][second] * feature_map(Records(1, {}, units))[0]
    soft = SoftRecords(
        1,
        {name: SoftColumn(LEVELS[name], None if name == "b" else atoms(name), placed=True) for name in NUMBERS},
        {name: tensor(chance[None, :]) for name, chance in chances.items()},
        {name: tensor([place]) for name, place in own.items()},
    )
    assert feature_map.soft(soft)[0].numpy() == pytest.approx(expected, abs=1e-5)


@given(feature_map=maps(), count=st.integers(1, 9), seed=st.integers(0, 99))
def test_records_count_by_their_weights(feature_map: FeatureMap, count: int, seed: int) -> None:
    hard, soft = rows(count, seed)
    weights = np.random.default_rng(seed).dirichlet(np.ones(count))
    heavy = SoftRecords(count, soft.columns, soft.probabilities, soft.places, tensor(weights))
    assert mean_features(feature_map, heavy).numpy() == pytest.approx(weights @ feature_map(hard), abs=1e-5)


def test_soft_levels_give_expected_features() -> None:
    """Columns are independent given the row, so products of probabilities are probabilities of products."""
    chances, labels = tensor([[0.1, 0.2, 0.3, 0.4]]), tensor([[0.5, 0.25, 0.25]])
    columns = {leaf.column: SoftColumn(LEVELS[leaf.column], leaf, placed=False) for leaf in (COLOUR, LABEL)}
    soft = SoftRecords(1, columns, {"colour": chances, "label": labels}, {})
    found = mean_features(Labelled.of(COLOUR, LABEL), soft)
    assert found.numpy() == pytest.approx(torch.outer(labels[0], chances[0]).flatten().numpy())


WHOLE = Concat((COLOUR, FOURIER, Hermite.spread("a", 3, 0.5), Labelled.of(Hermite("b", 2, 0.4), LABEL)))


def test_gradients_reach_levels_positions_and_weights() -> None:
    """Against differences of the features themselves."""
    _, soft = rows(4, 0)
    chances = torch.full((4, 4), 0.25, requires_grad=True)
    mixed = torch.full((4, atoms("a").dimension), 1 / atoms("a").dimension, requires_grad=True)
    place = torch.full((4,), 0.3, requires_grad=True)
    weights = torch.full((4,), 0.25, requires_grad=True)

    def loss(place: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        moved = SoftRecords(
            4,
            soft.columns,
            {**soft.probabilities, "colour": chances, "a": mixed},
            {**soft.places, "a": place},
            weights,
        )
        return (mean_features(WHOLE, moved) ** 2).sum()

    loss(place, weights).backward()  # type: ignore[no-untyped-call]
    for each in (chances, mixed, place, weights):
        assert each.grad is not None
        assert torch.isfinite(each.grad).all()
        assert each.grad.abs().min() > 0
    for each, others in ((place, lambda moved: (moved, weights)), (weights, lambda moved: (place, moved))):
        step = torch.zeros(4)
        step[1] = 0.01
        with torch.no_grad():
            slope = (loss(*others(each + step)) - loss(*others(each - step))) / 0.02
        assert each.grad is not None
        assert float(slope) == pytest.approx(float(each.grad[1]), rel=0.02, abs=1e-4)


def test_a_map_without_a_soft_form_is_named() -> None:
    class Strange(FeatureMap):
        dimension, bound, nonnegative, parts = 1, 1.0, True, ()

        def __call__(self, records: Records) -> np.ndarray:
            return np.ones((records.rows, 1))

        def expectation(self, products: Products) -> np.ndarray:
            return np.ones((products.count, 1))

        def describe(self) -> dict[str, Any]:
            return {}

    _, soft = rows(2, 0)
    with pytest.raises(TypeError, match="Strange has no soft form"):
        Strange().soft(soft)
